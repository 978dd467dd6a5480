package runner

import (
	"context"
	"strings"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// part is one reply while it streams in. What a piece costs does not grow with
// the reply: text is appended, told in small packets, and rendered once, block
// by block. It is stored whole, at least every second in which it grew: what
// was shown is there after a crash.
//
// The journal's lock guards the fields below it.
type part struct {
	j       *journal
	message models.Message // as it was begun
	quit    chan struct{}
	done    chan struct{}
	once    sync.Once // of finish

	content       strings.Builder
	reasoning     strings.Builder
	told          int // bytes of the content that were published
	toldReasoning int
	toldAt        time.Time
	saved         int // bytes of both that are stored, or being stored
	savedAt       time.Time

	blocks Blocks
	html   strings.Builder // what blocks finished
	rest   strings.Builder // what was told after that
}

func newPart(j *journal, m models.Message) *part {
	return &part{
		j: j, message: m, quit: make(chan struct{}), done: make(chan struct{}),
		blocks: j.r.cfg.Blocks(), savedAt: time.Now(),
	}
}

// add takes a piece. The first of a burst is told at once, the others with the
// next packet.
func (p *part) add(d agent.Delta) {
	p.j.mu.Lock()
	defer p.j.mu.Unlock()
	p.content.WriteString(d.Text)
	p.reasoning.WriteString(d.Reasoning)
	if time.Since(p.toldAt) >= p.j.r.cfg.Limits.Coalesce {
		p.tell()
	}
}

// run tells and stores what comes, until finish.
func (p *part) run() {
	defer close(p.done)
	tick := time.NewTicker(p.j.r.cfg.Limits.Coalesce)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
		}
		p.j.mu.Lock()
		p.tell()
		due := p.due()
		m := p.snapshot()
		p.j.mu.Unlock()
		if due {
			p.save(m)
		}
	}
}

// finish tells the rest; after it nothing more is told or stored by the part.
// It may be called again, which does nothing.
func (p *part) finish() { p.once.Do(p.end) }

func (p *part) end() {
	close(p.quit)
	<-p.done
	p.j.mu.Lock()
	defer p.j.mu.Unlock()
	p.tell()
	if html := p.blocks.Finish(); html != "" {
		p.seal(html, "")
	}
}

// tell publishes what has come since the last time. Called with the lock held.
func (p *part) tell() {
	if text := p.reasoning.String()[p.toldReasoning:]; text != "" {
		p.toldReasoning += len(text)
		p.j.publish(events.Event{Kind: events.KindReasoning, MessageID: p.message.ID, Text: text})
		p.toldAt = time.Now()
	}
	text := p.content.String()[p.told:]
	if text == "" {
		return
	}
	p.told += len(text)
	p.rest.WriteString(text)
	p.j.publish(events.Event{Kind: events.KindText, MessageID: p.message.ID, Text: text})
	p.toldAt = time.Now()
	if html, rest, sealed := p.blocks.Push(text); sealed {
		p.seal(html, rest)
	}
}

func (p *part) seal(html, rest string) {
	p.html.WriteString(html)
	p.rest.Reset()
	p.rest.WriteString(rest)
	p.j.publish(events.Event{Kind: events.KindSeal, MessageID: p.message.ID, HTML: html, Text: rest})
}

// due reports whether the reply should be stored now, and takes it as stored:
// where it grew and SaveEvery has passed, and sooner where much has come: a
// quarter of its length, and no less than SaveBytes.
func (p *part) due() bool {
	size := p.content.Len() + p.reasoning.Len()
	grown := size - p.saved
	limits := p.j.r.cfg.Limits
	late := time.Since(p.savedAt) >= limits.SaveEvery
	if grown == 0 || (!late && grown < max(limits.SaveBytes, p.saved/4)) {
		return false
	}
	p.saved, p.savedAt = size, time.Now()
	return true
}

// snapshot is the reply as far as it came. Called with the lock held, or after
// finish.
func (p *part) snapshot() models.Message {
	m := p.message
	m.Content, m.Reasoning = p.content.String(), p.reasoning.String()
	return m
}

// save stores the reply as far as it came. A failure ends the turn: what is
// shown would be lost with the server.
func (p *part) save(m models.Message) {
	if err := p.j.r.cfg.Store.SaveMessage(context.Background(), m); err != nil {
		p.j.cancel(p.j.storageError("store the answer", err))
	}
}

// plain renders nothing: the whole reply stays plain text.
type plain struct{}

func (*plain) Push(string) (string, string, bool) { return "", "", false }
func (*plain) Finish() string                     { return "" }
