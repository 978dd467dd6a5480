package views

import "context"

// NestedCall is a row in a script's card: a call that the script made.
type NestedCall struct {
	ToolCard
	// OutputID is the kept copy of what it returned; empty where there is none.
	OutputID string
	// Unsaved: what it returned could not be kept.
	Unsaved bool
}

// NestedBody is the open card of such a call. Where there is a kept copy it
// holds a page of it.
type NestedBody struct {
	NestedCall
	Parent string // the script's call
	Pager  Pager
}

// Origin is the script within which an output was made.
type Origin struct {
	CallID string
	// OutputID is the kept copy of what the script itself printed; empty where
	// there is none.
	OutputID string
}

// subject is what stands in the row: of a script how many calls it made.
func (v ToolCard) subject(ctx context.Context) string {
	if v.Made == nil {
		return v.Subject
	}
	return t(ctx, "script.calls", "n", *v.Made, "count", exact(int64(*v.Made)))
}
