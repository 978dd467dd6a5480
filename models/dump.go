package models

import "time"

// KeptDumps is how many dumps are kept: the last ones.
const KeptDumps = 20

// Dump is a file about a request that a provider refused as malformed, or as too
// long for the model: what it was sent, and what it answered.
type Dump struct {
	Name      string // of the file, in its folder
	Path      string // on the server
	At        time.Time
	SessionID string
	TurnID    string
	Model     string
	Status    int    // of the provider's answer; 0: it came inside a stream
	Error     string // a sentence, without secrets
	Bytes     int64
}
