package runner

import "context"

// slot is one among the turns that run at the same time.
type slot struct {
	slots chan struct{}
	held  bool
}

// leave gives the place to another turn.
func (s *slot) leave() {
	if s.held {
		<-s.slots
		s.held = false
	}
}

// take waits for a place, as long as ctx lives; false where quit comes first.
func (s *slot) take(ctx context.Context, quit <-chan struct{}) bool {
	if s.held {
		return true
	}
	select {
	case s.slots <- struct{}{}:
		s.held = true
	case <-ctx.Done():
	case <-quit:
		return false
	}
	return true
}
