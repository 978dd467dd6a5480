package agent

import (
	"fmt"

	"offcut/models"
)

// Background is where a call's work can go on after the call has its result. It
// belongs to whoever runs the turns, and outlives the turn.
type Background interface {
	// Reserve takes a place there for a call that asks for it. The error, a
	// sentence, says why there is none.
	Reserve() error
	// Asked is closed once a person asked that the running call go on there; a
	// place is reserved then.
	Asked() <-chan struct{}
	// Detach hands the work over, with the output_id of its copy: from here on
	// it does not end with the call's context. end ends it, with the reason as
	// its cause; it may be called at once, and more than once. over is to be
	// called when the work has ended and what it printed is stored.
	Detach(outputID string, end func(cause error)) (over func(models.CallState))
}

// BackgroundNote begins the hidden message that tells the model, after one of a
// person, about the commands in the background.
const BackgroundNote = "[Commands of this session in the background, as Offcut tells; read_tool_output reads what they print:"

// errMoved is why what comes after a moved command in a reply is not started.
var errMoved = fmt.Errorf("a command was moved to the background: %w", ErrStopped)

// moved reports whether a person moved the call of a result to the background:
// the turn ends with it.
func moved(result models.Message) bool {
	return result.Metadata != nil && result.Metadata.Background == models.BackgroundMoved
}
