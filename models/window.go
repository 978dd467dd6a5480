package models

import "time"

// Window is what the requests of a session have taught of a model's window,
// where that is not what its configuration says.
type Window struct {
	SessionID string
	Model     string // the provider's name of it
	// Tokens is how many it has at most, as its provider refused more; 0: it did
	// not.
	Tokens    int
	RefusedAt time.Time
	// Scale is how many tokens the provider counts for one of the estimate; 0: not
	// known.
	Scale float64
}
