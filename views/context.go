package views

import (
	"context"
	"strconv"
)

// Meter says how much of the model's context window a conversation takes. It is
// not shown where either figure is 0: not known.
type Meter struct {
	Used, Window int64 // tokens
	// SessionID is whose meter it is.
	SessionID string
}

func (v Meter) known() bool { return v.Used > 0 && v.Window > 0 }

// dash is the filled part of the meter's ring, whose length is 100.
func (v Meter) dash() string {
	percent := int64(100)
	if v.Used < v.Window {
		percent = 100 * v.Used / v.Window
	}
	return strconv.FormatInt(max(1, percent), 10) + " 100"
}

func (v Meter) text(ctx context.Context) string {
	return rich(ctx, "context.used", "used", thousands(min(v.Used, v.Window)), "window", thousands(v.Window))
}

func (v Meter) exact(ctx context.Context) string {
	return t(ctx, "context.exact", "used", exact(min(v.Used, v.Window)), "window", exact(v.Window))
}

// thousands writes a number of tokens with at most three figures: 41203 is 41k.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9950:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	case n < 999_500:
		return strconv.FormatInt((n+500)/1000, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// Fold is the place in a conversation up to which its model is sent a summary.
type Fold struct {
	TurnID   string // the last that the summary covers
	Messages int
	Outputs  int
	// Plain: no model wrote the summary; it lists what was asked.
	Plain bool
}

func (v Fold) text(ctx context.Context) string {
	key := "context.fold"
	if v.Plain {
		key = "context.fold.plain"
	}
	whole := t(ctx, "context.fold.whole")
	if v.Outputs > 0 {
		whole = t(ctx, "context.fold.outputs", "n", v.Outputs, "count", exact(v.Outputs))
	}
	return t(ctx, key, "n", v.Messages, "count", exact(v.Messages)) + " " + whole
}
