package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"offcut/agent"
)

// Server is one server of the configuration: a program, or an address.
type Server struct {
	// Name is unique among the servers also as NameOf has it.
	Name string
	Off  bool // it is never started

	Command string
	Args    []string
	Env     map[string]string // beside the few variables that every program gets
	Dir     string            // empty: that of this program

	URL     string            // of its streamable HTTP endpoint
	Headers map[string]string // sent to that host alone

	// Timeout bounds a call of its tools; 0: DefaultTimeout. Timeouts are those
	// of single tools, by the names that models know.
	Timeout  time.Duration
	Timeouts map[string]time.Duration
	// Secrets are values among those above that nobody is to read.
	Secrets []string
}

// Options are what the servers work with. A zero duration is the default.
type Options struct {
	Servers []Server
	// Version of this program, which servers are told.
	Version string
	// Wrap stands around each tool; nil: nothing does.
	Wrap func(agent.Tool) agent.Tool
	// Room is how many more bytes an owner may store; nil: any number. Images
	// and other files of results are written into the session's workspace.
	Room func(ctx context.Context, ownerID string) (int64, error)
	// Wait is how long the tools of a server that starts are waited for, counted
	// from its start: what comes later is there for a later turn.
	Wait time.Duration
	Log  *slog.Logger
	// Memory is what the machine has, in bytes: how many large answers are taken in
	// at the same time follows from it. 0: one is.
	Memory int64
}

// The times that a server may take. Ten seconds start what a package runner has
// to look up first; what it has to load may take longer, beside the turns.
const (
	DefaultTimeout = 2 * time.Minute
	defaultWait    = 10 * time.Second
	startLimit     = time.Minute
	listLimit      = 30 * time.Second
)

// What a server may send, and how long it must have run for the next start to
// come at once.
const (
	maxAnswerBytes = 32 << 20 // of one message
	stderrBytes    = 16 << 10 // are kept of the end
	steadyAfter    = time.Minute
	maxBackoff     = 5 * time.Minute
)

func (o Options) orDefaults() Options {
	o.Wait = cmp.Or(o.Wait, defaultWait)
	if o.Wrap == nil {
		o.Wrap = func(t agent.Tool) agent.Tool { return t }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// timeout bounds a call of the tool that models know by that name.
func (s Server) timeout(tool string) time.Duration {
	return cmp.Or(s.Timeouts[tool], s.Timeout, DefaultTimeout)
}

// backoff is the wait before the next start after so many failures in a row: a
// server that ended once is started again at once.
func backoff(failures int) time.Duration {
	if failures <= 1 {
		return 0
	}
	return min(maxBackoff, time.Second<<min(failures-2, 20))
}
