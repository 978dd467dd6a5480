package retain

import (
	"context"
	"io"

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

// Recording takes what one command prints, and makes its result.
type Recording struct{}

// Record starts the recording of a command. The title says for people what
// ran.
func (k *Keeper) Record(ctx context.Context, call agent.Call, title string) *Recording {
	return &Recording{}
}

// Stdout and Stderr take what the command prints, from one goroutine each.
// They never fail, and never wait for the database.
func (r *Recording) Stdout() io.Writer { return io.Discard }

// Stderr is the other stream; see Stdout.
func (r *Recording) Stderr() io.Writer { return io.Discard }

// Finish ends the recording and returns the result: meta with all that
// concerns the copy filled in, and the body. It must be called once, after the
// last write, and never fails: a copy that cannot be saved is said so in the
// result.
func (r *Recording) Finish(ctx context.Context, end Ending, meta models.ResultMetadata) agent.ToolResult {
	return agent.ToolResult{Metadata: meta}
}
