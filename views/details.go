package views

import "time"

// Details is what a session is and has used.
type Details struct {
	CreatedAt time.Time
	UpdatedAt time.Time
	Used      []UsageLine // by model
	Total     UsageLine
}
