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
}

func newScriptCalls(parent agent.Call) *scriptCalls {
	return &scriptCalls{parent: parent, calls: map[int]models.NestedCall{}, kept: map[int]models.NestedOutput{}}
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

// run runs one call, and notes it.
func (s *scriptCalls) run(ctx context.Context, made script.Call) script.Answer {
	tool, ok := s.parent.Tools.Tool(made.Tool)
	if !ok || made.Tool == runScriptName {
		return script.Answer{Error: fmt.Sprintf("There is no tool named %q in a script.", made.Tool)}
	}
	call := agent.Call{
		ID: models.NestedCallID(s.parent.ID, made.N), Parent: s.parent.ID,
		SessionID: s.parent.SessionID, OwnerID: s.parent.OwnerID, TurnID: s.parent.TurnID,
		Tool: made.Tool, Workspace: s.parent.Workspace, Arguments: made.Arguments, Gate: s.parent.Gate,
		Live: func(string, int64) {}, Made: func(models.NestedCall) {},
	}
	note := models.NestedCall{ID: call.ID, Tool: call.Tool, Arguments: brief(call.Arguments), State: models.CallRunning}
	s.note(made.N, note)
	begun := time.Now()
	result := runNested(ctx, tool, call)
	if result.Metadata.ExecutionMS == nil {
		result.Metadata.ExecutionMS = models.Ptr(time.Since(begun).Milliseconds())
	}
	result.Metadata.IsError = result.IsError
	s.keep(made, result.Metadata)
	s.note(made.N, ended(note, result.Metadata, ctx.Err() != nil))
	if result.IsError {
		return script.Answer{Error: result.Content}
	}
	return script.Answer{Value: scriptValue(call.Tool, result)}
}

// runNested runs a tool. Neither a panic nor the text of an error reaches the
// script.
func runNested(ctx context.Context, tool agent.Tool, call agent.Call) (result agent.ToolResult) {
	log := slog.With("tool", call.Tool, "call", call.ID, "session", call.SessionID)
	defer func() {
		if fault := recover(); fault != nil {
			log.ErrorContext(ctx, "a tool panicked", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			result = agent.ErrorResult(call.ID, serverFault, call.Tool)
		}
	}()
	result, err := tool.Run(ctx, call)
	switch {
	case err != nil && ctx.Err() != nil:
		return agent.EffectsUnknown(call.ID, context.Cause(ctx))
	case err != nil:
		log.ErrorContext(ctx, "a tool failed", "error", err)
		return agent.ErrorResult(call.ID, serverFault, call.Tool)
	}
	return result
}

// note takes a call as it starts and as it ends.
func (s *scriptCalls) note(n int, call models.NestedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[n] = call
	s.parent.Made(call)
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

// ended is a call with how it ended.
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
