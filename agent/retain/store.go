package retain

import (
	"context"

	"offcut/models"
)

// Copies is where kept copies are read.
type Copies interface {
	// Output finds a copy by its session and id; models.ErrNotFound where
	// there is none.
	Output(ctx context.Context, sessionID, id string) (models.RetainedOutput, error)
	// ReadOutput reads up to n bytes of one stream; fewer only at its end.
	ReadOutput(ctx context.Context, sessionID, id string, stream models.OutputStream, offset int64, n int) ([]byte, error)
}

// Store is where kept copies lie.
type Store interface {
	Copies
	// CreateOutput adds an empty copy. Where the owner's storage is used up it
	// returns models.ErrTooLarge.
	CreateOutput(ctx context.Context, o models.RetainedOutput) error
	// WriteOutput stores w and the row o together, or neither.
	WriteOutput(ctx context.Context, o models.RetainedOutput, w models.OutputWrite) error
	// DropOutput removes a copy without a trace.
	DropOutput(ctx context.Context, sessionID, id string) error
	// RunningOutputs lists the copies that are still being written.
	RunningOutputs(ctx context.Context) ([]models.RetainedOutput, error)
}

// ReadStore is what can be read again: kept copies, and the stored results of
// calls that were small enough to have none.
type ReadStore interface {
	Copies
	// Call finds a call by its session and id, with the message of its result,
	// which is nil where there is none yet; models.ErrNotFound where there is
	// no such call.
	Call(ctx context.Context, sessionID, callID string) (models.ToolCall, *models.Message, error)
}
