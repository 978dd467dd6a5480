package tools

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"offcut/agent"
	"offcut/agent/apart"
	"offcut/agent/retain"
	"offcut/agent/script"
	"offcut/models"
)

//go:embed run_script.md
var runScriptDescription string

// runScriptName is not among the tools that a script finds.
const runScriptName = "run_script"

type runScriptArgs struct {
	Code string `json:"code" jsonschema:"the program: the body of an async function"`
}

type runScript struct {
	keeper  *retain.Keeper
	limits  script.Limits
	running *agent.Places
}

// scripting bounds the scripts at a time, which can take their memory each: to
// half of that of the machine, but to no fewer than small machines carry where
// scripts are as they mostly are, of some 30 MiB. Half of them may be one
// user's. A script waits for a while: the one before may wait for a person.
func scripting(memory, each int64) agent.PlaceLimits {
	all := max(8, int(memory/2/each))
	return agent.PlaceLimits{What: "scripts", PerUser: max(4, all/2), All: all, Patience: 30 * time.Second}
}

func newRunScript(o Options) agent.Tool {
	t := runScript{keeper: o.Keeper, limits: o.Script}
	if t.limits.Time == 0 {
		t.limits.Time = script.DefaultTime
	}
	t.running = agent.NewPlaces(cmp.Or(o.ScriptPlaces, scripting(apart.Memory(), cmp.Or(t.limits.Memory, script.DefaultMemory))))
	return newTyped(agent.ToolSpec{
		Name: runScriptName, Beside: t.describe, HasEffects: true, UnsafeWhenCut: true, Deed: agent.DeedScript,
	}, t.run)
}

// describe is what the model is told of scripts, with the types of the tools
// that they find.
func (t runScript) describe(others []agent.ToolSpec) string {
	text := strings.ReplaceAll(strings.TrimSpace(runScriptDescription), "{time}", fmt.Sprint(int64(t.limits.Time/time.Second)))
	return strings.ReplaceAll(text, "{tools}", signatures(others))
}

func (t runScript) run(ctx context.Context, call agent.Call, args runScriptArgs) (agent.ToolResult, error) {
	switch {
	case call.Parent != "":
		return agent.ToolResult{}, refusef("A script cannot run another one.")
	case strings.TrimSpace(args.Code) == "":
		return agent.ToolResult{}, refusef("The program is empty.")
	case len(args.Code) > script.MaxCodeBytes:
		return agent.ToolResult{}, refusef("The program has %d bytes; at most %d are possible. Write data to a file, and have the program read it.", len(args.Code), script.MaxCodeBytes)
	}
	leave, err := t.running.Enter(ctx, call.OwnerID)
	var busy *models.Error
	switch {
	case errors.As(err, &busy):
		return agent.ToolResult{}, refusef("The script was not run: %s.", busy.Message)
	case err != nil:
		return agent.ToolResult{}, err
	}
	defer leave()
	recording := t.keeper.RecordText(ctx, call, titleOf(args.Code))
	out := &lineWriter{to: recording.Stdout()}
	calls := newScriptCalls(call)
	end, err := script.Run(ctx, script.Program{
		Code: args.Code, Tools: scriptTools(call.Tools.Specs()), Limits: t.limits, Print: out, Begin: calls.begin,
	})
	if err != nil {
		slog.ErrorContext(ctx, "script did not start", "session", call.SessionID, "call", call.ID, "error", err)
		recording.Finish(ctx, retain.Exited, models.ResultMetadata{})
		return agent.ToolResult{}, refusef("The script did not start: " + agent.NotSetUp + ". An admin finds the reason in the log.")
	}
	meta := confinement(end.Confined, end.Kind)
	meta.ExecutionMS = models.Ptr(end.Duration.Milliseconds())
	meta.Calls, meta.Nested = calls.made()
	ending := retain.Exited
	meta.IsError = end.Stopped || end.Error != ""
	if end.Stopped {
		ending = retain.Stopped
	} else {
		out.line(end.Error)
	}
	result := recording.Finish(context.WithoutCancel(ctx), ending, meta)
	calls.tell(result.Metadata.Calls, result.Content)
	if end.Stopped || leftOpen(meta.Calls) {
		result.Content = strings.TrimSuffix(result.Content, "\n") + "\n" + models.NestedNote(meta.Calls)
	}
	return result, nil
}

// leftOpen reports whether a call did not come to its end, or never ran, as the
// script ended before.
func leftOpen(calls []models.NestedCall) bool {
	return slices.ContainsFunc(calls, func(c models.NestedCall) bool { return c.State == models.CallStopped })
}

// lineWriter remembers whether it is within a line.
type lineWriter struct {
	to     io.Writer
	within bool
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.within = p[len(p)-1] != '\n'
	}
	return w.to.Write(p)
}

// line writes text that begins a line, where there is any.
func (w *lineWriter) line(text string) {
	if text != "" && w.within {
		text = "\n" + text
	}
	_, _ = io.WriteString(w, text) // what a recording is given is never refused
}
