package tools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"offcut/agent"
	"offcut/agent/sandbox"
	"offcut/models"
)

// What the result of a call says whose command goes on; the output_id is put
// into it.
const (
	startedText = "(The command runs in the background. read_tool_output with output_id %s reads what it has printed so far, and says when and how it has ended.)"
	movedText   = "(The user moved this command to the background: it goes on, and your answer ended here. read_tool_output with output_id %s reads what it prints, and says when and how it has ended.)"
)

// startInBackground runs a command that its call does not wait for. Nothing is
// started of which the output could not be kept.
func (t runCommand) startInBackground(ctx context.Context, call agent.Call, args runCommandArgs) (agent.ToolResult, error) {
	if call.Background == nil {
		return agent.ToolResult{}, refusef("The command was not started: here a command cannot go on in the background. Run it without background.")
	}
	if err := call.Background.Reserve(); err != nil {
		return agent.ToolResult{}, refusef("The command was not started: %s", err)
	}
	timeout := time.Duration(0)
	if given(call.Arguments, "timeout_s") {
		timeout = time.Duration(args.Timeout) * time.Second
	}
	c := t.prepare(ctx, call, args.Command, timeout)
	if err := c.recording.Keep(ctx); err != nil {
		_, _ = c.finish(ctx)
		return agent.ToolResult{}, refusef("The command was not started: what it prints could not be kept (%s).", err)
	}
	if !c.leave() {
		_, _ = c.finish(ctx)
		return agent.NotStarted(call.ID, context.Cause(ctx)), nil
	}
	over := call.Background.Detach(c.recording.OutputID(), c.end)
	meta := c.confinement
	meta.Background = models.BackgroundStarted
	result := c.recording.Soon(startedText, nil, meta)
	t.launch(c, args.Command)
	go c.outlive(over)
	return result, nil
}

// given: the call itself names the argument.
func given(arguments json.RawMessage, name string) bool {
	var object map[string]any
	return json.Unmarshal(arguments, &object) == nil && object[name] != nil
}

// move lets a running command go on in the background. Its time has no end
// there: who moved it wants it to go on.
func (c *command) move(ctx context.Context) agent.ToolResult {
	if c.timer != nil {
		c.timer.Stop()
	}
	over := c.call.Background.Detach(c.recording.OutputID(), c.end)
	saved := c.recording.Keep(ctx)
	meta := c.confinement
	meta.Background = models.BackgroundMoved
	result := c.recording.SoFar(movedText, saved, meta)
	if ctx.Err() != nil {
		c.end(context.Cause(ctx)) // stopped before it was there
	}
	go c.outlive(over)
	return result
}

// outlive waits for the end of a command whose call has its result already, and
// stores how it ended.
func (c *command) outlive(over func(models.CallState)) {
	<-c.done
	defer c.release()
	log := slog.With("session", c.call.SessionID, "call", c.call.ID, "output", c.recording.OutputID())
	if c.err != nil {
		log.Error("background command did not start", "error", c.err)
	}
	exit := c.ending()
	how := c.endOf(exit)
	if err := c.recording.End(context.Background(), endingOf(exit), how); err != nil {
		log.Error("the end of a background command was not stored", "error", err)
	}
	over(how.CallState())
}

// endOf is how a command ended that was in the background.
func (c *command) endOf(exit sandbox.Exit) models.CommandEnd {
	how := models.CommandEnd{State: models.StateDone, ExitCode: exitCode(exit), Signal: exit.Signal, TimedOut: exit.TimedOut, Limit: exit.Limit}
	switch {
	case c.err != nil:
		how.ExitCode, how.Limit = nil, "it could not be set up on the server, whose log says why"
	case exit.Stopped && errors.Is(context.Cause(c.ctx), agent.ErrShutdown):
		how.State = models.StateInterrupted
	case exit.Stopped:
		how.State = models.StateStopped
	}
	return how
}
