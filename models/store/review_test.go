package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/models"
)

// reviewOf is the list of all sessions that q asks for.
func reviewOf(s *Store, q models.ReviewQuery) func(context.Context, models.Page) ([]models.SessionStats, string, error) {
	return func(ctx context.Context, p models.Page) ([]models.SessionStats, string, error) {
		q.Page = p
		return s.ReviewSessions(ctx, q)
	}
}

func TestAllSessionsAreSortedAndNarrowed(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "ses_a", start)
	addSession(t, s, "ann", "ses_b", start.Add(time.Hour))
	addSession(t, s, "bob", "ses_c", start.Add(2*time.Hour))
	got(s.UpdateSession(t.Context(), "bob", "ses_c", models.SessionPatch{Archived: models.Ptr(true), Title: models.Ptr("50% off")}, start.Add(2*time.Hour)))(t)
	got(s.UpdateSession(t.Context(), "ann", "ses_b", models.SessionPatch{Title: models.Ptr("über den Tag")}, start.Add(time.Hour)))(t)
	got(s.UpdateSession(t.Context(), "ann", "ses_a", models.SessionPatch{Pinned: models.Ptr(true)}, start))(t)
	keep(t, s, "ses_a", "out_1", make([]byte, 100))
	keep(t, s, "ses_a", "out_2", make([]byte, 200))
	keep(t, s, "ses_b", "out_3", make([]byte, 5000))
	say(t, s, run(t, s, "ses_b", "one", start.Add(time.Hour)), "answer")

	for name, c := range map[string]struct {
		q    models.ReviewQuery
		want []string
	}{
		"by use":           {models.ReviewQuery{}, []string{"ses_c", "ses_b", "ses_a"}},
		"oldest first":     {models.ReviewQuery{Ascending: true}, []string{"ses_a", "ses_b", "ses_c"}},
		"by bytes":         {models.ReviewQuery{Order: models.ByBytes}, []string{"ses_b", "ses_a", "ses_c"}},
		"by outputs":       {models.ReviewQuery{Order: models.ByOutputs}, []string{"ses_a", "ses_b", "ses_c"}},
		"by messages":      {models.ReviewQuery{Order: models.ByMessages}, []string{"ses_b", "ses_c", "ses_a"}},
		"an owner's":       {models.ReviewQuery{OwnerID: "ann"}, []string{"ses_b", "ses_a"}},
		"archived":         {models.ReviewQuery{Archived: models.Ptr(true)}, []string{"ses_c"}},
		"not archived":     {models.ReviewQuery{Archived: models.Ptr(false), Order: models.ByBytes}, []string{"ses_b", "ses_a"}},
		"a title":          {models.ReviewQuery{Text: "50%"}, []string{"ses_c"}},
		"a name":           {models.ReviewQuery{Text: "an"}, []string{"ses_b", "ses_a"}},
		"in any case":      {models.ReviewQuery{Text: "ÜBER"}, []string{"ses_b"}},
		"title and name":   {models.ReviewQuery{Text: "tag AN"}, []string{"ses_b"}},
		"a word of none":   {models.ReviewQuery{Text: "tag bob"}, nil},
		"pinned first":     {models.ReviewQuery{Order: models.ByPinned}, []string{"ses_a", "ses_c", "ses_b"}},
		"pinned last":      {models.ReviewQuery{Order: models.ByPinned, Ascending: true}, []string{"ses_b", "ses_c", "ses_a"}},
		"an owner's pins":  {models.ReviewQuery{Order: models.ByPinned, OwnerID: "ann"}, []string{"ses_a", "ses_b"}},
		"not used lately":  {models.ReviewQuery{UsedBefore: start.Add(time.Hour)}, []string{"ses_a"}},
		"nobody's session": {models.ReviewQuery{OwnerID: "carl"}, nil},
	} {
		for _, limit := range []int{1, 2, 50} {
			t.Run(fmt.Sprintf("%s, %d a page", name, limit), func(t *testing.T) {
				var ids []string
				for _, one := range all(t, limit, reviewOf(s, c.q)) {
					ids = append(ids, one.ID)
				}
				if !slices.Equal(ids, c.want) {
					t.Errorf("found %v, want %v", ids, c.want)
				}
			})
		}
	}
	_, _, err := s.ReviewSessions(t.Context(), models.ReviewQuery{Order: "title"})
	wantKind(t, err, models.ErrMalformed, "malformed_parameter")
}

// A list of one user's sessions costs what that user has.
func TestSessionsOfAnOwnerAreFoundByTheirIndex(t *testing.T) {
	s := openNew(t)
	seen := watch(t, s.readers)
	for order, index := range map[models.SessionOrder]string{models.ByUse: "sessions_owner_use", models.ByPinned: "sessions_owner"} {
		before := len(seen())
		_, _, err := s.ReviewSessions(t.Context(), models.ReviewQuery{OwnerID: "ann", Order: order, Ascending: true})
		must(t, err)
		for _, one := range seen()[before:] {
			if steps := strings.Join(explain(t, s, one), "; "); !strings.Contains(steps, index+" (owner_id=?") {
				t.Errorf("%s is read by %s", order, steps)
			}
		}
	}
}

func TestTheFiguresOfASessionKeepUp(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	sizes := func() string {
		t.Helper()
		list := got(s.SessionsByID(ctx, []string{"s", "gone"}))(t)
		if len(list) != 1 {
			t.Fatalf("%d sessions", len(list))
		}
		return fmt.Sprintf("%d messages, %d outputs, %d bytes", list[0].Messages, list[0].Outputs, list[0].OutputBytes)
	}
	check := func(after, want string) {
		t.Helper()
		if is := sizes(); is != want {
			t.Errorf("after %s: %s, want %s", after, is, want)
		}
	}
	text := func() int64 { return got(s.SessionsByID(ctx, []string{"s"}))(t)[0].TextBytes }
	check("nothing", "0 messages, 0 outputs, 0 bytes")
	turn := run(t, s, "s", "one", start)
	say(t, s, turn, "two")
	check("two messages", "2 messages, 0 outputs, 0 bytes")
	if is := text(); is != 2*messageRoom+6 {
		t.Errorf("two messages of three bytes count %d", is)
	}
	keep(t, s, "s", "o1", make([]byte, 70000))
	keep(t, s, "s", "o2", make([]byte, 30))
	check("two outputs", "2 messages, 2 outputs, 70030 bytes")
	must(t, s.DeleteOutput(ctx, "s", "o1", start))
	check("one is deleted", "2 messages, 1 outputs, 30 bytes")
	must(t, s.DropOutput(ctx, "s", "o2"))
	check("one is dropped", "2 messages, 0 outputs, 0 bytes")
	finish(t, s, turn, models.StateDone, start)
	fork := got(s.ForkSession(ctx, "ann", "s", "", start))(t)
	if list := got(s.SessionsByID(ctx, []string{fork.ID}))(t); list[0].Messages != 2 || list[0].Outputs != 0 || list[0].TextBytes != text() {
		t.Errorf("the fork has %+v", list[0])
	}
	must(t, s.DeleteSession(ctx, "s"))
	if list := got(s.SessionsByID(ctx, []string{"s"}))(t); len(list) != 0 {
		t.Error("it is still listed")
	}
}
