package views

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"
)

// History is the page of all one's sessions: a list by date, or what a search
// found in them.
type History struct {
	Sidebar Sidebar
	Query   string
	// Archived is the filter: empty for all, true, or false.
	Archived string
	// In is where it is looked for: titles, messages or outputs; empty:
	// everywhere. When is the time: a word of HistoryDays, a month, or empty.
	In, When string
	Months   []time.Time // those that one can choose from
	Groups   []HistoryGroup
	// Sessions and Places are how many a search found on this page.
	Sessions, Places int
	// Next is the cursor of what follows; empty at the end.
	Next string
	// Archive are the first sessions of the archive.
	Archive []SessionItem
	Storage Storage
}

// Storage is what somebody stores, and may store.
type Storage struct {
	Sessions, Archived, Outputs int
	UsedBytes, QuotaBytes       int64
}

// HistoryGroup is one headed part of the list.
type HistoryGroup struct {
	Age Age
	// Month is set of AgeMonth.
	Month time.Time
	Items []HistoryItem
}

// HistoryItem is a session with its figures and what was found in it.
type HistoryItem struct {
	SessionItem
	Archived    bool
	Outputs     int
	OutputBytes int64
	Snips       []Snip
	// More is how many places were found besides.
	More int
}

// Snip is a place that a search found.
type Snip struct {
	SessionID string
	MessageID string
	Role      string // user, assistant or tool
	At        time.Time
	Spans     []Span
	// Elsewhere is the turn that has to be shown for it: the version is not the
	// one that is shown. Empty: it is.
	Elsewhere string
}

// Span is a stretch of an excerpt; Hit: it is what was looked for.
type Span struct {
	Text string
	Hit  bool
}

// GroupHistory puts sessions under their headings: pinned ones, days, and from
// a week on months, all in now's zone. Found ones stand under none.
func GroupHistory(items []HistoryItem, found bool, now time.Time) []HistoryGroup {
	var groups []HistoryGroup
	for _, item := range items {
		group := HistoryGroup{Age: ageOf(item.SessionItem, now)}
		switch {
		case found:
			group.Age = ""
		case group.Age == AgeOlder:
			year, month, _ := item.UpdatedAt.In(now.Location()).Date()
			group = HistoryGroup{Age: AgeMonth, Month: time.Date(year, month, 1, 0, 0, 0, 0, now.Location())}
		}
		if n := len(groups); n == 0 || groups[n-1].Age != group.Age || !groups[n-1].Month.Equal(group.Month) {
			groups = append(groups, group)
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, item)
	}
	return groups
}

func (g HistoryGroup) heading(ctx context.Context) string {
	if g.Age == AgeMonth {
		return monthName(ctx, g.Month)
	}
	return t(ctx, "rail.age."+string(g.Age))
}

// icon is the sign of who said it.
func (s Snip) icon() string {
	switch s.Role {
	case "user":
		return "user"
	case "tool":
		return "cut"
	}
	return "thought"
}

func (s Snip) who(ctx context.Context) string { return t(ctx, "history.by."+s.Role) }

func (i HistoryItem) outputs(ctx context.Context) string {
	if i.Outputs == 0 {
		return t(ctx, "history.outputs.none")
	}
	return t(ctx, "history.outputs", "n", i.Outputs, "count", exact(i.Outputs)) + ", " + rounded(i.OutputBytes)
}

// summary is the heading over what a search found.
func (v History) summary(ctx context.Context) string {
	return t(ctx, "history.places", "n", v.Places, "count", exact(v.Places)) + " " +
		t(ctx, "history.sessions", "n", v.Sessions, "count", exact(v.Sessions))
}

// nextAddress is where the list goes on.
func (v History) nextAddress() string { return v.address(v.Archived, v.Next) }

// HistoryDays are the times that one can choose, in days with this one.
var HistoryDays = map[string]int{"today": 1, "7d": 7, "30d": 30}

// MonthInAddress is how an address names a month.
const MonthInAddress = "2006-01"

// whens are the choices of the time, as an address names them.
func (v History) whens() []string {
	list := []string{"", "today", "7d", "30d"}
	for _, month := range v.Months {
		list = append(list, month.Format(MonthInAddress))
	}
	if !slices.Contains(list, v.When) {
		list = append(list, v.When)
	}
	return list
}

func whenName(ctx context.Context, when string) string {
	month, err := time.Parse(MonthInAddress, when)
	if err != nil {
		return t(ctx, "history.when."+cmp.Or(when, "any"))
	}
	return monthName(ctx, month)
}

func monthName(ctx context.Context, at time.Time) string {
	return t(ctx, "history.month", "month", t(ctx, "history.month."+itoa(int(at.Month()))), "year", itoa(at.Year()))
}

// narrowed reports whether only a part of what there is was looked at.
func (v History) narrowed() bool { return v.In != "" || v.When != "" }

// widened is the same search in all parts and at any time.
func (v History) widened() string {
	v.In, v.When = "", ""
	return v.address(v.Archived, "")
}

func (v History) address(archived, cursor string) string {
	values := url.Values{}
	for name, value := range map[string]string{"q": v.Query, "in": v.In, "when": v.When, "archived": archived, "cursor": cursor} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return "/history"
	}
	return "/history?" + values.Encode()
}

// title is a session's title, or what stands for one that has none.
func (v SessionItem) title(ctx context.Context) string {
	if v.Title == "" {
		return t(ctx, "session.untitled")
	}
	return v.Title
}

// Removal asks whether these sessions are to be deleted.
type Removal struct {
	Sidebar  Sidebar
	Sessions []HistoryItem
	Messages int
	// Outputs and OutputBytes are all of theirs together.
	Outputs     int
	OutputBytes int64
	// Next is where to go afterwards.
	Next string
}

// Notice says on the next page what was done, and how to undo it.
type Notice struct {
	// Text is a key of the catalogue, and Count what it counts.
	Text  string
	Count int
	// Undo is the address that undoes it, given the ids; empty: nothing does.
	Undo string
	IDs  []string
}

// The texts of notices.
const (
	NoticeArchived    = "history.done.archived"
	NoticeRestored    = "history.done.restored"
	NoticeDeleted     = "history.done.deleted"
	NoticeDeletedPart = "history.done.deleted.part"
	NoticeNothing     = "history.done.nothing"
)

func (n Notice) text(ctx context.Context) string {
	return t(ctx, n.Text, "n", n.Count, "count", exact(n.Count))
}

// archivedKey is the end of the catalogue keys of a filter.
func archivedKey(archived string) string {
	switch archived {
	case "true":
		return "archive"
	case "false":
		return "active"
	}
	return "all"
}
