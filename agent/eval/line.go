package eval

import (
	"errors"
	"fmt"
	"sync"

	"offcut/agent"
)

const (
	// maxPatience is how often a request is sent again where nothing speaks for an
	// answer: to a server that was not reached, which somebody has likely not
	// started, and after a try in which one that never answered went through all
	// the retries of a turn.
	maxPatience = 3
	// maxUnanswered is how many tries in a row may have no answer of the model
	// before the run ends: all the others would say the same.
	maxUnanswered = 3
)

// What ends a run before all of it was tried.
var (
	ErrUnreached  = errors.New("the model's server gives no answer")
	ErrUnanswered = errors.New("the model's server refuses every request")
)

// line is the way to the model's server, which all tries of a run share.
type line struct {
	mu     sync.Mutex
	open   bool // the last that was heard of it was an answer
	spoke  bool // there was an answer of the model once
	missed int  // tries in a row that got none
}

// patient reports whether a request is sent again as often as a turn does it. A
// server that has answered before is given that time, and one that is there but
// busy, as when it loads a model, once.
func (l *line) patient(unreached bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if unreached {
		return l.open
	}
	return l.spoke || l.missed == 0
}

func (l *line) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.spoke, l.missed = true, true, 0
}

// unanswered takes a try that ended without an answer. It is an error once there
// are too many; a server that has answered before, and does not now, may do so
// again as long as it is there.
func (l *line) unanswered(failed *agent.ModelError) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = !failed.Unreached
	l.missed++
	switch {
	case l.missed < maxUnanswered, l.spoke && !failed.Unreached:
		return nil
	case failed.Unreached:
		return fmt.Errorf("%w, %d times in a row", ErrUnreached, l.missed)
	}
	return fmt.Errorf("%w, %d times in a row: %s", ErrUnanswered, l.missed, failed.Message)
}
