package demodata

import (
	"context"
	"errors"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/agent/retain"
	"offcut/models"
)

// errUnscripted says that the loop asked for more than a story has.
var errUnscripted = errors.New("the story has no more steps")

// actor plays the model and the tools of one turn at a time.
type actor struct {
	clock *clock
	pace  func(most time.Duration) time.Duration // how long something takes

	mu     sync.Mutex
	as     role
	steps  []step
	result *result // what the tool of the last step returns
}

// prepare hands it a turn.
func (a *actor) prepare(as role, steps []step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.as, a.steps, a.result = as, steps, nil
}

func (a *actor) role() role {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.as
}

func (a *actor) next() (step, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.steps) == 0 {
		return step{}, errUnscripted
	}
	s := a.steps[0]
	a.steps, a.result = a.steps[1:], s.result
	return s, nil
}

// model is the actor under the name of a model.
type model struct {
	*actor
	name string
}

// Stream implements agent.Model.
func (m model) Stream(_ context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	s, err := m.next()
	if err != nil {
		return agent.Reply{}, err
	}
	for n := range s.retries {
		if req.OnRetry != nil {
			req.OnRetry(agent.Retry{Attempt: n + 2, Most: 5, Wait: time.Second, Reason: "The model's provider is busy."})
		}
		m.clock.pass(time.Second << n)
	}
	r := s.reply(req)
	r.Model, r.Usage = m.name, usageOf(req, r)
	m.clock.pass(time.Second + m.pace(time.Duration(r.Usage.OutputTokens)*40*time.Millisecond))
	if r.Reasoning != "" {
		emit(agent.Delta{Reasoning: r.Reasoning})
	}
	if r.Content != "" {
		emit(agent.Delta{Text: r.Content})
	}
	return r, nil
}

// usageOf counts as a provider does: what the request before held comes out of its
// cache.
func usageOf(req agent.Request, r agent.Reply) models.Usage {
	input := int64(contextwin.Estimate(req))
	u := models.Usage{InputTokens: input, ReasoningTokens: int64(len(r.Reasoning) / agent.BytesPerToken)}
	u.OutputTokens = u.ReasoningTokens + int64(len(r.Content)/agent.BytesPerToken) + 8
	for _, call := range r.ToolCalls {
		u.OutputTokens += int64(len(call.Arguments) / agent.BytesPerToken)
	}
	if n := len(req.Messages); n > 1 {
		req.Messages = req.Messages[:n-1]
		u.CachedTokens = int64(contextwin.Estimate(req)) / 128 * 128 // in the blocks of such caches
	}
	return u
}

// played is a tool of the program that returns what the story says.
type played struct {
	agent.Tool
	actor  *actor
	keeper *retain.Keeper
	lost   *bool // the next copy cannot be stored
}

// Run implements agent.Tool.
func (t played) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	t.actor.mu.Lock()
	r := t.actor.result
	t.actor.mu.Unlock()
	if r == nil {
		return agent.ToolResult{}, errUnscripted
	}
	*t.lost = r.lost
	defer func() { *t.lost = false }()
	meta := models.ResultMetadata{ExecutionMS: models.Ptr(r.took.Milliseconds())}
	defer t.actor.clock.pass(r.took)
	if call.Tool != "run_command" {
		return agent.ToolResult{ToolCallID: call.ID, Content: r.text, IsError: r.error, Metadata: meta}, nil
	}
	meta.ExitCode, meta.Sandbox, meta.SandboxKind = &r.exit, models.Ptr(true), "bubblewrap"
	recording := t.keeper.Record(ctx, call, commandOf(call))
	_, err := recording.Stdout().Write([]byte(r.text))
	return recording.Finish(ctx, retain.Exited, meta), err
}
