package runner

import (
	"context"
	"errors"
	"time"

	"offcut/agent"
	"offcut/models"
)

// worker runs the turns of one session, one after the other, and is gone when
// the queue is empty. The runner's lock guards its fields.
type worker struct {
	sessionID string
	again     bool   // a turn came in: look at the queue once more
	ended     bool   // the session is being deleted
	stop      string // a parked turn that was stopped before it went on
	quit      chan struct{}
	done      chan struct{}
	current   *current
}

// current is the turn that a worker runs.
type current struct {
	id      string
	cancel  context.CancelCauseFunc
	journal *journal
}

// end stops the worker and what it runs. Called with the runner's lock held.
func (w *worker) end() {
	if w.ended {
		return
	}
	w.ended = true
	close(w.quit)
	if w.current != nil {
		w.current.cancel(errSessionEnded)
	}
}

// wake makes sure that somebody looks at the session's queue.
func (r *Runner) wake(sessionID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.isEnded(sessionID) {
		return // the next start goes on with it, or nobody
	}
	r.worker(sessionID)
}

// worker is the one of the session, made where there is none; it looks at the
// queue once more. Called with the lock held.
func (r *Runner) worker(sessionID string) *worker {
	if w, ok := r.workers[sessionID]; ok {
		w.again = true
		return w
	}
	w := &worker{sessionID: sessionID, quit: make(chan struct{}), done: make(chan struct{})}
	r.workers[sessionID] = w
	r.group.Go(func() {
		defer close(w.done)
		r.work(w)
	})
	return w
}

// queuePause is how long a worker waits when the database cannot be read.
const queuePause = time.Second

// work runs turn after turn until the queue is empty.
func (r *Runner) work(w *worker) {
	ctx := context.Background()
	for {
		if r.leaves(w, false) {
			return
		}
		_, err := r.cfg.Store.NextTurn(ctx, w.sessionID)
		switch {
		case errors.Is(err, models.ErrNotFound):
			if r.leaves(w, true) {
				return
			}
		case err != nil:
			r.cfg.Log.Error("a session's queue cannot be read", "session", w.sessionID, "error", err)
			r.pause(w, queuePause)
		default:
			if s := r.enter(w); s != nil {
				r.runNext(ctx, w, s)
				s.leave()
			}
		}
	}
}

// leaves ends the worker where it has nothing to do any more: asked with the
// queue found empty, or at any time when the session or the program ends.
func (r *Runner) leaves(w *worker, empty bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.ended || r.closed || (empty && !w.again) {
		delete(r.workers, w.sessionID)
		return true
	}
	w.again = false
	return false
}

// enter waits for a place among the running turns; nil where the session or the
// program ends meanwhile.
func (r *Runner) enter(w *worker) *slot {
	select {
	case r.slots <- struct{}{}:
		return &slot{slots: r.slots, held: true}
	case <-w.quit:
	case <-r.closing:
	}
	return nil
}

// pause waits; false where the session or the program ends meanwhile.
func (r *Runner) pause(w *worker, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.quit:
	case <-r.closing:
	}
	return false
}

// runNext runs the oldest queued turn, which may have left the queue meanwhile,
// or goes on with one that was parked.
func (r *Runner) runNext(ctx context.Context, w *worker, s *slot) {
	turn, err := r.cfg.Store.NextTurn(ctx, w.sessionID)
	if err != nil {
		return // read again, and told there
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j := newJournal(r, turn, s, cancel)
	if !r.setCurrent(w, &current{id: turn.ID, cancel: cancel, journal: j}) {
		return
	}
	defer r.setCurrent(w, nil)
	if j.resumed {
		r.runTurn(ctx, w, j)
		return
	}
	started, err := r.cfg.Store.StartTurn(context.WithoutCancel(ctx), turn.ID, r.cfg.Now())
	if err != nil {
		r.notStarted(ctx, w, turn, err)
		return
	}
	j.begin(started)
	r.changed(turn.ID)
	r.runTurn(ctx, w, j)
}

// setCurrent says what the worker runs; false where it should not begin.
func (r *Runner) setCurrent(w *worker, c *current) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c != nil && (w.ended || r.closed) {
		return false
	}
	w.current = c
	if c != nil && c.id == w.stop {
		c.cancel(agent.ErrStopped)
	}
	return true
}

// notStarted tells of a turn that could not be started, unless it had been
// taken out of the queue meanwhile.
func (r *Runner) notStarted(ctx context.Context, w *worker, turn models.Turn, err error) {
	now, again := r.cfg.Store.AnyTurn(context.WithoutCancel(ctx), turn.ID)
	if errors.Is(again, models.ErrNotFound) || (again == nil && now.State != models.StateQueued) {
		return
	}
	r.cfg.Log.Error("a turn cannot be started", "turn", turn.ID, "error", err)
	r.pause(w, queuePause)
}
