package events

import (
	"time"

	"offcut/models"
)

// Live is what has come of a session's running turn and need not be stored
// yet, at one moment: with everything up to and including the event Seq.
//
// A page is made from a Live that was taken before the stored messages were
// read, and watches on from Seq. A reply that the store has as running and that
// is not this MessageID began later: its text comes whole with the events, so
// that the page leaves it empty.
type Live struct {
	Seq int64
	// TurnID is the running turn; empty where none runs.
	TurnID string
	// MessageID is the reply that is being written; empty between replies. Where
	// the output-token limit cut it off it is written on by the next reply: they
	// are one text, under the id of the first.
	MessageID string
	// HTML is what was rendered of the reply, Rest the plain text after it. Of a
	// long reply HTML is only the end: it stands for the bytes From to Upto. Of
	// long reasoning there is the end too.
	HTML       string
	From, Upto int64
	Rest       string
	Reasoning  string
	// Calls are those of the turn, and those that go on in the background
	// whatever turn runs, each in the order in which they were started.
	Calls []LiveCall
	// Retry is the wait before the model's server is asked again; nil where the
	// turn does not wait.
	Retry *LiveRetry
}

// LiveRetry is a wait for the next try, Attempt of Most.
type LiveRetry struct {
	Until         time.Time
	Attempt, Most int
	Reason        string
}

// LiveCall is a tool call that runs.
type LiveCall struct {
	CallID string
	// Tail is the end of what it printed, at most 64 KiB of Bytes.
	Tail      string
	Bytes     int64
	StartedAt time.Time
	// Movable: it can go on in the background, or does already.
	Movable bool
	// Nested are the calls that it made, in the order of their starts.
	Nested []models.NestedCall
}
