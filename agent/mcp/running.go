package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"offcut/models"
)

// running is the connection to the server, which is waited for while it starts.
// Its error is for models.
func (s *server) running(ctx context.Context) (*link, error) {
	deadline := time.Now().Add(s.opts.Wait)
	for {
		r := s.need()
		if r == nil {
			return nil, s.whyNot()
		}
		s.await(ctx, r)
		link := s.linkOf(r)
		if link == nil {
			return nil, s.whyNot()
		}
		if !link.lost.Load() {
			return link, nil
		}
		// The next start waits for the end of this one too.
		if !wait(ctx, r.over, time.Until(deadline)) {
			return nil, fmt.Errorf("the MCP server %s is ending, and is started again then", s.cfg.Name)
		}
	}
}

func (s *server) linkOf(r *run) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.link
}

// offers reports whether the server has a tool now, by the name that models know.
func (s *server) offers(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list.shown, func(t models.ServerTool) bool { return t.Name == tool })
}

// whyNot says to a model why the server does not run.
func (s *server) whyNot() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Until(s.retryAt)
	switch {
	case s.state == models.ServerStarting:
		return fmt.Errorf("the MCP server %s is starting", s.cfg.Name)
	case s.state == models.ServerFailed && wait > 0:
		return fmt.Errorf("the MCP server %s does not run, and is started again in %d s", s.cfg.Name, int(wait.Seconds())+1)
	}
	return fmt.Errorf("the MCP server %s does not run", s.cfg.Name)
}

// missing says to a model why the tools of the server are not there; empty: they
// are.
func (s *server) missing() string {
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	if state == models.ServerReady || state == models.ServerOff {
		return ""
	}
	return fmt.Sprintf("Tools whose names begin with %s are not there now: %v. They are offered in the first turn after its start.", Prefix(s.cfg.Name), s.whyNot())
}

// await waits until a run's tools are known, as long as a turn may be held.
func (s *server) await(ctx context.Context, r *run) {
	wait(ctx, r.known, time.Until(r.begun.Add(s.opts.Wait)))
}

// wait waits for the end of something, and reports whether it came in time.
func wait(ctx context.Context, end <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-end:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
