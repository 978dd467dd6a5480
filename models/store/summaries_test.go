package store

import (
	"maps"
	"slices"
	"testing"

	"offcut/models"
)

func TestASummaryIsFoundByTheTurnWithWhichItEnds(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "other", start)
	first := run(t, s, "s", "one", start)
	finish(t, s, first, models.StateDone, start)
	second := run(t, s, "s", "two", start)
	elsewhere := run(t, s, "other", "one", start)
	summary := models.Summary{
		SessionID: "s", UptoTurn: first.ID, Content: "They asked for one.", Messages: 2, Outputs: 1,
		TokensBefore: 900, TokensAfter: 10, Model: "m", CreatedAt: start,
	}
	must(t, s.SaveSummary(t.Context(), summary))
	for name, test := range map[string]struct {
		session string
		turns   []string
		want    []models.Summary
	}{
		"on the path":        {"s", []string{first.ID, second.ID}, []models.Summary{summary}},
		"not on the path":    {"s", []string{second.ID}, nil},
		"of another session": {"other", []string{first.ID, elsewhere.ID}, nil},
		"of no turn":         {"s", nil, nil},
	} {
		if found := got(s.Summaries(t.Context(), test.session, test.turns))(t); !slices.Equal(found, test.want) {
			t.Errorf("%s: %+v", name, found)
		}
	}
	wantKind(t, s.SaveSummary(t.Context(), models.Summary{SessionID: "s", UptoTurn: "never"}), models.ErrNotFound, "turn_not_found")
	must(t, s.DeleteSession(t.Context(), "s"))
	if left := got(s.Summaries(t.Context(), "s", []string{first.ID}))(t); len(left) != 0 {
		t.Errorf("a deleted session left %+v", left)
	}
}

func TestWhatWasShortenedIsRemembered(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	must(t, s.SavePrunings(t.Context(), "s", map[string]int{"a": 1500, "b": 0}))
	must(t, s.SavePrunings(t.Context(), "s", map[string]int{"a": 500}))
	must(t, s.SavePrunings(t.Context(), "s", nil))
	if keep := got(s.Prunings(t.Context(), "s"))(t); !maps.Equal(keep, map[string]int{"a": 500, "b": 0}) {
		t.Errorf("%v", keep)
	}
	if keep := got(s.Prunings(t.Context(), "other"))(t); len(keep) != 0 {
		t.Errorf("another session has %v", keep)
	}
	wantKind(t, s.SavePrunings(t.Context(), "never", map[string]int{"a": 0}), models.ErrNotFound, "session_not_found")
}

func TestATurnRemembersItsPlaceInTheWindow(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "one", start)
	turn.ContextTokens = 41_000
	must(t, s.SaveTurn(t.Context(), turn))
	if again := got(s.AnyTurn(t.Context(), turn.ID))(t); again.ContextTokens != 41_000 {
		t.Errorf("%+v", again)
	}
}
