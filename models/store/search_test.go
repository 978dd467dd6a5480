package store

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"
)

func without(*gorm.DB) (bool, error) { return false, nil }

// openAs opens a store that can keep an index or cannot; able is nil for what
// this program's SQLite can.
func openAs(t testing.TB, dir string, able func(*gorm.DB) (bool, error)) *Store {
	t.Helper()
	if able == nil {
		able = hasFTS5
	}
	s, err := openWith(t.Context(), dir, Options{Log: slog.New(slog.DiscardHandler)}, able)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() }) // some close it themselves
	return s
}

// indexAll indexes what can be.
func indexAll(t testing.TB, s *Store) {
	t.Helper()
	for more := true; more; {
		more = got(s.indexSome(t.Context()))(t)
	}
}

// everyWay runs a story with all in the index, with nothing in it yet, and
// without one. A program without FTS5 runs the last alone.
func everyWay(t *testing.T, story func(t *testing.T, s *Store, settle func())) {
	t.Run("looked through", func(t *testing.T) {
		s := openAs(t, t.TempDir(), without)
		addUsers(t, s)
		story(t, s, func() {})
	})
	s := openNew(t)
	if !s.indexed {
		return
	}
	t.Run("indexed", func(t *testing.T) { story(t, s, func() { indexAll(t, s) }) })
	t.Run("not indexed yet", func(t *testing.T) {
		s := openNew(t)
		s.indexer.stop()
		story(t, s, func() {})
	})
}

// titled adds a session of an owner with a title.
func titled(t testing.TB, s *Store, owner, id, title string, second int) {
	t.Helper()
	must(t, s.CreateSession(t.Context(), models.Session{ID: id, OwnerID: owner, Title: title, CreatedAt: later(second)}))
}

