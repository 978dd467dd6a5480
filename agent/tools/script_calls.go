package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/script"
	"offcut/models"
)

// scriptCalls are the calls of one script. They are calls like the model's: the
// same tools with the same decorators run them.
type scriptCalls struct {
	parent agent.Call
	mu     sync.Mutex
	calls  map[int]models.NestedCall // by their number
	kept   map[int]models.NestedOutput
	// searches are those that went through all of an output.
	searches map[int]soughtInScript
}

func newScriptCalls(parent agent.Call) *scriptCalls {
	return &scriptCalls{parent: parent, calls: map[int]models.NestedCall{}, kept: map[int]models.NestedOutput{}, searches: map[int]soughtInScript{}}
}

// scriptTools are the names under which a script finds tools.
func scriptTools(specs []agent.ToolSpec) []string {
	var names []string
	for _, spec := range specs {
		if spec.Name != runScriptName {
			names = append(names, spec.Name)
		}
	}
	return names
}

// serverFault is what a script is told of a failure that it cannot mend.
const serverFault = "%s failed because of a fault in Offcut, which was logged. Try another way."

// begin begins one call: somebody is asked about it, where somebody has to allow
// it, before the next one begins.
func (s *scriptCalls) begin(ctx context.Context, made script.Call) func() script.Answer {
	tool, ok := s.parent.Tools.Tool(made.Tool)
	if !ok || made.Tool == runScriptName {
		return func() script.Answer {
			return script.Answer{Error: fmt.Sprintf("There is no tool named %q in a script.", made.Tool)}
		}
	}
	call := agent.Call{
		ID: models.NestedCallID(s.parent.ID, made.N), Parent: s.parent.ID,
		SessionID: s.parent.SessionID, OwnerID: s.parent.OwnerID, TurnID: s.parent.TurnID,
		Tool: made.Tool, Workspace: s.parent.Workspace, Arguments: made.Arguments, Gate: s.parent.Gate,
		Live: func(string, int64) {}, Made: func(models.NestedCall) {},
	}
	note := models.NestedCall{ID: call.ID, Tool: call.Tool, Arguments: brief(call.Arguments), State: models.CallWaiting, Unstarted: true}
	wait, err := asked(ctx, tool, call)
	if wait != nil {
		s.note(made.N, note)
	}
	return func() script.Answer {
		if err == nil && wait != nil {
			tool, err = wait(ctx)
		}
		switch {
		case ctx.Err() != nil:
			note.State = models.CallStopped
			s.note(made.N, note)
			return script.Answer{Error: agent.NotStarted(call.ID, context.Cause(ctx)).Content}
		case err != nil:
			return s.end(ctx, made, note, failed(ctx, call, err))
		}
		note.State, note.Unstarted = models.CallRunning, false
		s.note(made.N, note)
		return s.end(ctx, made, note, runNested(ctx, tool, call))
	}
}

// asked puts a call to somebody, where somebody has to allow it: wait is nil
// where nobody has to.
func asked(ctx context.Context, tool agent.Tool, call agent.Call) (wait func(context.Context) (agent.Tool, error), err error) {
	asker, asks := tool.(agent.Asker)
	if !asks || ctx.Err() != nil {
		return nil, nil
	}
	return asker.Ask(ctx, call)
}

// end notes how a call ended, and tells the script.
func (s *scriptCalls) end(ctx context.Context, made script.Call, note models.NestedCall, result agent.ToolResult) script.Answer {
	meta := &result.Metadata
	meta.IsError = meta.IsError || result.IsError
	s.keep(made, *meta)
	note = ended(note, *meta, ctx.Err() != nil)
	meta.Passage = models.Ptr(models.PassageOf(models.Message{Content: result.Content, Metadata: meta}, nil))
	result, cut := fitted(result)
	s.sought(made, result)
	if !note.Unstarted {
		note.Result = &models.NestedResult{Arguments: string(made.Arguments), Metadata: result.Metadata}
	}
	s.note(made.N, note)
	if result.IsError {
		return script.Answer{Error: result.Content}
	}
	return script.Answer{Value: scriptValue(note.Tool, result, cut)}
}

