package store

import (
	"testing"

	"offcut/models"

	gocmp "github.com/google/go-cmp/cmp"
	"gorm.io/gorm"
)

func restsOn(t testing.TB, s *Store, session, turn string) []models.Ground {
	t.Helper()
	return got(s.Grounds(t.Context(), session, []string{turn}))(t)[turn]
}

func TestWhatAnAnswerRestsOnIsStoredWithItsTurn(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "other", start)
	turn := run(t, s, "s", "build", start)
	keep(t, s, "s", "out_log", make([]byte, 1000))
	shown := models.Ground{OutputID: "out_log", TotalBytes: 7, Seen: []models.Range{{Start: 0, End: 10}, {Start: 990, End: 1000}}, SeenBytes: 20}
	proves(t, s, turn, models.Proof{Grounds: []models.Ground{shown}, SetGrounds: true})

	// The last request of a turn is what counts, and what nothing was said of stays.
	taken := models.Ground{OutputID: "res_a", Tool: "read_file", TotalBytes: 90, Complete: true, Taken: []models.Range{{Start: 1, End: 90}}, TakenBytes: 89, Earlier: true, Queried: true, Searched: true, Sought: []models.Sought{{Pattern: "E1.", Regexp: true}}}
	proves(t, s, turn, models.Proof{Grounds: []models.Ground{shown, taken}, SetGrounds: true})
	proves(t, s, turn, models.Proof{})
	finish(t, s, turn, models.StateDone, later(1))
	want := []models.Ground{shown, taken}
	want[0].Tool, want[0].Title, want[0].TotalBytes, want[0].Complete = "run_command", "make", 1000, true
	want[0].Taken, want[1].Seen, want[1].Gone = []models.Range{}, []models.Range{}, true
	want[0].Sought = []models.Sought{}
	if diff := gocmp.Diff(want, restsOn(t, s, "s", turn.ID)); diff != "" {
		t.Error(diff)
	}
	if foreign := restsOn(t, s, "other", turn.ID); len(foreign) != 0 {
		t.Errorf("under another session the turn rests on %+v", foreign)
	}

	// A deleted output is gone; that the answer rested on it is not.
	must(t, s.DeleteOutput(ctx, "s", "out_log", later(2)))
	want[0].Gone = true
	if diff := gocmp.Diff(want, restsOn(t, s, "s", turn.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestAForkTellsOnWhatItsAnswersRest(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "build", start)
	keep(t, s, "s", "out_log", make([]byte, 1000))
	first := say(t, s, turn, "I look.", "c1")
	reply(t, s, turn, "c1", "…")
	proves(t, s, turn, models.Proof{Grounds: []models.Ground{{OutputID: "out_log", SeenBytes: 20, Seen: []models.Range{{Start: 0, End: 20}}}}, SetGrounds: true})
	finish(t, s, turn, models.StateDone, later(1))
	for name, test := range map[string]struct {
		upto string
		want int
	}{"of all": {"", 1}, "of a part of the answer": {first.ID, 0}} {
		fork := got(s.ForkSession(ctx, "ann", "s", test.upto, later(2)))(t)
		messages, _, err := s.Messages(ctx, models.MessageQuery{SessionID: fork.ID})
		must(t, err)
		grounds := restsOn(t, s, fork.ID, messages[0].TurnID)
		if len(grounds) != test.want {
			t.Fatalf("the answer in a fork %s rests on %+v", name, grounds)
		}
		for _, g := range grounds {
			if !g.Gone || g.SeenBytes != 20 || g.TotalBytes != 1000 || g.Title != "make" {
				t.Errorf("the answer in a fork rests on %+v", g)
			}
		}
	}
	must(t, s.DeleteSession(ctx, "s"))
	var left int64
	must(t, s.read(ctx, "count", func(db *gorm.DB) error { return db.Table("grounds").Count(&left).Error }))
	if left != 1 {
		t.Errorf("%d grounds are left after the session was deleted, want that of the fork", left)
	}
}
