package views

import (
	"context"
	"net/url"
	"time"
)

// AdminSessions is the page of everybody's sessions.
type AdminSessions struct {
	Filter SessionFilter
	Rows   []AdminSession
	Steps  Steps
	Total  AdminTotal
	// Deleted and Failed are how many sessions the page was left with: gone, and
	// still there.
	Deleted, Failed int
}

// AdminTotal is how many sessions fit the filter, on all pages, and how much they
// keep.
type AdminTotal struct {
	Sessions int64
	Bytes    int64 // of kept outputs
}

// SessionFilter is which sessions are shown, in which order, by the parameters
// of the address.
type SessionFilter struct {
	Query     string // in the title or the owner's name
	Owner     string // a user's name
	Archived  string // true, false or empty
	Unused    string // for so many days, or empty
	Order     string // use, messages, outputs or bytes
	Ascending bool
}

// Params are the parameters of an address that asks for the same.
func (f SessionFilter) Params() url.Values {
	params := url.Values{}
	for name, value := range map[string]string{
		"q": f.Query, "owner": f.Owner, "archived": f.Archived, "unused": f.Unused, "sort": f.Order,
	} {
		if value != "" {
			params.Set(name, value)
		}
	}
	if f.Ascending {
		params.Set("ascending", "true")
	}
	return params
}

// sortedBy is the address of the same list in another order; of the order that
// it has, the other way round.
func (f SessionFilter) sortedBy(order string) string {
	f.Ascending = f.Order == order && !f.Ascending
	f.Order = order
	return addressOf("/admin/sessions", f.Params())
}

func (f SessionFilter) direction(order string) string {
	switch {
	case f.Order != order:
		return ""
	case f.Ascending:
		return "ascending"
	}
	return "descending"
}

// unusedDays are the choices of the filter by last use.
var unusedDays = []string{"30", "90", "365"}

// AdminSession is a session as an administrator sees it.
type AdminSession struct {
	ID, Title, Owner          string
	Running, Archived, Pinned bool
	Messages, Outputs         int
	OutputBytes, TextBytes    int64
	Files                     int64 // bytes in the workspace; -1: not known
	UsedAt                    time.Time
}

func (s AdminSession) title(ctx context.Context) string {
	if s.Title == "" {
		return t(ctx, "session.untitled")
	}
	return s.Title
}

// bytes is what its removal frees.
func (s AdminSession) bytes() int64 { return s.TextBytes + s.OutputBytes + max(0, s.Files) }

// AdminGoes says what a deletion of sessions takes with it.
type AdminGoes struct {
	Sessions []AdminSession
	Back     string // the parameters of the list that one comes back to
}

// namedInDialog is how many sessions a dialog names.
const namedInDialog = 5

func (g AdminGoes) named() []AdminSession { return g.Sessions[:min(namedInDialog, len(g.Sessions))] }

func (g AdminGoes) unnamed() int { return len(g.Sessions) - len(g.named()) }

func (g AdminGoes) running() (n int) {
	for _, s := range g.Sessions {
		if s.Running {
			n++
		}
	}
	return n
}

// export is the address of all of them as JSON.
func (g AdminGoes) export() string {
	params := url.Values{}
	for _, s := range g.Sessions {
		params.Add("id", s.ID)
	}
	return addressOf("/admin/sessions/export", params)
}

// total is the figures of all of them together.
func (g AdminGoes) total() (sum AdminSession) {
	for _, s := range g.Sessions {
		sum.Messages += s.Messages
		sum.Outputs += s.Outputs
		sum.OutputBytes += s.OutputBytes
		sum.TextBytes += s.TextBytes
		sum.Files += max(0, s.Files)
	}
	return sum
}

// addressBack is the list of sessions with the parameters that it had.
func addressBack(params string) string {
	if params == "" {
		return "/admin/sessions"
	}
	return "/admin/sessions?" + params
}
