package models

import (
	"errors"
	"math"
	"testing"
)

func TestWhatTokensCost(t *testing.T) {
	used := Usage{InputTokens: 1_000_000, OutputTokens: 200_000, CachedTokens: 600_000, ReasoningTokens: 50_000}
	for _, tt := range []struct {
		name  string
		price Price
		want  float64
	}{
		{"no price", Price{}, 0},
		{"cached input has a price of its own", Price{Input: 3, Output: 15, Cached: Ptr(0.3)}, 0.4*3 + 0.6*0.3 + 0.2*15},
		{"cached input may be free", Price{Input: 3, Output: 15, Cached: Ptr(0.0)}, 0.4*3 + 0.2*15},
		{"without one it costs what other input does", Price{Input: 3, Output: 15}, 3 + 0.2*15},
	} {
		if got := tt.price.Of(used); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", tt.name, got, tt.want)
		}
	}
	odd := Usage{InputTokens: 10, CachedTokens: 20}
	if got := (Price{Input: 1, Cached: Ptr(0.5)}).Of(odd); got < 0 || got > 10e-6 {
		t.Errorf("more cached than sent costs %g", got)
	}
}

func TestMonths(t *testing.T) {
	for month, want := range map[string]error{
		"": nil, "2026-11": nil, "2026-13": ErrMalformed, "2026-1": ErrMalformed, "November": ErrMalformed, "2026-11-30": ErrMalformed,
	} {
		if err := ValidateMonth(month); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", month, err, want)
		}
	}
}
