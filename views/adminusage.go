package views

import (
	"net/url"
)

// AdminUsage is the page of what was used.
type AdminUsage struct {
	Filter UsageFilter
	Months []string // those of which there is something, such as 2026-11
	Lines  []UsageLine
	Total  UsageLine
	Steps  Steps
}

// UsageFilter is what of it is shown.
type UsageFilter struct {
	Month, User string
	ByDay       bool
}

func (f UsageFilter) csv() string {
	params := url.Values{"by": {"month"}}
	if f.ByDay {
		params.Set("by", "day")
	}
	if f.Month != "" {
		params.Set("month", f.Month)
	}
	if f.User != "" {
		params.Set("user", f.User)
	}
	return addressOf("/admin/usage.csv", params)
}

// UsageLine is what a user used of a model in a period, or a sum of such lines.
type UsageLine struct {
	Period, User, Model                     string
	Turns, Input, Cached, Output, Reasoning int64
	Cost                                    float64
}

// priced reports whether anything cost something.
func (v AdminUsage) priced() bool { return v.Total.Cost > 0 }
