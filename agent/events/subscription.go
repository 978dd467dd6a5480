package events

import "sync"

// Subscription is one watcher of a session.
type Subscription struct {
	broker *Broker
	stream *stream
	next   int64 // the number that is handed out next; used by run alone
	wake   chan struct{}
	events chan Event
	done   chan struct{}
	once   sync.Once
}

// Events gives the events in order and without a gap. It is closed after
// Close, and where the watcher was so slow that what it has not read yet is
// forgotten: it may subscribe again.
func (s *Subscription) Events() <-chan Event { return s.events }

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.once.Do(func() { close(s.done) })
}

// nudge says that there is something to read; it never waits.
func (s *Subscription) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run hands out what the stream remembers. A watcher thus costs no memory of
// its own beyond one batch, however slow it is.
func (s *Subscription) run() {
	defer close(s.events)
	defer s.leave()
	batch := make([]Event, 32)
	for {
		n, ok := s.read(batch)
		if !ok {
			return
		}
		if n == 0 {
			select {
			case <-s.wake:
				continue
			case <-s.done:
				return
			}
		}
		for i := range batch[:n] {
			select {
			case s.events <- batch[i]:
			case <-s.done:
				return
			}
			batch[i] = Event{}
		}
		s.next += int64(n)
	}
}

// read copies the next events; false where some of them are forgotten already.
func (s *Subscription) read(batch []Event) (int, bool) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	if !s.stream.reaches(s.next - 1) {
		return 0, false
	}
	return s.stream.after(s.next-1, batch), true
}

func (s *Subscription) leave() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	delete(s.stream.watchers, s)
	s.stream.touched = s.broker.now()
}
