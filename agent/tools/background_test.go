package tools

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/agent"
	"offcut/models"
)

// behind is the background of one call, as a runner has it.
type behind struct {
	full  error
	asked chan struct{}

	mu       sync.Mutex
	outputID string
	end      func(error)
	over     chan models.CallState
}

func newBehind() *behind {
	return &behind{asked: make(chan struct{}), over: make(chan models.CallState, 1)}
}

func (b *behind) Reserve() error         { return b.full }
func (b *behind) Asked() <-chan struct{} { return b.asked }

func (b *behind) Detach(outputID string, end func(error)) func(models.CallState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outputID, b.end = outputID, end
	return func(s models.CallState) { b.over <- s }
}

// ended waits for the end of the command.
func (b *behind) ended(t *testing.T) models.CallState {
	t.Helper()
	select {
	case state := <-b.over:
		return state
	case <-time.After(patience):
		t.Fatal("the command does not end")
		return ""
	}
}

// in runs a command with a background, under a context of its own.
func (b *bench) in(ctx context.Context, place agent.Background, args arguments) agent.ToolResult {
	b.t.Helper()
	b.ctx, b.background = ctx, place
	defer func() { b.ctx, b.background = b.t.Context(), nil }()
	return b.call("run_command", args)
}

func (b *bench) output(id string) models.RetainedOutput {
	b.t.Helper()
	o, err := b.store.Output(b.t.Context(), "s1", id)
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func TestACommandInTheBackgroundOutlivesItsCall(t *testing.T) {
	b, place := newBench(t), newBehind()
	ctx, cancel := context.WithCancel(t.Context())
	got := b.in(ctx, place, arguments{"command": "while ! test -e go; do sleep 0.02; done; echo went; exit 3", "background": true})
	cancel() // as when the turn has ended
	if m := got.Metadata; m.Background != models.BackgroundStarted || m.OutputID != place.outputID || *m.Complete || m.ExitCode != nil || m.Sandbox == nil {
		t.Fatalf("the result is %q, %s", got.Content, m.Line())
	}
	b.write("go", "")
	if state := place.ended(t); state != models.CallError {
		t.Errorf("it ended as %s", state)
	}
	read := b.ok("read_tool_output", arguments{"output_id": place.outputID})
	if m := read.Metadata; read.Content != "went\n" || m.Background != models.BackgroundEnded || *m.ExitCode != 3 || !*m.Complete {
		t.Errorf("its output is %q, %s", read.Content, m.Line())
	}
}

// stopsFirst is a background whose call is stopped before its command begins.
type stopsFirst struct {
	*behind
	stop func()
}

func (s stopsFirst) Reserve() error {
	s.stop()
	return nil
}

func TestACommandThatNeverBeganInTheBackgroundLeavesNothing(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	got := b.in(ctx, stopsFirst{newBehind(), func() { cancel(agent.ErrStopped) }}, arguments{"command": "touch ran", "background": true})
	if !strings.Contains(got.Content, "not started") || got.Metadata.OutputID != "" {
		t.Errorf("the result is %q, %s", got.Content, got.Metadata.Line())
	}
	kept, _, err := b.store.Outputs(t.Context(), "s1", models.Page{})
	if err != nil || len(kept) != 0 {
		t.Errorf("kept are %+v, %v", kept, err)
	}
}

func TestHowACommandInTheBackgroundEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		args  arguments
		cause error
		state models.CallState
		check func(models.CommandEnd) bool
	}{
		"by a stop":       {arguments{"command": "sleep 60"}, agent.ErrStopped, models.CallStopped, func(e models.CommandEnd) bool { return e.ExitCode == nil && e.Signal == "" }},
		"with the server": {arguments{"command": "sleep 60"}, agent.ErrShutdown, models.CallInterrupted, func(e models.CommandEnd) bool { return e.State == models.StateInterrupted }},
		"by its own time": {arguments{"command": "sleep 60", "timeout_s": 1}, nil, models.CallError, func(e models.CommandEnd) bool { return e.TimedOut && e.State == models.StateDone }},
		"by a signal":     {arguments{"command": "kill -9 $$"}, nil, models.CallError, func(e models.CommandEnd) bool { return e.Signal == "SIGKILL" }},
		"by itself":       {arguments{"command": "true"}, nil, models.CallOK, func(e models.CommandEnd) bool { return *e.ExitCode == 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			b, place := newBench(t), newBehind()
			tt.args["background"] = true
			b.in(t.Context(), place, tt.args)
			if tt.cause != nil {
				place.end(tt.cause)
			}
			if state := place.ended(t); state != tt.state {
				t.Errorf("it ended as %s", state)
			}
			if end := b.output(place.outputID).End; end == nil || !tt.check(*end) {
				t.Errorf("its end is stored as %+v", end)
			}
		})
	}
}

func TestARunningCommandThatIsMovedLosesItsTimeout(t *testing.T) {
	b, place := newBench(t), newBehind()
	ctx, cancel := context.WithCancelCause(t.Context())
	b.live = func(string, int64) {
		select {
		case <-place.asked:
		default:
			close(place.asked)
		}
	}
	got := b.in(ctx, place, arguments{"command": "echo so far; sleep 1.5; echo and on", "timeout_s": 1})
	cancel(agent.ErrStopped)
	if m := got.Metadata; !strings.HasPrefix(got.Content, "so far\n(The user moved") || m.Background != models.BackgroundMoved || m.TimedOut || m.OutputID != place.outputID {
		t.Fatalf("the result is %q, %s", got.Content, m.Line())
	}
	if state := place.ended(t); state != models.CallOK {
		t.Errorf("it ended as %s", state)
	}
	if o := b.output(place.outputID); o.TotalBytes != int64(len("so far\nand on\n")) || !o.Complete {
		t.Errorf("its output is %+v", o)
	}
}

func TestWhatDoesNotStartInTheBackground(t *testing.T) {
	room := int64(1)
	b := newBench(t, func(o *Options) {
		o.Room = func(context.Context, string) (int64, error) { return room, nil }
	})
	args := arguments{"command": "touch ran", "background": true}
	for name, tt := range map[string]struct {
		place agent.Background
		room  int64
		words string
	}{
		"where there is no background": {nil, 1, "cannot go on in the background"},
		"where it has no place":        {&behind{full: errors.New("8 commands run in the background.")}, 1, "8 commands run"},
		"where the storage is full":    {newBehind(), 0, "storage of this user is full"},
	} {
		room = tt.room
		got := b.in(t.Context(), tt.place, args)
		if !got.IsError || !strings.Contains(got.Content, tt.words) {
			t.Errorf("%s: %q", name, got.Content)
		}
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("it ran")
	}
}
