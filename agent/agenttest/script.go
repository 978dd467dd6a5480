// Package agenttest is the kit for tests of whatever works with an agent:
// models that follow a script, and tools that are functions.
package agenttest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Script is a model that answers each request with its next step. It may be
// used by many turns at the same time; the steps are given out in the order in
// which the requests come.
type Script struct {
	mu       sync.Mutex
	steps    []Step
	requests []agent.Request
	came     chan struct{} // a request came; closed and made anew
}

// NewScript makes a model that answers so.
func NewScript(steps ...Step) *Script {
	return &Script{steps: steps, came: make(chan struct{})}
}

// Then adds steps.
func (s *Script) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests are those that were sent so far, as they were then.
func (s *Script) Requests() []agent.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Await waits until n requests have come; false where ctx ends before.
func (s *Script) Await(ctx context.Context, n int) bool {
	for {
		s.mu.Lock()
		enough, came := len(s.requests) >= n, s.came
		s.mu.Unlock()
		if enough {
			return true
		}
		select {
		case <-came:
		case <-ctx.Done():
			return false
		}
	}
}

// Stream plays the next step. A script that is over refuses the request.
func (s *Script) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	step, ok := s.next(req)
	if !ok {
		return agent.Reply{}, &agent.ModelError{Code: models.CodeProviderError, Message: "The script has no step for this request."}
	}
	return step.play(ctx, req, emit)
}

func (s *Script) next(req agent.Request) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Copy(req))
	close(s.came)
	s.came = make(chan struct{})
	if len(s.steps) == 0 {
		return Step{}, false
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return step, true
}

// Copy is a request that shares nothing with req.
func Copy(req agent.Request) agent.Request {
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		req.Messages[i].ToolCalls = slices.Clone(m.ToolCalls)
		if m.Metadata != nil {
			req.Messages[i].Metadata = copyMetadata(*m.Metadata)
		}
	}
	req.Tools = slices.Clone(req.Tools)
	for i, t := range req.Tools {
		req.Tools[i].Parameters = slices.Clone(t.Parameters)
	}
	return req
}

func copyMetadata(m models.ResultMetadata) *models.ResultMetadata {
	var out models.ResultMetadata
	if err := json.Unmarshal([]byte(m.Line()), &out); err != nil {
		panic("agenttest: metadata that does not survive JSON: " + err.Error())
	}
	return &out
}

// Step is one reply of a script. What is set of it is done in the order of the
// fields.
type Step struct {
	Retries   []agent.Retry // announced first
	Reasoning string
	// Chunks are the text, piece by piece, Delay apart.
	Chunks []string
	Delay  time.Duration
	// Hold waits, after the text, until it is closed or the turn is stopped.
	Hold <-chan struct{}
	// Panic is thrown, where it is set.
	Panic  string
	Calls  []models.ToolCall
	Finish models.FinishReason // empty: the reply has none
	Usage  models.Usage
	Err    error // with what has come
}

// Says is a whole answer.
func Says(text string) Step {
	return Step{Chunks: []string{text}, Finish: models.FinishStop}
}

// Cut is an answer that hit the output-token limit.
func Cut(text string) Step {
	return Step{Chunks: []string{text}, Finish: models.FinishLength}
}

// Calls asks for one tool call, without an id.
func Calls(name, arguments string) Step {
	return CallsAll(Call("", name, arguments))
}

// CallsAll asks for several tool calls at once.
func CallsAll(calls ...models.ToolCall) Step {
	return Step{Calls: calls, Finish: models.FinishToolCalls}
}

// CutCalls asks for tool calls in a reply that hit the output-token limit.
func CutCalls(calls ...models.ToolCall) Step {
	return Step{Calls: calls, Finish: models.FinishLength}
}

// Call is a tool call for the two above.
func Call(id, name, arguments string) models.ToolCall {
	return models.ToolCall{ID: id, Name: name, Arguments: arguments}
}

// Fails is a request that is refused before anything came.
func Fails(err error) Step { return Step{Err: err} }

// Breaks is an answer that breaks off after the text.
func Breaks(text string) Step {
	return Step{Chunks: []string{text}, Err: &agent.ModelError{Code: models.CodeStreamBroken, Message: "The answer broke off.", Broken: true}}
}

// Streams is an answer in pieces, delay apart.
func Streams(chunks []string, delay time.Duration) Step {
	return Step{Chunks: chunks, Delay: delay, Finish: models.FinishStop}
}

// Blocks is an answer that comes to its end when release is closed.
func Blocks(text string, release <-chan struct{}) Step {
	return Step{Chunks: []string{text}, Hold: release, Finish: models.FinishStop}
}

func (s Step) play(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	for _, r := range s.Retries {
		if req.OnRetry != nil {
			req.OnRetry(r)
		}
	}
	reply := agent.Reply{Reasoning: s.Reasoning, Model: "scripted", Usage: s.Usage}
	if s.Reasoning != "" {
		emit(agent.Delta{Reasoning: s.Reasoning})
	}
	text, err := s.stream(ctx, emit)
	reply.Content = text
	if err != nil {
		return reply, err
	}
	if s.Panic != "" {
		panic(s.Panic)
	}
	for i, c := range s.Calls {
		emit(agent.Delta{Call: &agent.CallDelta{Index: i, Name: c.Name, Arguments: c.Arguments}})
	}
	reply.ToolCalls, reply.FinishReason = slices.Clone(s.Calls), s.Finish
	return reply, s.Err
}

// stream emits the text and returns what of it has come.
func (s Step) stream(ctx context.Context, emit func(agent.Delta)) (string, error) {
	var text []byte
	for _, chunk := range s.Chunks {
		if err := sleep(ctx, s.Delay); err != nil {
			return string(text), err
		}
		if chunk != "" {
			emit(agent.Delta{Text: chunk})
		}
		text = append(text, chunk...)
	}
	if s.Hold == nil {
		return string(text), nil
	}
	select {
	case <-s.Hold:
		return string(text), nil
	case <-ctx.Done():
		return string(text), ctx.Err()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
