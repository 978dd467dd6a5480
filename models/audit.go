package models

import "time"

// AuditQuery asks for a page of the audit log, newest first. An empty field
// asks for all.
type AuditQuery struct {
	Actor  string // a user's name, as it was then
	Action string // one of the Audit constants, or all that begin with it and a dot, such as session
	Target string // an id
	// From and To are the first moment and the one after the last.
	From, To time.Time
	Page
}
