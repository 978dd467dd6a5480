package agent

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"offcut/models"
)

// uniqueCalls gives each call an id that the session has not seen and that is
// safe wherever it is written: providers leave ids out, use them again, and
// make them of any characters. Calls without a name are fragments of a reply
// that broke off, and are left out.
func (l *Loop) uniqueCalls(ctx context.Context, calls []models.ToolCall) ([]models.ToolCall, error) {
	var unique []models.ToolCall
	var ids []string
	for _, c := range calls {
		if c.Name == "" {
			continue
		}
		unique = append(unique, c)
		if plainID(c.ID) {
			ids = append(ids, c.ID)
		}
	}
	if len(unique) == 0 {
		return nil, nil
	}
	used, err := l.Journal.UsedCallIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, c := range unique {
		if !plainID(c.ID) || seen[c.ID] || used[c.ID] {
			unique[i].ID = models.NewID(models.PrefixCall)
		}
		seen[unique[i].ID] = true
	}
	return unique, nil
}

// maxIDBytes bounds an id that a provider chose. Most have about 30 characters.
const maxIDBytes = 64

// plainID: an id stands as it is wherever ids stand. Some providers' ids do not,
// such as "functions.run_command:0" of Kimi, and Anthropic takes back no others
// (^[a-zA-Z0-9_-]+$).
func plainID(id string) bool { return len(id) <= maxIDBytes && models.PlainID(id) }

// answer gives each call of the reply exactly one result, in the order of the
// calls, and stores them. The calls of a reply that broke off are not run. Its
// error ends the turn.
//
// What comes of them is what would come of one call after the other: a call
// that can change something runs alone, between those that the model wrote
// before it and those that it wrote behind it. Edits of one file would else
// undo each other, and a command would not find what was written for it. Calls
// without effects that stand together run at the same time.
//
// About the calls that somebody has to allow they are asked all at once. While
// the turn waits for an answer nothing of it runs, and what ran is stored: it
// can be left there, and taken up again.
func (l *Loop) answer(ctx context.Context, s step, broke error, same *repeats) ([]models.Message, error) {
	keep := context.WithoutCancel(ctx)
	out := results{loop: l, calls: s.calls, same: same, messages: make([]models.Message, len(s.calls))}
	budget := callBudget(s.left, len(s.calls))
	asked, err := l.askAll(ctx, s, budget, broke)
	if err != nil {
		return nil, err
	}
	gate := make(chan struct{}, max(1, l.Limits.ParallelCalls))
	var group sync.WaitGroup
	parted := false // a person moved a call to the background: nothing more is started
	for i, c := range s.calls {
		if c.changes() || asked[i] != nil {
			group.Wait()
		}
		tool, why := c.tool, broke
		if why == nil && parted {
			why = errMoved
		}
		if why == nil && asked[i] != nil {
			if err := out.store(keep, i); err != nil {
				return nil, err
			}
			if tool, err = asked[i](ctx); err != nil && ctx.Err() == nil {
				return nil, err
			}
		}
		if why == nil {
			why = enter(ctx, gate)
		}
		if why != nil {
			out.messages[i] = l.unrun(c.ToolCall, why)
			continue
		}
		group.Go(func() {
			defer func() { <-gate }()
			out.messages[i] = l.run(ctx, s.reply.ID, c, tool, budget)
		})
		if c.changes() {
			group.Wait()
			parted = moved(out.messages[i])
		}
	}
	group.Wait()
	return out.messages, out.store(keep, len(s.calls))
}

// askAll puts the calls to somebody who has to allow them: nil for those that
// run without.
func (l *Loop) askAll(ctx context.Context, s step, budget int, broke error) ([]func(context.Context) (Tool, error), error) {
	asked := make([]func(context.Context) (Tool, error), len(s.calls))
	for i, c := range s.calls {
		asker, asks := c.tool.(Asker)
		if broke != nil || c.refused != nil || !asks {
			continue
		}
		var err error
		if asked[i], err = asker.Ask(ctx, l.call(c, budget)); err != nil {
			return nil, err
		}
	}
	return asked, nil
}

// call is one as its tool sees it.
func (l *Loop) call(c prepared, budget int) Call {
	return Call{
		ID: c.ID, SessionID: l.Turn.SessionID, OwnerID: l.Turn.OwnerID, TurnID: l.Turn.ID, Tool: c.Name,
		Workspace: l.Workspace, Arguments: []byte(c.Arguments), Budget: budget, Tools: l.Tools, Gate: l.Journal,
		Live: func(string, int64) {},
		Made: func(made models.NestedCall) { l.Journal.Nested(c.ID, made) },
	}
}

