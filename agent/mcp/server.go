package mcp

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"offcut/models"
)

// server is one server over the life of this program. It runs in a goroutine
// for each start, of which there is one at a time; the next begins when
// somebody needs the server, and its backoff is over.
type server struct {
	cfg   Server
	opts  Options
	scrub scrubber
	large *intake
	// newest: it knows no version of before the newest. Runs alone read and write
	// it, one after another.
	newest bool

	mu       sync.Mutex
	run      *run // the last start; nil: there was none
	closed   bool
	failures int  // in a row
	unready  bool // the last start came to nothing
	retryAt  time.Time
	// What is shown of the run.
	state   models.ServerState
	since   time.Time
	err     string
	product string
	list    list
}

// A run is one start of a server, and what came of it.
type run struct {
	begun time.Time
	known chan struct{} // closed when its tools are known, or it has failed
	over  chan struct{} // closed when nothing of it is left
	end   context.CancelFunc
	// stderr is the end of what its program wrote there.
	stderr *tail
	sent   []byte // the list of tools as it came last; the run's own
	// Guarded by the server's lock.
	link  *link     // while it is ready
	ready time.Time // zero: it never was
}

func newServer(cfg Server, opts Options, all *intakes) *server {
	s := &server{cfg: cfg, opts: opts, scrub: newScrubber(cfg), large: newIntake(all), state: models.ServerIdle}
	if cfg.Off {
		s.state = models.ServerOff
	}
	return s
}

// need starts the server where it does not run and may be started now. It
// returns the last start; nil: there was none.
func (s *server) need() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.state == models.ServerIdle || s.state == models.ServerFailed && !time.Now().Before(s.retryAt)
	if due && !s.closed {
		s.start()
	}
	return s.run
}

// worthWaiting reports whether a turn may wait for the tools: not where the last
// start came to nothing, as the next one is likely to.
func (s *server) worthWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unready
}

// start begins a run, after the one before it is over. The lock is held.
func (s *server) start() {
	ctx, end := context.WithCancel(context.Background())
	before := s.run
	r := &run{begun: time.Now(), known: make(chan struct{}), over: make(chan struct{}), end: end, stderr: &tail{most: stderrBytes}}
	s.run = r
	s.become(models.ServerStarting, "")
	go func() {
		defer close(r.over)
		defer end()
		if before != nil {
			<-before.over
		}
		s.live(ctx, r)
	}()
}

// become changes what is shown. The lock is held.
func (s *server) become(state models.ServerState, why string) {
	s.state, s.since, s.err = state, time.Now(), why
	if state != models.ServerReady {
		s.product, s.list = "", list{}
	}
}

// live is a run from its start to its end.
func (s *server) live(ctx context.Context, r *run) {
	l, err := s.greet(ctx, r)
	if err != nil {
		s.failed(ctx, r, err)
		return
	}
	changed, rest := l.changed, pace{}
	for {
		select {
		case <-changed:
			s.reload(ctx, r, l)
			changed, rest = nil, rest.after()
		case <-rest.over:
			if len(l.changed) == 0 {
				rest.pause = 0
			}
			changed, rest.over = l.changed, nil
		case <-l.ended:
			err := l.whyEnded(ctx, "last message", l.err)
			s.failed(ctx, r, errors.Join(err, l.close()))
			return
		case <-ctx.Done():
			s.failed(ctx, r, l.close())
			return
		}
	}
}

// The pauses after a list of tools was asked for again. A server that says that
// it has changed each time it is asked would else be asked without end.
const (
	shortPause = time.Second
	longPause  = time.Minute
)

// A pace is the pause after a reload: short, and twice the one before where the
// next notice came within that.
type pace struct {
	pause time.Duration
	over  <-chan time.Time // nil: there is none now
}

func (p pace) after() pace {
	pause := min(longPause, max(shortPause, 2*p.pause))
	return pace{pause, time.After(pause)}
}

// greet starts the server and asks for its tools.
func (s *server) greet(ctx context.Context, r *run) (*link, error) {
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	l, err := s.meet(limited, r.stderr)
	if err != nil {
		return nil, err
	}
	sent, err := l.tools(limited)
	if err != nil {
		return nil, errors.Join(l.whyEnded(limited, "question for its tools", err), l.close())
	}
	offered := s.listOf(sent)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ready, r.sent = time.Now(), raw(sent)
	if s.run == r {
		s.become(models.ServerReady, "")
		s.unready = false
		r.link, s.product, s.list = l, l.product(), offered
		s.opts.Log.Info("an MCP server is ready", "server", s.cfg.Name, "tools", len(offered.tools))
	}
	close(r.known)
	return l, nil
}

// reload asks for the tools again. Where that fails the old list stays.
func (s *server) reload(ctx context.Context, r *run, l *link) {
	limited, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	sent, err := l.tools(limited)
	var offered *list // nil: it is as it was
	if now := raw(sent); err == nil && !bytes.Equal(now, r.sent) {
		made := s.listOf(sent)
		offered, r.sent = &made, now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != r {
		return
	}
	s.err = ""
	switch {
	case err != nil:
		s.err = s.reason(err)
	case offered != nil:
		s.list = *offered
	}
}

// failed notes that a run is over, unless another has begun.
func (s *server) failed(ctx context.Context, r *run, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r.ready.IsZero() {
			close(r.known)
		}
	}()
	r.link = nil
	if s.run != r || ctx.Err() != nil {
		return
	}
	if !r.ready.IsZero() && time.Since(r.ready) >= steadyAfter {
		s.failures = 0
	}
	s.failures++
	s.unready = r.ready.IsZero()
	s.retryAt = time.Now().Add(backoff(s.failures))
	s.become(models.ServerFailed, s.reason(err))
	s.opts.Log.Warn("an MCP server does not run", "server", s.cfg.Name, "error", s.err, "failures", s.failures)
}

// reason is an error for people: one line, without secrets.
func (s *server) reason(err error) string {
	if err == nil {
		return "the connection was closed"
	}
	return s.scrub.line(err.Error(), 500)
}

// restart ends the server, and starts it again at once.
func (s *server) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.cfg.Off {
		return
	}
	if s.run != nil {
		s.run.end()
	}
	s.failures, s.unready = 0, false
	s.start()
}

// close ends the server for good and returns when nothing of it is left.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	r := s.run
	s.mu.Unlock()
	if r != nil {
		r.end()
		<-r.over
	}
}

// status is what an admin sees.
func (s *server) status() models.ToolServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := models.ToolServer{
		Name: s.cfg.Name, Local: s.cfg.URL == "", Address: s.address(), State: s.state, Since: s.since,
		Product: s.product, Error: s.err, Tools: s.list.shown, LeftOut: s.list.leftOut,
	}
	if s.state == models.ServerFailed {
		v.RetryAt = s.retryAt
	}
	if s.run != nil {
		v.Stderr = s.scrub.text(legible(s.run.stderr.String()))
	}
	return v
}
