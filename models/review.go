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
)

// Valid reports whether o is one of the orders.
func (o SessionOrder) Valid() bool {
	switch o {
	case ByUse, ByMessages, ByOutputs, ByBytes:
		return true
	}
	return false
}

// ReviewQuery asks for a page of everybody's sessions, for those who review
// them. An empty field asks for all.
type ReviewQuery struct {
	OwnerID    string
	Text       string // found in the title or the owner's name
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
