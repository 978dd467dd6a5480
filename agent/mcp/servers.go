package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"offcut/agent"
	"offcut/models"
)

// Servers are the configured servers. Their methods may be called from many
// goroutines.
type Servers struct{ all []*server }

// New makes the servers, and starts none.
func New(opts Options) *Servers {
	opts = opts.orDefaults()
	s := &Servers{}
	all := newIntakes(opts.Memory)
	for _, cfg := range opts.Servers {
		s.all = append(s.all, newServer(cfg, opts, all))
	}
	return s
}

// Tools are the tools that there are now. Servers that do not run yet are
// started, all at the same time, and waited for within Options.Wait of their
// start: one that is slow, or dead, holds up the turns of that time alone. One
// whose last start failed is not waited for again.
func (s *Servers) Tools(ctx context.Context) []agent.Tool {
	runs := make([]*run, len(s.all))
	for i, server := range s.all {
		if run, worth := server.need(), server.worthWaiting(); worth {
			runs[i] = run
		}
	}
	var tools []agent.Tool
	for i, server := range s.all {
		if runs[i] != nil {
			server.await(ctx, runs[i])
		}
		server.mu.Lock()
		tools = append(tools, server.list.tools...)
		server.mu.Unlock()
	}
	return tools
}

// Missing says to a model why a tool is not among those that a turn began with:
// its server does not run. It is empty where that is not the reason.
func (s *Servers) Missing(tool string) string {
	for _, server := range s.all {
		if strings.HasPrefix(tool, Prefix(server.cfg.Name)) {
			return server.missing()
		}
	}
	return ""
}

// Status is how the servers are, in the order of the options.
func (s *Servers) Status() []models.ToolServer {
	out := make([]models.ToolServer, len(s.all))
	for i, server := range s.all {
		out[i] = server.status()
	}
	return out
}

// Restart ends a server and starts it again; models.ErrNotFound where there is
// none of that name.
func (s *Servers) Restart(name string) error {
	for _, server := range s.all {
		if server.cfg.Name == name {
			server.restart()
			return nil
		}
	}
	return models.ErrNotFound
}

// Close ends all servers and returns when no process of theirs is left.
func (s *Servers) Close() error {
	var group sync.WaitGroup
	for _, server := range s.all {
		group.Go(server.close)
	}
	group.Wait()
	return nil
}

// address is a server's program, or its address without what may be a secret.
func (s *server) address() string {
	if s.cfg.URL == "" {
		return filepath.Base(s.cfg.Command)
	}
	u, err := url.Parse(s.cfg.URL)
	if err != nil {
		return ""
	}
	return s.scrub.text((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}
