// Package runner owns the turns of all sessions: it queues them, runs one at a
// time in each session, stores what happens and tells the watchers. A turn
// belongs to the runner and not to the request that asked for it.
package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// Live is a snapshot of what runs in a session.
type Live = events.Live

// Runner runs turns. Its methods may be called from many goroutines.
type Runner struct {
	cfg   Config
	tools agent.Toolbox
	slots chan struct{} // one for each turn that may run now

	sending sync.Mutex // makes counting a user's turns and adding one a single step

	mu      sync.Mutex
	workers map[string]*worker // by session; only sessions with something to do
	ended   map[string]time.Time
	sent    map[string]string // client ids of unfinished turns, for the bound on them
	waits   map[string]*wait  // by turn
	closing chan struct{}     // closed when nothing new begins
	closed  bool
	group   sync.WaitGroup // the workers
}

// New makes a runner. Turns that were queued before go on with Resume.
func New(cfg Config) *Runner {
	cfg = cfg.orDefaults()
	return &Runner{
		cfg:     cfg,
		tools:   agent.NewToolbox(cfg.Tools...),
		slots:   make(chan struct{}, cfg.Limits.Turns),
		workers: map[string]*worker{},
		ended:   map[string]time.Time{},
		sent:    map[string]string{},
		waits:   map[string]*wait{},
		closing: make(chan struct{}),
	}
}

// Send stores a user's message and starts its turn, or queues it behind those
// of the same session. The same client id gives the same turn, once. It fails
// with ErrLimited where the user has too many unfinished turns, and with
// ErrUnavailable while the server is going down.
func (r *Runner) Send(ctx context.Context, t models.NewTurn) (models.Turn, error) {
	if err := r.accepts(t.SessionID); err != nil {
		return models.Turn{}, err
	}
	if t.Now.IsZero() {
		t.Now = r.cfg.Now()
	}
	turn, message, created, err := r.enqueue(ctx, t)
	if err != nil || !created {
		return turn, err
	}
	r.publish(turn, events.Event{Kind: events.KindMessage, MessageID: message.ID, State: message.State})
	r.publish(turn, events.Event{Kind: events.KindTurn, State: turn.State})
	r.title(context.WithoutCancel(ctx), turn, t.Content)
	r.wake(t.SessionID)
	return turn, nil
}

func (r *Runner) accepts(sessionID string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch _, ended := r.ended[sessionID]; {
	case r.closed:
		return &models.Error{Kind: models.ErrUnavailable, Code: "shutting_down", Message: "The server is restarting. Send the message again in a moment.", RetryAfter: 5 * time.Second}
	case ended:
		return models.Errorf(models.ErrNotFound, "not_found", "This session is being deleted.")
	}
	return nil
}

// enqueue adds a turn within the user's bound.
func (r *Runner) enqueue(ctx context.Context, t models.NewTurn) (models.Turn, models.Message, bool, error) {
	r.sending.Lock()
	defer r.sending.Unlock()
	if known := r.sentBefore(t); known != "" {
		turn, err := r.cfg.Store.AnyTurn(ctx, known)
		return turn, models.Message{}, false, err
	}
	unfinished, err := r.cfg.Store.UnfinishedTurns(ctx, t.OwnerID)
	if err != nil {
		return models.Turn{}, models.Message{}, false, err
	}
	if most := r.cfg.Limits.TurnsPerUser; unfinished >= most {
		limited := models.Errorf(models.ErrLimited, "too_many_turns", "You have %d unfinished answers, which is as many as one user may have. Wait for one of them, or stop it.", unfinished)
		limited.RetryAfter = 5 * time.Second
		return models.Turn{}, models.Message{}, false, limited
	}
	turn, message, created, err := r.cfg.Store.Enqueue(ctx, t)
	if err == nil && created && t.ClientID != "" {
		r.mu.Lock()
		r.sent[sentKey(t.SessionID, t.ClientID)] = turn.ID
		r.mu.Unlock()
	}
	return turn, message, created, err
}

