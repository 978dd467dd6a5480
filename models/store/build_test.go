package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"offcut/models"
)

// talk is so many turns, of a question and an answer each.
func talk(turns int) [][]models.Message {
	all := make([][]models.Message, turns)
	for i := range all {
		all[i] = []models.Message{
			{Role: models.RolePerson, Content: fmt.Sprint("question ", i), State: models.StateDone, CreatedAt: start},
			{Role: models.RoleAssistant, Content: fmt.Sprint("answer ", i), State: models.StateDone, CreatedAt: start},
		}
	}
	return all
}

func importTalk(ctx context.Context, s *Store, id string, turns int) error {
	return s.ImportSession(ctx, models.Session{ID: id, OwnerID: "ann", Title: id, CreatedAt: start, UpdatedAt: start}, talk(turns), nil)
}

// Whoever copies a long conversation keeps nobody from writing, and nobody sees
// the copy before it is whole.
func TestOthersWriteWhileALongSessionIsCopied(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	const turns = 2000
	for name, copying := range map[string]func(int) error{
		"imported": func(n int) error { return importTalk(ctx, s, fmt.Sprint("long", n), turns) },
		"forked": func(int) error {
			fork, err := s.ForkSession(ctx, "ann", "origin", "", start)
			if err == nil && fork.ForkedFrom != "origin" {
				t.Errorf("it is %+v", fork)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "forked" {
				must(t, importTalk(ctx, s, "origin", turns))
			}
			before := sizes(t, s)
			done := make(chan error, 1)
			go func() { done <- copying(1) }()
			for written := 0; ; written++ {
				must(t, s.CreateSession(ctx, models.Session{ID: fmt.Sprint(name, written), OwnerID: "bob", CreatedAt: start}))
				select {
				case err := <-done:
					must(t, err)
					if written < 5 {
						t.Errorf("others wrote %d times meanwhile", written)
					}
					if after := sizes(t, s); len(after) != len(before)+1 || after[len(after)-1] != 2*turns {
						t.Errorf("the sessions have %v messages, and had %v before", after, before)
					}
					return
				default:
					if now := sizes(t, s); len(now) > len(before) && now[len(now)-1] != 2*turns {
						t.Fatalf("a session of %d messages is listed", now[len(now)-1])
					}
				}
			}
		})
	}
}

// sizes are the numbers of messages of ann's sessions, the smallest first.
func sizes(t *testing.T, s *Store) []int {
	t.Helper()
	list, _, err := s.ReviewSessions(t.Context(), models.ReviewQuery{OwnerID: "ann", Order: models.ByMessages, Ascending: true})
	must(t, err)
	mine, _, err := s.Sessions(t.Context(), models.SessionQuery{OwnerID: "ann"})
	must(t, err)
	if len(mine) < len(list) {
		t.Errorf("ann sees %d sessions, an administrator %d", len(mine), len(list))
	}
	var numbers []int
	for _, one := range list {
		numbers = append(numbers, one.Messages)
	}
	return numbers
}

func TestNothingStaysOfACopyThatFails(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{QuotaBytes: 1_000_000})
	addUsers(t, s)
	err := importTalk(t.Context(), s, "large", 2000)
	wantKind(t, err, models.ErrTooLarge, "storage_quota")
	if used := got(s.StorageUsed(t.Context(), "ann"))(t); used != 0 {
		t.Errorf("%d bytes are used", used)
	}
	_, err = s.AnySession(t.Context(), "large")
	wantKind(t, err, models.ErrNotFound, "session_not_found")

	must(t, importTalk(t.Context(), s, "small", 3))
	call := talk(1)
	call[0][1].ToolCalls = []models.ToolCall{{ID: "c", Name: "run_command"}, {ID: "c", Name: "run_command"}}
	if err := s.ImportSession(t.Context(), models.Session{ID: "twice", OwnerID: "ann"}, call, nil); err == nil {
		t.Error("two calls of one id were taken")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := importTalk(gone, s, "given up", 3); err == nil || strings.Contains(err.Error(), "not found") {
		t.Errorf("of an import that was given up: %v", err)
	}
	if is := sizes(t, s); len(is) != 1 {
		t.Errorf("there are sessions of %v messages", is)
	}
}

// A session that holds files for its first message is in no list before that comes,
// and goes after a while where it never does.
func TestADraftIsNoSessionBeforeItsFirstMessage(t *testing.T) {
	s := openNew(t)
	for _, id := range []string{"sent", "left", "new"} {
		at := start
		if id == "new" {
			at = later(1)
		}
		must(t, s.CreateSession(t.Context(), models.Session{ID: id, OwnerID: "ann", Draft: true, CreatedAt: at}))
	}
	listed := func() int {
		t.Helper()
		list, _, err := s.Sessions(t.Context(), models.SessionQuery{OwnerID: "ann"})
		must(t, err)
		return len(list)
	}
	if n := listed(); n != 0 || got(s.Storage(t.Context(), "ann"))(t).Sessions != 0 || !got(s.Session(t.Context(), "ann", "sent"))(t).Draft {
		t.Errorf("%d drafts are listed", n)
	}
	send(t, s, "sent", "hello", start)
	if n := listed(); n != 1 || got(s.Session(t.Context(), "ann", "sent"))(t).Draft {
		t.Errorf("%d sessions after the first message", n)
	}
	must(t, s.RemoveUnbuilt(t.Context()))
	for _, of := range []struct {
		owner, stays string
		before       time.Time
	}{{"ann", "left", later(1)}, {"bob", "", later(1)}, {"ann", "", start}} {
		if gone := got(s.RemoveOtherDrafts(t.Context(), of.owner, of.stays, of.before))(t); len(gone) != 0 {
			t.Errorf("%+v: removed %q", of, gone)
		}
	}
	if gone := got(s.RemoveDrafts(t.Context(), later(1)))(t); len(gone) != 1 || gone[0] != "left" {
		t.Errorf("removed %q", gone)
	}
	if !got(s.Session(t.Context(), "ann", "new"))(t).Draft {
		t.Error("a new draft is gone")
	}
}

// A crash in the middle leaves a part; the next start removes it.
func TestAStartRemovesWhatWasNotWhole(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	must(t, importTalk(t.Context(), s, "part", 3))
	must(t, s.writer.Exec("UPDATE sessions SET building = 1").Error)
	if is := sizes(t, s); len(is) != 0 {
		t.Errorf("what is not whole is listed: %v", is)
	}
	again := open(t, dir, Options{}) // as another command does, while a server builds
	must(t, s.writer.Exec("UPDATE sessions SET building = 1 WHERE id = 'part'").Error)
	if got(again.AnySession(t.Context(), "part"))(t).ID != "part" {
		t.Error("what is being built is removed")
	}
	must(t, again.RemoveUnbuilt(t.Context()))
	_, err := again.AnySession(t.Context(), "part")
	wantKind(t, err, models.ErrNotFound, "session_not_found")
}
