package runner

import (
	"context"
	"time"

	"offcut/models"
)

// wait is what those wait for who want to know of one turn's next state.
type wait struct {
	changed chan struct{}
	waiting int
}

// Wait returns the turn once it rests or waits for somebody, and else as it is
// when most has passed.
func (r *Runner) Wait(ctx context.Context, turnID string, most time.Duration) (models.Turn, error) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		changed, leave := r.join(turnID) // before reading, so that no change is missed
		turn, err := r.cfg.Store.AnyTurn(ctx, turnID)
		asks := false
		if err == nil && turn.State == models.StateAwaitingApproval {
			asks, err = r.asks(ctx, turn.ID)
		}
		if err != nil || turn.State.Final() || asks {
			leave()
			return turn, err
		}
		select {
		case <-changed:
			leave()
		case <-timer.C:
			leave()
			return turn, nil
		case <-ctx.Done():
			leave()
			return turn, ctx.Err()
		}
	}
}

// asks reports whether somebody is asked in the turn. One that was answered
// just now awaits nothing, although it has not gone on yet.
func (r *Runner) asks(ctx context.Context, turnID string) (bool, error) {
	waiting, err := r.cfg.Store.Waiting(ctx, turnID)
	return len(waiting) > 0, err
}

// join waits for the turn's next change; leave has to be called.
func (r *Runner) join(turnID string) (changed <-chan struct{}, leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.waits[turnID]
	if w == nil {
		w = &wait{changed: make(chan struct{})}
		r.waits[turnID] = w
	}
	w.waiting++
	return w.changed, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		w.waiting--
		if w.waiting == 0 && r.waits[turnID] == w {
			delete(r.waits, turnID)
		}
	}
}

// changed wakes those who wait for the turn.
func (r *Runner) changed(turnID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.waits[turnID]; w != nil {
		close(w.changed)
		delete(r.waits, turnID)
	}
}
