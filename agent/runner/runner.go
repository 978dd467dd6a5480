// Package runner owns the turns of all sessions: it queues them, runs one at a
// time in each session, stores what happens and tells the watchers. A turn
// belongs to the runner and not to the request that asked for it.
package runner

import (
	"sync"
	"time"

	"offcut/agent/events"
	"offcut/models"
)

// Live is a snapshot of what runs in a session.
type Live = events.Live

// Runner runs turns. Its methods may be called from many goroutines.
type Runner struct {
	cfg   Config
	slots chan struct{} // one for each turn that may run now

	sending sync.Mutex // makes counting a user's turns and adding one a single step

	mu      sync.Mutex
	workers map[string]*worker   // by session; only sessions with something to do
	ended   map[string]time.Time // sessions that are being deleted, and since when
	waits   map[string]*wait     // by turn
	closing chan struct{}        // closed when nothing new begins
	closed  bool
	group   sync.WaitGroup // the workers and the background's jobs

	background backgrounds
}

// New makes a runner. Turns that were queued before go on with Resume.
func New(cfg Config) *Runner {
	cfg = cfg.orDefaults()
	return &Runner{
		cfg:     cfg,
		slots:   make(chan struct{}, cfg.Limits.Turns),
		workers: map[string]*worker{},
		ended:   map[string]time.Time{},
		waits:   map[string]*wait{},
		closing: make(chan struct{}),

		background: backgrounds{places: map[string]int{}},
	}
}

// Live is what runs in the session now. Everything up to its Seq is in it.
func (r *Runner) Live(sessionID string) Live {
	r.background.mu.Lock()
	defer r.background.mu.Unlock()
	live := Live{Seq: r.cfg.Broker.Seq(sessionID)}
	if j := r.journal(sessionID); j != nil {
		live = j.live()
	}
	live.Calls = append(live.Calls, r.background.live(sessionID)...)
	return live
}

func (r *Runner) journal(sessionID string) *journal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workers[sessionID]; w != nil && w.current != nil {
		return w.current.journal
	}
	return nil
}

// publish tells the watchers of the turn's session.
func (r *Runner) publish(turn models.Turn, e events.Event) {
	e.SessionID, e.TurnID = turn.SessionID, turn.ID
	r.cfg.Broker.Publish(e)
}
