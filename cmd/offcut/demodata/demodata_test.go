package demodata

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"offcut/models"
	"offcut/models/store"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 11, 30, 17, 0, 0, 0, time.UTC)

func open(t *testing.T) (*store.Store, Options) {
	t.Helper()
	db, err := store.Open(t.Context(), t.TempDir(), store.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	admin := models.User{ID: "usr_admin", Name: "admin", Role: models.RoleAdmin, CreatedAt: now}
	must(t, db.CreateUser(t.Context(), admin))
	folder := t.TempDir()
	return db, Options{Seed: 1, Days: 7, Owner: admin, Workspace: func(string) (string, error) { return folder, nil }, Now: now}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryTopicPlaysToItsEnd plays each topic whole: the loop asks for just the
// steps that the story has.
func TestEveryTopicPlaysToItsEnd(t *testing.T) {
	for _, about := range topics {
		t.Run(about.name, func(t *testing.T) {
			db, o := open(t)
			h, err := newHouse(db, o.Workspace, &clock{at: now}, func(most time.Duration) time.Duration { return most })
			must(t, err)
			defer func() { must(t, h.close(t.Context())) }()
			sess := models.Session{ID: "ses_one", OwnerID: o.Owner.ID, CreatedAt: now, UpdatedAt: now}
			must(t, db.CreateSession(t.Context(), sess))
			told := &teller{Rand: rand.New(rand.NewPCG(7, 7)), day: now}
			for _, tell := range about.turns {
				must(t, h.play(t.Context(), sess, cast[0], tell(told)))
				if left := len(h.actor.steps); left > 0 {
					t.Errorf("%d steps of a turn were not asked for", left)
				}
			}
		})
	}
}

// said is what a database holds, without what differs: ids.
func said(t *testing.T, db *store.Store) (all []string) {
	t.Helper()
	sessions, _, err := db.Sessions(t.Context(), models.SessionQuery{Page: models.Page{Limit: models.MaxPageLimit}})
	must(t, err)
	for _, s := range sessions {
		messages, _, err := db.Messages(t.Context(), models.MessageQuery{SessionID: s.ID, Page: models.Page{Limit: models.MaxPageLimit}})
		must(t, err)
		for _, m := range messages {
			if m.Role == models.RolePerson || m.Role == models.RoleAssistant {
				all = append(all, strings.Join([]string{m.CreatedAt.UTC().Format(time.DateTime), s.OwnerName, s.Title, m.Model, m.Content}, " | "))
			}
		}
	}
	return all
}

func TestTheSameSeedMakesTheSame(t *testing.T) {
	var made [2][]string
	for i := range made {
		db, o := open(t)
		count, err := Seed(t.Context(), db, o)
		must(t, err)
		if count.Sessions < 15 || count.Turns < count.Sessions || count.Users != len(people) {
			t.Errorf("made %+v", count)
		}
		made[i] = said(t, db)
	}
	if diff := cmp.Diff(made[0], made[1]); diff != "" {
		t.Errorf("the second time it is\n%.2000s", diff)
	}
}

func TestTheFiguresOfWeeksLookLikeThoseOfWork(t *testing.T) {
	db, o := open(t)
	o.Days, o.Messages = 35, 500
	_, err := Seed(t.Context(), db, o)
	must(t, err)
	f, err := db.FiguresTotal(t.Context(), models.FiguresQuery{})
	must(t, err)
	for what, n := range map[string]int64{
		"calls": f.Calls, "cut": f.Truncated, "hidden": f.Hidden(), "read later": f.Recovered, "consulted": f.Consulted, "asked again": f.Reruns,
		"incomplete": f.Incomplete, "failed saves": f.FailedSaves, "repaired": f.Repaired, "refused": f.Refused,
		"continuations": f.Continuations, "cap hits": f.CapHits, "retries": f.Retries,
	} {
		if n == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
	days, err := db.FiguresByDays(t.Context(), models.FiguresQuery{})
	must(t, err)
	if len(days) < 20 || days[0].Day < "2026-10-26" || days[len(days)-1].Day > "2026-11-30" {
		t.Errorf("the figures are of %d days, from %s to %s", len(days), days[0].Day, days[len(days)-1].Day)
	}
	total, err := db.UsageTotal(t.Context(), models.UsageQuery{})
	must(t, err)
	if total.Cost == 0 || total.CachedTokens == 0 {
		t.Errorf("the usage is %+v", total)
	}
	stats, _, err := db.SessionStats(t.Context(), models.SessionQuery{OwnerID: o.Owner.ID, Text: longTitle, Page: models.Page{Limit: 1}})
	must(t, err)
	if len(stats) != 1 || stats[0].Messages != 500 {
		t.Errorf("the long conversation is %+v", stats)
	}
}