func sentKey(sessionID, clientID string) string { return sessionID + "/" + clientID }

// sentBefore is the unfinished turn with the same client id: sending it again
// is no new turn, and so not refused by the bound.
func (r *Runner) sentBefore(t models.NewTurn) string {
	if t.ClientID == "" {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[sentKey(t.SessionID, t.ClientID)]
}

// title gives the session a title out of its first message. Without one it
// stays untitled, which harms nothing.
func (r *Runner) title(ctx context.Context, turn models.Turn, content string) {
	title := models.TitleFrom(content)
	titled, err := r.cfg.Store.TitleSession(ctx, turn.SessionID, title)
	if err != nil {
		r.cfg.Log.Warn("a session got no title", "session", turn.SessionID, "error", err)
		return
	}
	if titled {
		r.publish(turn, events.Event{Kind: events.KindTitle, Text: title})
	}
}

// Stop ends a running turn within a second, and takes a queued one out of the
// queue. A turn that has ended stays as it is, which is no error.
func (r *Runner) Stop(ctx context.Context, turnID string) error {
	turn, err := r.cfg.Store.AnyTurn(ctx, turnID)
	if err != nil {
		return err
	}
	if turn.State.Final() || r.cancel(turn, agent.ErrStopped) {
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
	r.forget(turn)
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

// StopCall ends one running tool call; the turn goes on with what it had
// printed.
func (r *Runner) StopCall(_ context.Context, sessionID, callID string) error {
	if j := r.journal(sessionID); j != nil && j.stopCall(callID) {
		return nil
	}
	return models.Errorf(models.ErrConflict, "call_not_running", "This call does not run any more.")
}

// Live is what runs in the session now. Everything up to its Seq is in it.
func (r *Runner) Live(sessionID string) Live {
	if j := r.journal(sessionID); j != nil {
		return j.live()
	}
	return Live{Seq: r.cfg.Broker.Seq(sessionID)}
}

func (r *Runner) journal(sessionID string) *journal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workers[sessionID]; w != nil && w.current != nil {
		return w.current.journal
	}
	return nil
}

// endedFor is how long a session takes no new messages after EndSession: the
// deletion follows at once, and where it fails the session lives on.
const endedFor = time.Minute

// EndSession stops whatever runs or waits in a session that is about to be
// deleted, waits for it as long as ctx allows, and tells the watchers the
// reason, which is a sentence for people.
func (r *Runner) EndSession(ctx context.Context, sessionID, reason string) {
	r.mu.Lock()
	now := r.cfg.Now()
	for id, at := range r.ended {
		if now.Sub(at) > endedFor {
			delete(r.ended, id)
		}
	}
	r.ended[sessionID] = now
	w := r.workers[sessionID]
	if w != nil {
		w.end()
	}
	r.mu.Unlock()
	if w != nil {
		select {
		case <-w.done:
		case <-ctx.Done():
		}
	}
	r.cfg.Broker.Publish(events.Event{SessionID: sessionID, Kind: events.KindGone, Text: reason})
}

// Resume goes on with the turns that were queued when the program last ended.
// What was running then has to be marked as interrupted before.
func (r *Runner) Resume(ctx context.Context) error {
	sessions, err := r.cfg.Store.QueuedSessions(ctx)
	if err != nil {
		return err
	}
	for _, id := range sessions {
		r.wake(id)
	}
	return nil
}

// Shutdown takes no new turns, gives the running ones a moment to end, and
// then interrupts them. Queued turns stay queued for the next start. It returns
// when nothing runs any more, or with ctx's error.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closing)
	}
	r.mu.Unlock()
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

// publish tells the watchers of the turn's session.
func (r *Runner) publish(turn models.Turn, e events.Event) {
	e.SessionID, e.TurnID = turn.SessionID, turn.ID
	r.cfg.Broker.Publish(e)
}
