package retain

import (
	"context"
	"io"
	"sync"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Ending is how a command ended.
type Ending int

// The endings. A copy of a stopped command is never complete; one of a command
// that reached its own time limit is complete as printed.
const (
	Exited Ending = iota
	TimedOut
	Stopped
)

// saveEvery is how often the copy of a running command is written, and how
// long one runs before it is written at all.
const saveEvery = time.Second

// saveTimeout bounds one write at the end of a recording: longer than the
// database waits for its lock.
const saveTimeout = 30 * time.Second

// Recording takes what one command or script prints, and makes its result.
type Recording struct {
	keeper *Keeper
	call   agent.Call
	// terminal: the preview shows what a terminal would.
	terminal bool
	capture  *Capture
	saver    *saver
	wrote    chan struct{}
	ended    chan struct{}
	working  sync.WaitGroup
	saving   sync.Mutex // the saver is used by one at a time
}

// Record starts the recording of a command. The title says for people what
// ran. Finish must be called at the end, whatever happened; once ctx is done
// the rest is left to it.
func (k *Keeper) Record(ctx context.Context, call agent.Call, title string) *Recording {
	return k.record(ctx, &Recording{call: call, terminal: true, capture: NewCapture()}, title)
}

// RecordText is Record for a program that prints text, in one stream and not for
// a terminal.
func (k *Keeper) RecordText(ctx context.Context, call agent.Call, title string) *Recording {
	return k.record(ctx, &Recording{call: call, capture: captureText("")}, title)
}

func (k *Keeper) record(ctx context.Context, r *Recording, title string) *Recording {
	call := r.call
	r.keeper, r.wrote, r.ended = k, make(chan struct{}, 1), make(chan struct{})
	r.capture.wrote = r.wrote
	r.saver = k.newSaver(r.capture, call, title)
	r.working.Go(func() { r.showLive(ctx) })
	r.working.Go(func() { r.saveLive(ctx) })
	return r
}

// Stdout takes what the command prints, from one goroutine. It never fails,
// and never waits for the database.
func (r *Recording) Stdout() io.Writer { return r.capture.Writer(Stdout) }

// Stderr is the other stream; see Stdout.
func (r *Recording) Stderr() io.Writer { return r.capture.Writer(Stderr) }

// Finish ends the recording and returns the result: meta with all that
// concerns the copy filled in, and the body. It must be called once, after the
// last write, and never fails: a copy that cannot be saved is said so in the
// result. It saves although ctx is cancelled.
func (r *Recording) Finish(ctx context.Context, end Ending, meta models.ResultMetadata) agent.ToolResult {
	close(r.ended)
	r.working.Wait()
	budget := r.keeper.cfg.budget(r.call, CommandPreviewBytes)
	shape := previewShape{budget: budget.bytes(), keep: budget.keep, terminal: r.terminal}
	return r.keeper.result(ctx, r.saver, outcome{call: r.call, budget: budget, shape: shape, end: end, meta: meta, printed: true})
}

// showLive passes on what comes, while the command runs and once at its end.
func (r *Recording) showLive(ctx context.Context) {
	var seen [2]int64
	show := func() {
		if text := r.capture.since(&seen); text != "" && r.call.Live != nil {
			r.call.Live(text, r.capture.Bytes())
		}
	}
	for {
		select {
		case <-r.wrote:
			show()
		case <-r.ended:
			show()
			return
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(liveEvery):
		case <-r.ended:
			show()
			return
		}
	}
}

func (r *Recording) save(ctx context.Context) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	return r.saver.run(ctx)
}

// saveLive writes the copy of a command that goes on.
func (r *Recording) saveLive(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			// What fails now is written by the next try, or by Finish, which
			// says so in the result.
			_ = r.save(context.WithoutCancel(ctx))
		case <-r.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}
