package models

import "time"

// Place is a message in which words of a search stand.
type Place struct {
	MessageID string
	SessionID string
	Role      Role
	Content   string
	CreatedAt time.Time
}

// Places are those of one session: the best of them, and how many there are.
type Places struct {
	Best  []Place
	Total int
}

// Storage is what an owner stores.
type Storage struct {
	Sessions   int
	Archived   int // of the sessions
	Outputs    int
	UsedBytes  int64
	QuotaBytes int64
}