// found is the ids of an owner's sessions that a search finds, in their order.
func foundBy(t testing.TB, s *Store, owner, text string) string {
	t.Helper()
	list, _, err := s.Sessions(t.Context(), models.SessionQuery{OwnerID: owner, Text: text})
	must(t, err)
	var ids []string
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

func TestASearchFindsWordsWhereverTheyStand(t *testing.T) {
	everyWay(t, func(t *testing.T, s *Store, settle func()) {
		titled(t, s, "ann", "title", "Release build fails", 1)
		titled(t, s, "ann", "said", "", 2)
		turn := run(t, s, "said", "十一月的发票导出里没有合计行 with 100% of a_b 'quoted' \"text\" *", start)
		say(t, s, turn, "The Answer mentions Straße and nul\x00behind", "c1")
		reply(t, s, turn, "c1", "FATAL: replica-2 refused the connection")
		hidden := models.Message{SessionID: "said", TurnID: turn.ID, Role: models.RolePerson, Content: "resume invisibly", IsMeta: true, State: models.StateDone, CreatedAt: start}
		got(s.AppendMessage(t.Context(), hidden))(t)
		finish(t, s, turn, models.StateDone, later(3))
		titled(t, s, "ann", "archived", "", 4)
		finish(t, s, run(t, s, "archived", "the release of the archived word", start), models.StateDone, later(5))
		got(s.UpdateSession(t.Context(), "ann", "archived", models.SessionPatch{Archived: models.Ptr(true)}, later(6)))(t)
		titled(t, s, "bob", "bobs", "Release of bob", 7)
		settle()

		for text, want := range map[string]string{
			"release":                "archived title",
			"RELEASE Build":          "title",
			"合计":                     "said",
			"行":                      "said",
			"发票导出":                   "said",
			"合计 answer":              "said", // in two messages
			"answer release":         "",
			"straße":                 "said",
			"replica-2":              "said",
			"behind":                 "said",
			`"refused the conn"`:     "said",
			`"the refused"`:          "",
			"100%":                   "said",
			"1%0":                    "",
			"a_b":                    "said",
			"axb":                    "",
			`'quoted' "text" *`:      "said",
			`NEAR(a b) OR x* ^y :z`:  "",
			"-- ; ) ( \"":            "",
			"invisibly":              "",
			"archived":               "archived",
			"bob":                    "",
			strings.Repeat("x", 900): "",
			"":                       "archived said title",
			"   ":                    "archived said title",
		} {
			if ids := foundBy(t, s, "ann", text); ids != want {
				t.Errorf("%q finds %q, want %q", text, ids, want)
			}
		}
		if ids := foundBy(t, s, "bob", "release"); ids != "bobs" {
			t.Errorf("bob finds %q", ids)
		}
		if ids := foundBy(t, s, "", "release"); ids != "bobs title" {
			t.Errorf("among all owners' titles %q is found", ids)
		}
		list, _, err := s.Sessions(t.Context(), models.SessionQuery{OwnerID: "ann", Text: "release", Archived: models.Ptr(false)})
		must(t, err)
		if len(list) != 1 || list[0].ID != "title" {
			t.Errorf("outside the archive %v is found", list)
		}
	})
}

// places are those of one session that a search shows, and how many there are.
type places struct {
	Best  []models.Place
	Total int
}

// placesOf are the places of a search, by the sessions.
func placesOf(t *testing.T, s *Store, q models.SessionQuery, sessions []string, most int) map[string]places {
	t.Helper()
	shown := map[string][]models.Place{}
	totals := got(s.Places(t.Context(), q, sessions, most, func(p models.Place) { shown[p.SessionID] = append(shown[p.SessionID], p) }))(t)
	found := map[string]places{}
	for id, total := range totals {
		found[id] = places{shown[id], total}
	}
	return found
}

func TestTheBestPlacesOfASearchComeFirst(t *testing.T) {
	everyWay(t, func(t *testing.T, s *Store, settle func()) {
		addSession(t, s, "ann", "s", start)
		addSession(t, s, "ann", "other", start)
		addSession(t, s, "bob", "bobs", start)
		turn := run(t, s, "s", "alpha is first", start)
		say(t, s, turn, "alpha and Beta 合")
		say(t, s, turn, "nothing")
		say(t, s, turn, "beta at last")
		finish(t, s, turn, models.StateDone, start)
		finish(t, s, run(t, s, "other", "alpha too", start), models.StateDone, start)
		settle()

		for text, want := range map[string][]string{
			"alpha beta":   {"alpha and Beta 合", "beta at last"},
			"alpha beta 合": {"alpha and Beta 合", "beta at last"},
			"合":            {"alpha and Beta 合"},
		} {
			places := placesOf(t, s, models.SessionQuery{OwnerID: "ann", Text: text}, []string{"s", "bobs"}, 2)
			var said []string
			for _, place := range places["s"].Best {
				said = append(said, place.Content)
			}
			if diff := cmp.Diff(want, said); diff != "" || len(places) != 1 {
				t.Errorf("%q in %d sessions (-want +got):\n%s", text, len(places), diff)
			}
		}
		if places := placesOf(t, s, models.SessionQuery{OwnerID: "ann", Text: "alpha beta"}, []string{"s", "other"}, 2); places["s"].Total != 3 || places["other"].Total != 1 {
			t.Errorf("places %v", places)
		}
		if places := placesOf(t, s, models.SessionQuery{OwnerID: "bob", Text: "alpha"}, []string{"s"}, 2); len(places) != 0 {
			t.Errorf("bob is shown %v", places)
		}
	})
}

func TestAnAnswerIsFoundWhileItIsWrittenAndIndexedOnceItIsOver(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "question", start)
	m := got(s.AppendMessage(t.Context(), models.Message{
		SessionID: "s", TurnID: turn.ID, Role: models.RoleAssistant, Content: "half", State: models.StateRunning, CreatedAt: start,
	}))(t)
	indexAll(t, s)
	if foundBy(t, s, "ann", "half") != "s" || placed(t, s, m.ID) {
		t.Error("what is being written is not found, or is indexed already")
	}
	m.Content, m.State = "half and whole", models.StateDone
	must(t, s.SaveMessage(t.Context(), m))
	finish(t, s, turn, models.StateDone, start)
	if foundBy(t, s, "ann", "whole") != "s" {
		t.Error("what was just said is not found")
	}
	if !s.indexed {
		return
	}
	waitUntil(t, "the answer is indexed by itself", func() bool { return placed(t, s, m.ID) })
	m.Content = "another text"
	must(t, s.SaveMessage(t.Context(), m))
	indexAll(t, s)
	if foundBy(t, s, "ann", "another") != "s" || foundBy(t, s, "ann", "whole") != "" {
		t.Error("a text that changed is not found as it is now")
	}
}

func placed(t testing.TB, s *Store, message string) bool {
	t.Helper()
	var count int
	must(t, s.readers.Raw("SELECT count(*) FROM messages WHERE id = ? AND place IS NOT NULL", message).Scan(&count).Error)
	return count > 0
}

func TestTheIndexIsMadeAnewWhereItIsMissing(t *testing.T) {
	dir := t.TempDir()
	s := openAs(t, dir, nil)
	if !s.indexed {
		t.Log("this program was built without FTS5: there is no index")
		return
	}
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "words to be found", start)
	finish(t, s, turn, models.StateDone, start)
	indexAll(t, s)
	must(t, s.Close())

	s = openAs(t, dir, without)
	if foundBy(t, s, "ann", "found") != "s" {
		t.Error("a program without FTS5 finds nothing")
	}
	var tables int
	must(t, s.readers.Raw("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'search%' AND sql LIKE '%fts5%' OR name = 'search_data'").Scan(&tables).Error)
	if tables != 0 {
		t.Error("an index that nobody keeps up was left in the file")
	}
	must(t, s.DeleteSession(t.Context(), "s"))
	addSession(t, s, "ann", "s2", start)
	finish(t, s, run(t, s, "s2", "found again", start), models.StateDone, start)
	must(t, s.Compact(t.Context()))
	must(t, s.Close())

	s = openAs(t, dir, nil)
	indexAll(t, s)
	if foundBy(t, s, "ann", "found") != "s2" || foundBy(t, s, "ann", "words") != "" {
		t.Error("the index was not made anew")
	}
	var left int
	must(t, s.readers.Raw("SELECT count(*) FROM messages WHERE "+findable).Scan(&left).Error)
	if left != 0 {
		t.Errorf("%d messages are not in the index", left)
	}
}

