package agent

import (
	"context"
	"errors"
)

// Deed is what kind of thing a tool does: by it a policy tells the calls apart
// that somebody has to allow. A tool without one only looks at what the session
// has, such as its files and kept outputs, and is never asked about.
type Deed string

// The kinds of deeds.
const (
	DeedCommand Deed = "command" // runs a program
	DeedScript  Deed = "script"  // runs a program of the model's that calls tools
	DeedChange  Deed = "change"  // writes or edits a file
	DeedFetch   Deed = "fetch"   // sends a request to another machine
	DeedRemote  Deed = "remote"  // is done by another server, such as an MCP server
)

// Question is a call that runs once somebody has allowed it.
type Question struct {
	Call Call
	Deed Deed
	// Unconfined: it would run outside the sandbox.
	Unconfined bool
}

// Answer is what came of a question.
type Answer struct {
	// Asked: somebody was asked about this very call. They were not where an
	// earlier answer holds for the whole session.
	Asked   bool
	Allowed bool
}

// Gate puts calls to somebody. Whoever runs calls of tools within a call, under
// ids that are the call's own with something after it, passes its gate on to
// them.
type Gate interface {
	// Ask puts a call to somebody and returns at once. The function waits for
	// the answer; its error is the cause of ctx's end, ErrLeft, or a failure
	// that ends the turn.
	Ask(ctx context.Context, q Question) (wait func(context.Context) (Answer, error), err error)
}

// ErrLeft ends a turn that waits for somebody while the program ends. What it
// waits for has not begun: the next start goes on from there.
var ErrLeft = errors.New("left waiting for an answer")

// Asker is a tool whose calls somebody may have to allow. A loop asks about all
// calls of a reply before the first of them runs.
type Asker interface {
	Tool
	// Ask puts the call to somebody. The function waits for the answer, and
	// returns what is then to run in the tool's place; it is nil where nobody
	// has to be asked. Its errors are those of Gate.
	Ask(ctx context.Context, call Call) (wait func(context.Context) (Tool, error), err error)
}
