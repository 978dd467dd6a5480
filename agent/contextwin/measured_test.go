package contextwin_test

import (
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

func TestTheProvidersCountIsBelieved(t *testing.T) {
	req := agent.Request{System: strings.Repeat("s", 400), Messages: []models.Message{user(strings.Repeat("q", 3600), models.StateDone)}}
	estimate := int64(contextwin.Estimate(req)) // 1,008
	for name, test := range map[string]struct {
		counted int64
		want    int // tokens left, by the estimate
	}{
		"twice as much":           {2 * estimate, (8000 - 2000) / 2},
		"less":                    {estimate / 2, 8000 - 2000},
		"nothing":                 {0, 8000 - 2000},
		"more than one each byte": {1000 * estimate, (8000 - 2000) / 4},
	} {
		t.Run(name, func(t *testing.T) {
			book := &notebook{}
			window := contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: 8000, MaxOutputTokens: 2000}, Memory: book})
			window.Fit(t.Context(), req)
			window.Measured(test.counted)
			if _, left := window.Fit(t.Context(), req); left != test.want-int(estimate) {
				t.Errorf("%d left, want %d", left, test.want-int(estimate))
			}
			next := contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: 8000, MaxOutputTokens: 2000, Scale: book.scale}})
			if _, left := next.Fit(t.Context(), req); left != test.want-int(estimate) {
				t.Errorf("%d left in the next turn", left)
			}
		})
	}
}
