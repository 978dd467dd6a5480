package models

import "time"

// SearchPart is where among one's sessions a search looks for its words.
type SearchPart string

// The parts of sessions.
const (
	SearchAll      SearchPart = ""
	SearchTitles   SearchPart = "titles"
	SearchMessages SearchPart = "messages" // what people and models said
	SearchOutputs  SearchPart = "outputs"  // what tools returned, as far as the model was shown it
)

// Valid reports whether p is one of the parts.
func (p SearchPart) Valid() bool {
	return p == SearchAll || p == SearchTitles || p == SearchMessages || p == SearchOutputs
}

// Place is a message in which words of a search stand.
type Place struct {
	MessageID string
	SessionID string
	TurnID    string
	Shown     bool // false: it belongs to a version that is not shown
	Role      Role
	Content   string
	CreatedAt time.Time
}

// Storage is what an owner stores.
type Storage struct {
	Since      time.Time // when the oldest session was begun; zero: there is none
	Sessions   int
	Archived   int // of the sessions
	Outputs    int
	UsedBytes  int64
	QuotaBytes int64
}