func TestDeletedWordsLeaveTheIndexAndTheFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "stays", start)
	finish(t, s, run(t, s, "stays", "what stays is found", start), models.StateDone, start)
	secret := "xqj-unheard-of-vzw"
	for i := range 20 {
		finish(t, s, run(t, s, "s", fmt.Sprint(secret, " ", i), later(i)), models.StateDone, later(i))
	}
	indexAll(t, s)
	must(t, s.Compact(t.Context()))
	must(t, s.DeleteSession(t.Context(), "s"))
	must(t, s.Compact(t.Context()))

	for _, suffix := range []string{"", "-wal"} {
		if found(t, filepath.Join(dir, FileName+suffix), []byte(secret)) {
			t.Errorf("the words are still in %s", FileName+suffix)
		}
	}
	if foundBy(t, s, "ann", "xqj") != "" || foundBy(t, s, "ann", "found") != "stays" {
		t.Error("what is found is not what is there")
	}
	if !s.indexed {
		return
	}
	must(t, s.writer.Exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search, row)").Error)
	var terms []string
	must(t, s.writer.Raw("SELECT term FROM temp.terms WHERE term IN ('xqj', 'qj-', 'vzw', 'unh')").Scan(&terms).Error)
	if len(terms) != 0 {
		t.Errorf("the index still knows %q", terms)
	}
}

// What a deletion costs does not grow with what the index has to forget: that
// is done afterwards, in small steps.
func TestALongSessionIsDeletedAtOnce(t *testing.T) {
	s := openNew(t)
	took := quickest(time.Second, func() time.Duration {
		addSession(t, s, "ann", "s", start)
		turn := run(t, s, "s", "begin", start)
		many := make([]messageRow, 0, 10_000)
		for i := range 10_000 {
			many = append(many, got(messageRowOf(models.Message{
				ID: models.NewID(models.PrefixMessage), SessionID: "s", TurnID: turn.ID, Seq: firstSeq(turn.Seq) + 1 + int64(i), Shown: true, Role: models.RoleAssistant,
				Content: fmt.Sprint("message number ", i, " of a long session"), State: models.StateDone, CreatedAt: start,
			}))(t))
		}
		must(t, s.write(t.Context(), "fill", func(tx *gorm.DB) error { return insertAll(tx, many) }))
		indexAll(t, s)
		began := time.Now()
		must(t, s.DeleteSession(t.Context(), "s"))
		return time.Since(began)
	})
	if took > time.Second {
		t.Errorf("deleting the session took %v", took)
	}
	if ids := foundBy(t, s, "ann", "message"); ids != "" {
		t.Errorf("%q is found", ids)
	}
	must(t, s.Compact(t.Context()))
	var left int
	must(t, s.readers.Raw("SELECT count(*) FROM search_trash").Scan(&left).Error)
	if left != 0 {
		t.Errorf("%d places are still to be taken out", left)
	}
}

func TestASearchThatTakesTooLongSaysSo(t *testing.T) {
	err := searching(t.Context(), func(ctx context.Context) error {
		if deadline, ok := ctx.Deadline(); !ok || deadline.IsZero() {
			t.Error("a search has no end")
		}
		return nil
	})
	must(t, err)
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(searchTooSlow())
	err = searching(ended, func(ctx context.Context) error { return ctx.Err() })
	wantKind(t, err, models.ErrUnavailable, "search_too_slow")
}

// Whoever searches much waits for themselves: pages are read meanwhile, and
// others search.
func TestSearchesKeepNobodyFromReading(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "bob", "bobs", start)
	running, end := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- s.search(ctx, "ann", "look through everything", func(db *gorm.DB) error {
			close(running)
			<-end
			return nil
		})
	}()
	<-running
	got(s.Session(ctx, "ann", "s"))(t)
	if found := foundBy(t, s, "bob", "x"); found != "" {
		t.Errorf("bob finds %q", found)
	}
	_, _, err := s.Sessions(ctx, models.SessionQuery{OwnerID: "ann", Text: "x"})
	wantKind(t, err, models.ErrLimited, "too_many_searches")
	close(end)
	must(t, <-ended)
	if found := foundBy(t, s, "ann", "x"); found != "" {
		t.Errorf("ann finds %q", found)
	}

	pool := got(s.seekers.DB())(t)
	for range searchConns { // all places for searches are taken
		conn := got(pool.Conn(ctx))(t)
		defer func() { must(t, conn.Close()) }()
	}
	got(s.Session(ctx, "bob", "bobs"))(t)
	if list, _, err := s.Sessions(ctx, models.SessionQuery{OwnerID: "bob"}); err != nil || len(list) != 1 {
		t.Errorf("bob's list has %d sessions: %v", len(list), err)
	}
}
