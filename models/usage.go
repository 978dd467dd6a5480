package models

import (
	"fmt"
	"regexp"
	"time"
)

// Usage counts tokens as the provider reports them.
type Usage struct {
	// InputTokens are those of the requests, the cached ones among them.
	InputTokens int64 `json:"input_tokens"`
	// OutputTokens are those of the replies, reasoning among them.
	OutputTokens    int64 `json:"output_tokens"`
	ReasoningTokens int64 `json:"reasoning_tokens"`
	CachedTokens    int64 `json:"cached_tokens"`
	// Cost is in US dollars; 0 where no price is configured.
	Cost float64 `json:"cost"`
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:     u.InputTokens + v.InputTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens,
		ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		CachedTokens:    u.CachedTokens + v.CachedTokens,
		Cost:            u.Cost + v.Cost,
	}
}

// Tokens are those that were sent and received.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// Price is what a model's tokens cost, in US dollars per million.
type Price struct {
	Input  float64
	Output float64
	// Cached is the price of input that the provider had in its cache; nil:
	// that of other input.
	Cached *float64
}

// perMillion is how many tokens a price is for, as providers list them.
const perMillion = 1_000_000

// Of is what a usage costs, in US dollars.
func (p Price) Of(u Usage) float64 {
	cached, price := min(u.CachedTokens, u.InputTokens), p.Input
	if p.Cached != nil {
		price = *p.Cached
	}
	return (float64(u.InputTokens-cached)*p.Input + float64(cached)*price + float64(u.OutputTokens)*p.Output) / perMillion
}

// UsageSum is what a user used of a model in a period.
type UsageSum struct {
	Period   string // a day as 2026-11-30, or a month as 2026-11; in UTC
	UserID   string
	UserName string
	Model    string // by its name in the configuration
	Turns    int64  // those that ended in the period
	Usage
}

// UsageQuery asks for a page of sums, the newest period first, then by the
// user's name and the model.
type UsageQuery struct {
	Month  string // such as 2026-11; empty: all
	UserID string // empty: all
	ByDay  bool   // one sum for each day; else for each month
	Page
}

var monthForm = regexp.MustCompile(`^\d{4}-\d{2}$`)

// ValidateMonth refuses what is no month such as 2026-11; empty is any.
func ValidateMonth(month string) error {
	if month == "" {
		return nil
	}
	if _, err := time.Parse("2006-01", month); err != nil || !monthForm.MatchString(month) {
		return Errorf(ErrMalformed, "malformed_parameter", "a month is written like 2026-11; %s is none", fmt.Sprintf("%.20q", month)).With("parameter", "month")
	}
	return nil
}
