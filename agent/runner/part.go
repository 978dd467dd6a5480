package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"offcut/agent"
	"offcut/models"
)

// part is one reply while it streams in. What a piece costs does not grow with
// the reply: text is appended, told in small packets to the watchers of what is
// shown, and rendered once, block by block. Each packet is written down before it
// is told, so that what was shown is there after a crash; and the reply is stored
// whole, at least every second in which it grew.
//
// The journal's lock guards the fields below it.
type part struct {
	j       *journal
	shown   *shown
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
}

func newPart(j *journal, s *shown, m models.Message) *part {
	return &part{
		j: j, shown: s, message: m, quit: make(chan struct{}), done: make(chan struct{}), savedAt: time.Now(),
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
}

// tell writes down and publishes what has come since the last time. Called with the lock held.
func (p *part) tell() {
	reasoning, text := p.reasoning.String()[p.toldReasoning:], p.content.String()[p.told:]
	if reasoning == "" && text == "" {
		return
	}
	p.j.r.cfg.Replies.Add(p.message.ID, text, reasoning)
	p.toldReasoning, p.told = p.toldReasoning+len(reasoning), p.told+len(text)
	if reasoning != "" {
		p.shown.think(reasoning)
	}
	if text != "" {
		p.shown.say(text)
	}
	p.toldAt = time.Now()
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

// stored lets go of what was written down: the reply is stored as it ended, or
// its session is gone. Where the database failed the next start needs it.
func (p *part) stored(err error) {
	if err == nil || errors.Is(err, models.ErrNotFound) {
		p.j.r.cfg.Replies.Remove(p.message.ID)
	}
}

// save stores the reply as far as it came. A failure ends the turn: what is
// shown would be lost with the server.
func (p *part) save(m models.Message) {
	if err := p.j.r.cfg.Store.SaveMessage(context.Background(), m); err != nil {
		p.j.cancel(p.j.storageError("store the answer", err))
	}
}
