package runner

import (
	"context"
	"errors"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// Stop ends a running turn within a second, and takes a queued one out of the
// queue. A turn that has ended stays as it is, which is no error.
func (r *Runner) Stop(ctx context.Context, turnID string) error {
	turn, err := r.cfg.Store.AnyTurn(ctx, turnID)
	if err != nil {
		return err
	}
	if turn.State.Final() || r.cancel(turn, agent.ErrStopped) || r.stopParked(turn) {
		return nil
	}
	message, _ := r.userMessage(ctx, turn)
	err = r.cfg.Store.RemoveQueuedTurn(ctx, turnID)
	if err == nil {
		r.removed(turn, message)
		return nil
	}
	if r.cancel(turn, agent.ErrStopped) {
		return nil // it began while it was looked at
	}
	if now, again := r.cfg.Store.AnyTurn(ctx, turnID); again == nil && now.State.Final() {
		return nil
	}
	return err
}

func (r *Runner) removed(turn models.Turn, message models.Message) {
	turn.State = models.StateStopped
	if message.ID != "" {
		r.publish(turn, events.Event{Kind: events.KindMessage, MessageID: message.ID, State: models.StateStopped})
	}
	r.publish(turn, events.Event{Kind: events.KindTurn, State: turn.State})
	r.changed(turn.ID)
}

// cancel ends the turn where it is the one that runs.
func (r *Runner) cancel(turn models.Turn, cause error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workers[turn.SessionID]
	if w == nil || w.current == nil || w.current.id != turn.ID {
		return false
	}
	w.current.cancel(cause)
	return true
}

// stopParked stops a turn that waits for somebody since before a restart, where
// nobody has gone on with it yet: it is stopped when it goes on. False where the
// turn is not parked, or where the program ends.
func (r *Runner) stopParked(turn models.Turn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !turn.Parked || r.closed || r.isEnded(turn.SessionID) {
		return false
	}
	w := r.worker(turn.SessionID)
	w.stop = turn.ID
	if w.current != nil && w.current.id == turn.ID {
		w.current.cancel(agent.ErrStopped) // it went on meanwhile
	}
	return true
}

// StopCall ends one running tool call, also in the background; the turn goes on
// with what it had printed. A call that does not run is ErrConflict, one that
// never was ErrNotFound.
func (r *Runner) StopCall(ctx context.Context, sessionID, callID string) error {
	if j := r.journal(sessionID); j != nil && j.stopCall(callID) {
		return nil
	}
	if j := r.background.find(sessionID, func(j *job) bool { return j.id == callID }); j != nil {
		j.end(agent.ErrStopped)
		return nil
	}
	return r.notRunning(ctx, sessionID, callID)
}

// notRunning is the error about a call that does not run.
func (r *Runner) notRunning(ctx context.Context, sessionID, callID string) error {
	known, err := r.cfg.Store.CallIDs(ctx, sessionID, []string{callID})
	if err != nil {
		return err
	}
	if !known[callID] {
		return models.Errorf(models.ErrNotFound, "call_not_found", "There is no such tool call in this session.")
	}
	return errCallEnded
}

// errCallEnded refuses what only a running call can do.
var errCallEnded = models.Errorf(models.ErrConflict, "call_not_running", "This call does not run any more.")

// endedFor is how long a session takes no new messages after EndSession: the
// deletion follows at once, and what is forgotten after it is not there any more.
const endedFor = time.Minute

// EndSession stops whatever runs or waits in a session that is about to be
// deleted, and waits for it as long as ctx allows.
func (r *Runner) EndSession(ctx context.Context, sessionID string) {
	r.mu.Lock()
	for id := range r.ended {
		r.isEnded(id) // drops those that were long ago
	}
	r.ended[sessionID] = r.cfg.Now()
	w := r.workers[sessionID]
	if w != nil {
		w.end()
	}
	r.mu.Unlock()
	if w != nil {
		await(ctx, w.done)
	}
	for _, j := range r.endJobs(errSessionEnded, inSession(sessionID)) {
		await(ctx, j.done)
	}
}

// SessionGone tells the watchers of a session that was deleted the reason, which is
// a sentence for people.
func (r *Runner) SessionGone(sessionID, reason string) {
	r.cfg.Broker.Publish(events.Event{SessionID: sessionID, Kind: events.KindGone, Text: reason})
}

// SessionStays takes messages again for a session that was ended and could not be
// deleted, and goes on with its queue.
func (r *Runner) SessionStays(sessionID string) {
	r.mu.Lock()
	delete(r.ended, sessionID)
	r.mu.Unlock()
	r.wake(sessionID)
}

func await(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// isEnded reports whether the session was ended a moment ago. Called with the
// lock held.
func (r *Runner) isEnded(sessionID string) bool {
	at, ended := r.ended[sessionID]
	if ended && r.cfg.Now().Sub(at) > endedFor {
		delete(r.ended, sessionID)
		return false
	}
	return ended
}

// Resume goes on with the turns that were queued or parked when the program last
// ended. What was running then has to be marked as interrupted before.
func (r *Runner) Resume(ctx context.Context) error {
	sessions, err := r.cfg.Store.UnrestedSessions(ctx)
	if err != nil {
		return err
	}
	for _, id := range sessions {
		r.wake(id)
	}
	return nil
}

// Shutdown takes no new turns, gives the running ones a moment to end, and
// then interrupts them. What runs in the background ends at once. Queued and
// parked turns stay so for the next start. It returns
// when nothing runs any more, or with ctx's error.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closing)
	}
	r.mu.Unlock()
	r.endJobs(agent.ErrShutdown, func(*job) bool { return true })
	idle := make(chan struct{})
	go func() {
		r.group.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-time.After(r.cfg.Limits.ShutdownGrace):
	case <-ctx.Done():
	}
	r.interrupt()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("turns still run"), ctx.Err())
	}
}

func (r *Runner) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.workers {
		if w.current != nil {
			w.current.cancel(agent.ErrShutdown)
		}
	}
}
