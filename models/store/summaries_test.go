package store

import (
	"errors"
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

// A turn reads the newest summary of its own path, and what comes behind it.
func TestATurnIsReadFromItsLastSummaryOn(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	var turns []models.Turn
	for _, content := range []string{"one", "two", "three"} {
		turn := run(t, s, "s", content, start)
		finish(t, s, turn, models.StateDone, start)
		turns = append(turns, turn)
	}
	for i, content := range []string{"Of one.", "Of both."} {
		must(t, s.SaveSummary(t.Context(), models.Summary{SessionID: "s", UptoTurn: turns[i].ID, Content: content, CreatedAt: start}))
	}
	last := run(t, s, "s", "four", start)
	if found := got(s.LastSummary(t.Context(), "s", last.ID))(t); found.Content != "Of both." || found.UptoTurn != turns[1].ID {
		t.Errorf("%+v", found)
	}
	if rest := contents(got(s.Rest(t.Context(), "s", turns[1].ID, last.ID))(t)); !slices.Equal(rest, []string{"three", "four"}) {
		t.Errorf("%q", rest)
	}
	if found := got(s.LastSummary(t.Context(), "s", turns[1].ID))(t); found.Content != "Of one." {
		t.Errorf("a turn that is covered itself: %+v", found)
	}
	finish(t, s, last, models.StateDone, start)
	edited, _, _, err := s.Enqueue(t.Context(), models.NewTurn{SessionID: "s", OwnerID: "ann", Replaces: turns[1].ID, Content: "two, edited", Now: later(5)})
	must(t, err)
	if found := got(s.LastSummary(t.Context(), "s", edited.ID))(t); found.Content != "Of one." {
		t.Errorf("another version: %+v", found)
	}
	if _, err = s.LastSummary(t.Context(), "s", turns[0].ID); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("before the first turn: %v", err)
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
