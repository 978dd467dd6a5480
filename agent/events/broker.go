package events

import (
	"sync"
	"time"
)

// What the broker remembers of one session, for watchers that come back after
// a lost connection: 2,000 events or 4 MiB, whichever is less. One answer of
// some minutes fits; who missed more reads the page again.
const (
	MaxEvents = 2000
	MaxBytes  = 4 << 20
)

// DefaultIdle is how long a session's events are remembered after the last of
// them. It outlasts a reload, a tunnel and a laptop's short sleep.
const DefaultIdle = 2 * time.Minute

// Broker hands each event to everybody who watches its session, and replays
// the recent ones to who comes late. Its methods may be called at the same
// time from many goroutines; none waits for a watcher.
type Broker struct {
	idle time.Duration
	now  func() time.Time

	mu      sync.Mutex
	streams map[string]*stream
	floor   int64 // the highest number that a forgotten stream had reached
	sweeper *time.Timer
}

// NewBroker makes an empty broker that forgets a session's events DefaultIdle
// after the last one.
func NewBroker() *Broker {
	return &Broker{idle: DefaultIdle, now: time.Now, streams: map[string]*stream{}}
}

// Publish numbers e, remembers it and hands it on. It returns e with its
// number.
func (b *Broker) Publish(e Event) Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stream(e.SessionID).publish(e, b.now())
}

// Subscribe watches a session from the event after the one numbered after. It
// reports false where that is too long ago (or was never reached) to be
// replayed without a gap: the watcher then reads the stored session again and
// subscribes from the number it finds there.
func (b *Broker) Subscribe(sessionID string, after int64) (*Subscription, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stream(sessionID)
	if !s.reaches(after) {
		return nil, false
	}
	sub := &Subscription{
		broker: b,
		stream: s,
		next:   after + 1,
		wake:   make(chan struct{}, 1),
		events: make(chan Event),
		done:   make(chan struct{}),
	}
	s.watchers[sub] = struct{}{}
	go sub.run()
	return sub, true
}

// Seq is the number of the session's latest event: who reads the stored
// session after asking for it, and then subscribes from it, misses nothing.
func (b *Broker) Seq(sessionID string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stream(sessionID)
	s.touched = b.now()
	return s.seq
}

// stream finds or begins the stream of a session. A new one begins above all
// that were forgotten, so that a number never comes twice.
func (b *Broker) stream(sessionID string) *stream {
	if s, ok := b.streams[sessionID]; ok {
		return s
	}
	now := b.now()
	s := &stream{seq: max(now.UnixMicro(), b.floor), touched: now, watchers: map[*Subscription]struct{}{}}
	b.streams[sessionID] = s
	if b.sweeper == nil {
		b.sweeper = time.AfterFunc(b.idle, b.sweep)
	}
	return s
}

// sweep frees what idle sessions hold: the remembered events, and the whole
// stream where nobody watches it.
func (b *Broker) sweep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, s := range b.streams {
		if b.now().Sub(s.touched) < b.idle {
			continue
		}
		s.forget()
		if len(s.watchers) == 0 {
			b.floor = max(b.floor, s.seq)
			delete(b.streams, id)
		}
	}
	if len(b.streams) == 0 {
		b.sweeper = nil
		return
	}
	b.sweeper.Reset(b.idle)
}
