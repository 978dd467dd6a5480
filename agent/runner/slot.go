package runner

import (
	"context"
	"sync"
)

// slot is a turn's place among those that run at the same time. Another turn has
// it while some call of this one waits for somebody.
type slot struct {
	slots chan struct{}

	mu    sync.Mutex
	held  bool
	waits int // calls that wait; one more once the turn is over
}

// leave gives the place to another turn.
func (s *slot) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits++
	if s.held {
		<-s.slots
		s.held = false
	}
}

// take ends what leave began. The last that does waits for a place, as long as
// ctx lives; false where quit comes first. A turn of which a call was stopped
// goes on, with a place or without.
func (s *slot) take(ctx context.Context, quit <-chan struct{}) bool {
	s.mu.Lock()
	s.waits--
	needed := s.waits == 0 && !s.held
	s.mu.Unlock()
	if !needed {
		return true
	}
	select {
	case s.slots <- struct{}{}:
		s.hold()
	case <-ctx.Done():
	case <-quit:
		return false
	}
	return true
}

// hold keeps a place that was taken, unless it is not needed any more.
func (s *slot) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held || s.waits > 0 {
		<-s.slots
		return
	}
	s.held = true
}