// enter waits for a place in the gate; its error says why there will be none.
func enter(ctx context.Context, gate chan struct{}) error {
	select {
	case gate <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		<-gate
		return context.Cause(ctx)
	}
	return nil
}

// run runs one call to its result, or to the end of its patience after a stop.
func (l *Loop) run(ctx context.Context, replyID string, c prepared, tool Tool, budget int) models.Message {
	if c.refused != nil {
		m := l.resultMessage(c.ToolCall, *c.refused)
		l.Journal.CallEnded(c.ToolCall, m)
		return m
	}
	call := l.call(c, budget)
	ctx, call.Live, call.Background = l.Journal.CallStarted(ctx, replyID, c.ToolCall, c.tool.Spec().Movable)
	start := time.Now()
	result := l.await(ctx, tool, call)
	if result.Metadata.ExecutionMS == nil {
		result.Metadata.ExecutionMS = models.Ptr(time.Since(start).Milliseconds())
	}
	cause := context.Cause(ctx)
	cut := cause != nil && !finished(result)
	if cut {
		result = tellUnknown(result, cause)
	}
	if c.Completed {
		result = tellCompleted(result) // its line is the last one
	}
	m := l.resultMessage(c.ToolCall, result)
	if cut {
		m.State = Ending(cause).State
	}
	l.Journal.CallEnded(c.ToolCall, m)
	return m
}

// await runs a tool, and after a stop waits for it only so long.
func (l *Loop) await(ctx context.Context, tool Tool, c Call) ToolResult {
	var kept atomic.Pointer[string]
	c.Kept = func(outputID string) { kept.Store(&outputID) }
	done := make(chan ToolResult, 1)
	go func() { done <- l.runTool(ctx, tool, c) }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	select {
	case result := <-done:
		return result
	case <-time.After(l.Limits.StopGrace):
		result := EffectsUnknown(c.ID, context.Cause(ctx))
		if id := kept.Load(); id != nil {
			result.Metadata.Truncated = true // the body shows nothing of the copy
			result.Metadata.Retention, result.Metadata.OutputID = models.RetentionKept, *id
			result.Metadata.Complete = models.Ptr(false)
		}
		return result
	}
}

// finished: the tool did its work although it was told to stop.
func finished(r ToolResult) bool {
	return r.Metadata.ExitCode != nil && *r.Metadata.ExitCode == 0
}

// runTool runs the tool. Neither a panic nor the text of an error reaches the
// model: both go to the log.
func (l *Loop) runTool(ctx context.Context, tool Tool, c Call) (result ToolResult) {
	log := l.logger().With("tool", c.Tool, "call", c.ID, "turn", c.TurnID, "session", c.SessionID)
	defer func() {
		if p := recover(); p != nil {
			log.Error("a tool panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result = serverFailure(c.ID)
		}
	}()
	result, err := tool.Run(ctx, c)
	switch {
	case err != nil && ctx.Err() != nil:
		return EffectsUnknown(c.ID, context.Cause(ctx))
	case err != nil:
		log.Error("a tool failed", "error", err)
		return serverFailure(c.ID)
	}
	return result
}

func (l *Loop) logger() *slog.Logger {
	if l.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.Log
}

// unrun is the result of a call that was never started.
func (l *Loop) unrun(c models.ToolCall, why error) models.Message {
	m := l.resultMessage(c, NotStarted(c.ID, why))
	m.State = Ending(why).State
	l.Journal.CallEnded(c, m)
	return m
}

// resultMessage is the stored form of a result.
func (l *Loop) resultMessage(c models.ToolCall, r ToolResult) models.Message {
	m := l.message(models.RoleTool)
	m.ToolCallID, m.Content = c.ID, r.Content
	meta := r.Metadata
	meta.IsError = meta.IsError || r.IsError
	if meta.Retention == "" {
		meta.Retention = models.RetentionNotNeeded
	}
	m.Metadata = &meta
	return m
}

// minCallBudget is the least that a call may show, however many share a round.
const minCallBudget = 2048

// callBudget shares a quarter of what is left of the window, in tokens, among
// the calls of one round, in bytes; 0: no bound, since the window is not known.
func callBudget(left, calls int) int {
	if left < 0 || calls == 0 {
		return 0
	}
	return max(minCallBudget, left*BytesPerToken/4/calls)
}
