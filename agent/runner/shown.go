package runner

import (
	"slices"
	"strings"
	"unicode/utf8"

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
	sealed    []sealed        // what blocks finished, as far as watchers who come get it
	size      int             // bytes of that
	rest      strings.Builder // what was told after that
	length    int64           // bytes that were told
	reasoning []byte          // what was told, as far as watchers who come get it
	said      bool            // there was text
	pause     string          // comes before the next reasoning
}

// sealed is the HTML of a text's bytes from some place on.
type sealed struct {
	from int64
	html string
}

// What a watcher who comes is given of a part, in bytes: at least the first and
// less than the second. What is older is read from the store.
const (
	leastShown = 64 << 10
	mostShown  = 2 * leastShown
)

func newShown(j *journal, id string) *shown {
	return &shown{j: j, id: id, blocks: j.r.cfg.Blocks()}
}

// goOn readies it for the next reply; see models.Message.Continued.
func (s *shown) goOn() {
	if s.said && len(s.reasoning) > 0 {
		s.pause = models.ThoughtBreak
	}
}

// think tells reasoning.
func (s *shown) think(text string) {
	text, s.pause = s.pause+text, ""
	if s.reasoning = append(s.reasoning, text...); len(s.reasoning) > mostShown {
		s.reasoning = []byte("…" + strings.ToValidUTF8(string(s.reasoning[len(s.reasoning)-leastShown:]), ""))
	}
	s.j.publish(events.Event{Kind: events.KindReasoning, MessageID: s.id, Text: text})
}

// mostSaid is how much text is told and rendered at once, in bytes: what stands in
// a page and is not rendered, and what it can let go of as one block, stays small
// however much comes in a burst.
const mostSaid = 16 << 10

// say tells text, and renders the blocks that it completes.
func (s *shown) say(text string) {
	for len(text) > mostSaid {
		end := mostSaid
		for end > mostSaid-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		s.sayPiece(text[:end])
		text = text[end:]
	}
	s.sayPiece(text)
}

func (s *shown) sayPiece(text string) {
	s.said = true
	s.rest.WriteString(text)
	s.length += int64(len(text))
	s.j.publish(events.Event{Kind: events.KindText, MessageID: s.id, Text: text})
	if html, rest, sealed := s.blocks.Push(text); sealed {
		s.seal(html, rest)
	}
}

func (s *shown) seal(html, rest string) {
	s.sealed = append(s.sealed, sealed{s.upto(), html})
	if s.size += len(html); s.size > mostShown {
		s.shorten()
	}
	s.rest.Reset()
	s.rest.WriteString(rest)
	s.j.publish(events.Event{Kind: events.KindSeal, MessageID: s.id, HTML: html, Text: rest, Bytes: s.upto()})
}

// upto is how much of the text was rendered.
func (s *shown) upto() int64 { return s.length - int64(s.rest.Len()) }

// shorten lets go of what was rendered first.
func (s *shown) shorten() {
	n := 0
	for ; n < len(s.sealed)-1 && s.size-len(s.sealed[n].html) >= leastShown; n++ {
		s.size -= len(s.sealed[n].html)
	}
	s.sealed = slices.Clone(s.sealed[n:])
}

// live is the part for a watcher who comes.
func (s *shown) live(l *Live) {
	var html strings.Builder
	for _, one := range s.sealed {
		html.WriteString(one.html)
	}
	if len(s.sealed) > 0 {
		l.From = s.sealed[0].from
	}
	l.MessageID, l.HTML, l.Upto, l.Rest, l.Reasoning = s.id, html.String(), s.upto(), s.rest.String(), string(s.reasoning)
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
