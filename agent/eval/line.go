package eval

import (
	"errors"
	"fmt"
	"sync"
)

const (
	// maxSilence is how often a request is sent again to a server that has not
	// answered yet: somebody is waiting who has likely not started it. One that
	// has answered before is given all the time that a turn gives it.
	maxSilence = 3
	// maxUnreached is how many tries in a row may find no server before the run
	// ends: all the others would say the same.
	maxUnreached = 3
)

// ErrUnreached ends a run whose model's server gives no answer.
var ErrUnreached = errors.New("the model's server gives no answer")

// line is the way to the model's server, which all tries of a run share.
type line struct {
	mu     sync.Mutex
	open   bool // the last that was heard of it was an answer
	missed int  // tries in a row that got none
}

func (l *line) answers() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *line) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.missed = true, 0
}

// unreached takes a try that got no answer. It is an error once there are too
// many.
func (l *line) unreached() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = false
	if l.missed++; l.missed < maxUnreached {
		return nil
	}
	return fmt.Errorf("%w, %d times in a row", ErrUnreached, l.missed)
}
