package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/models"
)

// errTimeout is the cause with which a command ends whose time is over.
var errTimeout = errors.New("the command's time is over")

// command is a command that runs. It does not end with its call's context by
// itself: a call that was moved to the background leaves it running.
type command struct {
	call      agent.Call
	recording *retain.Recording
	ctx       context.Context
	end       context.CancelCauseFunc
	timer     *time.Timer // ends it after its time; nil: it has none
	// confinement is what the metadata say of it while it runs.
	confinement models.ResultMetadata
	// leave unties it from the call's context; false: that has ended it.
	leave func() bool
	done  chan struct{} // closed when it has ended, and exit and err say how
	exit  sandbox.Exit
	err   error // it never began
}

// prepare makes a command that launch begins. It goes on until it ends, the
// timeout passes (0: none), its end is called, or the call's context is done.
func (t runCommand) prepare(ctx context.Context, call agent.Call, line string, timeout time.Duration) *command {
	own, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &command{
		call: call, ctx: own, end: end, done: make(chan struct{}),
		recording:   t.keeper.Record(own, call, titleOf(line)),
		confinement: confinement(t.sandbox.Confined() && !t.network, t.sandbox.Kind()),
		leave:       context.AfterFunc(ctx, func() { end(context.Cause(ctx)) }),
	}
	if timeout > 0 {
		c.timer = time.AfterFunc(timeout, func() { end(errTimeout) })
	}
	return c
}

// launch lets the command begin.
func (t runCommand) launch(c *command, line string) {
	go func() {
		defer close(c.done)
		defer t.written(c.call.OwnerID)
		defer func() {
			if fault := recover(); fault != nil {
				c.err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
			}
		}()
		c.exit, c.err = t.sandbox.Run(c.ctx, sandbox.Spec{
			Command:   line,
			Workspace: c.call.Workspace,
			Network:   t.network,
			Check:     t.room.exceeded(c.call.OwnerID),
			Stdout:    c.recording.Stdout(),
			Stderr:    c.recording.Stderr(),
		})
	}()
}

// wait is the way of a command in the foreground: its result is that of its
// end, unless a person moves it to the background before.
func (c *command) wait(ctx context.Context) (agent.ToolResult, error) {
	var asked <-chan struct{}
	if c.call.Background != nil {
		asked = c.call.Background.Asked()
	}
	select {
	case <-c.done:
	case <-asked:
		if c.leave() {
			return c.move(ctx), nil
		}
		<-c.done
	}
	return c.finish(ctx)
}

// finish is the result of a command that has ended.
func (c *command) finish(ctx context.Context) (agent.ToolResult, error) {
	defer c.release()
	// What had come is stored also where the call was stopped.
	exit := c.ending()
	result := c.recording.Finish(context.WithoutCancel(ctx), endingOf(exit), metadataOf(exit))
	if c.err != nil {
		slog.ErrorContext(ctx, "command did not start", "session", c.call.SessionID, "call", c.call.ID, "error", c.err)
		return agent.ToolResult{}, refusef("The command did not start: " + agent.NotSetUp + ". An admin finds the reason in the log.")
	}
	if exit.Limit != "" {
		result.Content += "\n(the command was ended: " + exit.Limit + ")"
	}
	return result, nil
}

// release lets go of what waits for the command's end.
func (c *command) release() {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.leave()
	c.end(nil)
}

// ending is how it ended; its time is kept here and not by the sandbox.
func (c *command) ending() sandbox.Exit {
	exit := c.exit
	if exit.Stopped && errors.Is(context.Cause(c.ctx), errTimeout) {
		exit.Stopped, exit.TimedOut = false, true
	}
	return exit
}

func endingOf(exit sandbox.Exit) retain.Ending {
	switch {
	case exit.Stopped:
		return retain.Stopped
	case exit.TimedOut:
		return retain.TimedOut
	}
	return retain.Exited
}

func metadataOf(exit sandbox.Exit) models.ResultMetadata {
	meta := confinement(exit.Confined, exit.Kind)
	meta.ExecutionMS = models.Ptr(exit.Duration.Milliseconds())
	meta.Signal, meta.TimedOut, meta.ExitCode = exit.Signal, exit.TimedOut, exitCode(exit)
	return meta
}

// confinement is what the metadata say of the sandbox.
func confinement(confined bool, kind string) models.ResultMetadata {
	meta := models.ResultMetadata{Sandbox: &confined}
	if kind != sandbox.KindNone {
		meta.SandboxKind = kind
	}
	return meta
}

// exitCode is nil where the command did not exit by itself.
func exitCode(exit sandbox.Exit) *int {
	if exit.Signal != "" || exit.TimedOut || exit.Stopped {
		return nil
	}
	return &exit.Code
}