// runNested runs a tool. Neither a panic nor the text of an error reaches the
// script.
func runNested(ctx context.Context, tool agent.Tool, call agent.Call) (result agent.ToolResult) {
	begun := time.Now()
	defer func() {
		if fault := recover(); fault != nil {
			slog.ErrorContext(ctx, "a tool panicked", "tool", call.Tool, "call", call.ID, "session", call.SessionID,
				"panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			result = agent.ErrorResult(call.ID, serverFault, call.Tool)
		}
		if result.Metadata.ExecutionMS == nil {
			result.Metadata.ExecutionMS = models.Ptr(time.Since(begun).Milliseconds())
		}
	}()
	result, err := tool.Run(ctx, call)
	if err != nil {
		return failed(ctx, call, err)
	}
	return result
}

// failed is the result of a call that failed for what no script can mend.
func failed(ctx context.Context, call agent.Call, err error) agent.ToolResult {
	if ctx.Err() != nil {
		return agent.EffectsUnknown(call.ID, context.Cause(ctx))
	}
	slog.ErrorContext(ctx, "a tool failed", "tool", call.Tool, "call", call.ID, "session", call.SessionID, "error", err)
	return agent.ErrorResult(call.ID, serverFault, call.Tool)
}

// note takes a call as it starts and as it ends. What it came to is for the
// figures, which take it now: it holds the call's arguments, and those of all
// calls together can have any size.
func (s *scriptCalls) note(n int, call models.NestedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parent.Made(call)
	call.Result = nil
	s.calls[n] = call
}

// keep notes the copy of what a call returned, or that there is none where
// there should be one. A page of a copy is none.
func (s *scriptCalls) keep(call script.Call, meta models.ResultMetadata) {
	if meta.Retention != models.RetentionKept && meta.Retention != models.RetentionFailed {
		return
	}
	output := models.NestedOutput{Tool: call.Tool, OutputID: meta.OutputID, TotalBytes: meta.TotalBytes, Complete: meta.Complete}
	if meta.Retention == models.RetentionFailed {
		output.Retention, output.RetentionError = meta.Retention, meta.RetentionError
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[call.N] = output
}

// made are all calls, and the copies of what they returned, in the order of the
// calls.
func (s *scriptCalls) made() (calls []models.NestedCall, kept []models.NestedOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(s.calls)) {
		calls = append(calls, s.calls[n])
		if output, ok := s.kept[n]; ok {
			kept = append(kept, output)
		}
	}
	return calls, kept
}

// ended is a call with how it ended. Of one that was told to stop only the end
// of its command tells that it came to it.
func ended(call models.NestedCall, meta models.ResultMetadata, stopped bool) models.NestedCall {
	call.State = models.Message{Metadata: &meta}.CallState()
	if stopped && meta.ExitCode == nil {
		call.State = models.CallStopped
	}
	call.IsError, call.ExitCode, call.Signal, call.TimedOut = meta.IsError, meta.ExitCode, meta.Signal, meta.TimedOut
	call.ExecutionMS = meta.ExecutionMS
	call.Unsaved = meta.Retention == models.RetentionFailed
	if meta.Retention == models.RetentionKept {
		call.OutputID, call.TotalBytes, call.Complete = meta.OutputID, meta.TotalBytes, meta.Complete
	}
	return call
}

// The bounds of the arguments that people are shown of a call within a script,
// in bytes: of one text, and of all.
const (
	briefText = 200
	briefAll  = 1000
)

// brief is arguments for people, in which long texts are shortened.
func brief(arguments json.RawMessage) string {
	var object map[string]any
	if json.Unmarshal(arguments, &object) != nil {
		return "{}"
	}
	for name, value := range object {
		if text, isText := value.(string); isText && len(text) > briefText {
			object[name] = clean(text[:briefText]) + " …"
		}
	}
	short, err := json.Marshal(object)
	if err != nil || len(short) > briefAll {
		return "{}"
	}
	return string(short)
}
