package models

import "time"

// SessionOrder is what a list of all sessions is sorted by.
type SessionOrder string

// The orders.
const (
	ByUse      SessionOrder = "use" // when it was used last
	ByMessages SessionOrder = "messages"
	ByOutputs  SessionOrder = "outputs"
	ByBytes    SessionOrder = "bytes" // of kept outputs
	// ByPinned is that of a user's own list: pinned ones first, then when they were
	// used last.
	ByPinned SessionOrder = "pinned"
)

// Valid reports whether o is one of the orders.
func (o SessionOrder) Valid() bool {
	switch o {
	case ByUse, ByMessages, ByOutputs, ByBytes, ByPinned:
		return true
	}
	return false
}

// ReviewQuery asks for a page of everybody's sessions, for those who review
// them. An empty field asks for all.
type ReviewQuery struct {
	OwnerID    string
	Text       string // words that are all found, each in the title or the owner's name
	Archived   *bool
	UsedBefore time.Time
	Order      SessionOrder // empty: ByUse
	Ascending  bool         // the least or oldest first
	Page
}

// ReviewTotals are the sessions that fit a ReviewQuery, on all its pages.
type ReviewTotals struct {
	Sessions int64
	Bytes    int64 // of kept outputs
}
