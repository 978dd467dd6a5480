package runner

import (
	"strings"

	"offcut/agent/events"
	"offcut/models"
)

// shown is one part of an answer as its watchers have it: a reply, and those
// that go on where the output-token limit cut it off. They are one text, told
// under the id of the first and rendered by one Blocks: a word, a code block or
// a table goes on where it was torn.
//
// The journal's lock guards it.
type shown struct {
	j  *journal
	id string // of the first reply

	blocks    Blocks
	html      strings.Builder // what blocks finished
	rest      strings.Builder // what was told after that
	reasoning strings.Builder // what was told
	said      bool            // there was text
	pause     string          // comes before the next reasoning
}

func newShown(j *journal, id string) *shown {
	return &shown{j: j, id: id, blocks: j.r.cfg.Blocks()}
}

// goOn readies it for the next reply; see models.Message.Continued.
func (s *shown) goOn() {
	if s.said && s.reasoning.Len() > 0 {
		s.pause = models.ThoughtBreak
	}
}

// think tells reasoning.
func (s *shown) think(text string) {
	text, s.pause = s.pause+text, ""
	s.reasoning.WriteString(text)
	s.j.publish(events.Event{Kind: events.KindReasoning, MessageID: s.id, Text: text})
}

// say tells text, and renders the blocks that it completes.
func (s *shown) say(text string) {
	s.said = true
	s.rest.WriteString(text)
	s.j.publish(events.Event{Kind: events.KindText, MessageID: s.id, Text: text})
	if html, rest, sealed := s.blocks.Push(text); sealed {
		s.seal(html, rest)
	}
}

func (s *shown) seal(html, rest string) {
	s.html.WriteString(html)
	s.rest.Reset()
	s.rest.WriteString(rest)
	s.j.publish(events.Event{Kind: events.KindSeal, MessageID: s.id, HTML: html, Text: rest})
}

// finish renders what is left and tells the state in which the part ended.
func (s *shown) finish(state models.State) {
	if html := s.blocks.Finish(); html != "" {
		s.seal(html, "")
	}
	s.j.publish(events.Event{Kind: events.KindMessage, MessageID: s.id, State: state})
}

// plain renders nothing: the whole reply stays plain text.
type plain struct{}

func (*plain) Push(string) (string, string, bool) { return "", "", false }
func (*plain) Finish() string                     { return "" }
