package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"offcut/models"
	"offcut/models/retention"
	"offcut/models/store"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// house is a database with two users, and what stands around it.
type house struct {
	t     *testing.T
	db    *store.Store
	files map[string]int64 // bytes in the workspace of a session
	stuck string           // the session that cannot be removed

	mu    sync.Mutex
	ended []string
	gone  []string
	stays []string
	swept []string
}

func open(t *testing.T) *house {
	t.Helper()
	db, err := store.Open(t.Context(), t.TempDir(), store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	h := &house{t: t, db: db, files: map[string]int64{}}
	for _, name := range []string{"ann", "bob"} {
		h.must(db.CreateUser(t.Context(), models.User{ID: name, Name: name, Role: models.RoleUser, CreatedAt: now}))
	}
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// add makes a session that was used so many days ago and has so many bytes.
func (h *house) add(owner, id string, days int, bytes int64, pinned bool) {
	h.t.Helper()
	used := now.AddDate(0, 0, -days)
	h.must(h.db.CreateSession(h.t.Context(), models.Session{ID: id, OwnerID: owner, CreatedAt: used, UpdatedAt: used, Pinned: pinned}))
	h.files[id] = bytes
}

func (h *house) EndSession(_ context.Context, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, id)
}

// SessionGone is told of what is no longer there.
func (h *house) SessionGone(id, reason string) {
	if _, err := h.db.AnySession(h.t.Context(), id); !errors.Is(err, models.ErrNotFound) {
		h.t.Errorf("session %s is said to be gone: %v", id, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = append(h.gone, id+": "+reason)
}

func (h *house) SessionStays(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stays = append(h.stays, id)
}

func (h *house) DeleteSession(ctx context.Context, id string, audit ...models.AuditEntry) error {
	if id == h.stuck {
		return errors.New("the disk is full")
	}
	return h.db.DeleteSession(ctx, id, audit...)
}

func (h *house) Remove(_ context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.swept = append(h.swept, id)
	return nil
}

func (h *house) sweeper(policy models.RetentionPolicy) *retention.Sweeper {
	remover := retention.Remover{Runner: h, Store: h, Workspaces: h, Log: slog.New(slog.DiscardHandler)}
	return retention.New(retention.Config{
		Policy: policy, Store: h.db, Remove: remover.Remove, Reason: "by the policy", Log: slog.New(slog.DiscardHandler),
		Size: func(_ context.Context, id string) (int64, error) { return h.files[id], nil },
		Now:  func() time.Time { return now },
	})
}

// left are the sessions that are still there.
func (h *house) left() string {
	h.t.Helper()
	list, _, err := h.db.ReviewSessions(h.t.Context(), models.ReviewQuery{})
	h.must(err)
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

const day = 24 * time.Hour

func TestWhatIsTooOldOrTooMuchGoes(t *testing.T) {
	for name, c := range map[string]struct {
		policy models.RetentionPolicy
		left   string
		freed  int64
	}{
		"nothing by default":           {models.RetentionPolicy{}, "b_old new newest old older pinned", 0},
		"by age, but what is pinned":   {models.RetentionPolicy{MaxAge: 30 * day}, "new newest pinned", 31},
		"to the day":                   {models.RetentionPolicy{MaxAge: 50 * day}, "b_old new newest old pinned", 20},
		"by size, the oldest first":    {models.RetentionPolicy{MaxBytesPerUser: 60}, "b_old newest pinned", 40},
		"by size, pinned ones at last": {models.RetentionPolicy{MaxBytesPerUser: 30}, "b_old pinned", 70},
		"by size, pinned ones too":     {models.RetentionPolicy{MaxBytesPerUser: 5}, "b_old", 100},
		"both":                         {models.RetentionPolicy{MaxAge: 50 * day, MaxBytesPerUser: 75}, "b_old new newest pinned", 30},
		"a bound that nobody comes to": {models.RetentionPolicy{MaxBytesPerUser: 100}, "b_old new newest old older pinned", 0},
		"an age that nothing comes to": {models.RetentionPolicy{MaxAge: 1000 * day}, "b_old new newest old older pinned", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.add("ann", "older", 90, 20, false)
			h.add("ann", "old", 45, 10, false)
			h.add("ann", "new", 2, 10, false)
			h.add("ann", "newest", 1, 30, false)
			h.add("ann", "pinned", 400, 30, true)
			h.add("bob", "b_old", 40, 1, false)
			s := h.sweeper(c.policy)
			h.must(s.Sweep(t.Context()))
			if left := h.left(); left != c.left {
				t.Errorf("left: %s, want %s", left, c.left)
			}
			last, ok := s.LastSweep()
			if !ok || last.Freed != c.freed || last.Removed != 6-len(strings.Fields(c.left)) || !last.At.Equal(now) {
				t.Errorf("it says %+v", last)
			}
		})
	}
}

func TestARemovalIsLikeADeletion(t *testing.T) {
	h := open(t)
	h.add("ann", "old", 45, 10, false)
	h.must(h.sweeper(models.RetentionPolicy{MaxAge: 30 * day}).Sweep(t.Context()))
	if len(h.ended) != 1 || len(h.gone) != 1 || h.gone[0] != "old: by the policy" || len(h.swept) != 1 || len(h.stays) != 0 {
		t.Errorf("ended %v, told %v, workspaces removed %v", h.ended, h.gone, h.swept)
	}
	entries, _, err := h.db.Audit(t.Context(), models.AuditQuery{})
	h.must(err)
	want := "deleted a session of ann by the retention policy: not used since 2026-10-16"
	if len(entries) != 1 || entries[0].ActorName != "retention" || entries[0].ActorID != "" || entries[0].Action != models.AuditSessionDelete || entries[0].Target != "old" || entries[0].Detail != want {
		t.Errorf("audited %+v", entries)
	}
}

func TestWhatHoldsNothingIsNotDeletedForItsSize(t *testing.T) {
	h := open(t)
	h.add("ann", "empty", 90, 0, false)
	h.add("ann", "full", 1, 100, false)
	h.must(h.sweeper(models.RetentionPolicy{MaxBytesPerUser: 50}).Sweep(t.Context()))
	if left := h.left(); left != "empty" {
		t.Errorf("left: %s", left)
	}
}

func TestOneThatCannotBeRemovedKeepsNoOtherFromGoing(t *testing.T) {
	h := open(t)
	h.add("ann", "a", 90, 1, false)
	h.add("ann", "b", 80, 1, false)
	h.stuck = "a"
	s := h.sweeper(models.RetentionPolicy{MaxAge: day})
	if err := s.Sweep(t.Context()); err == nil || !strings.Contains(err.Error(), "session a: the disk is full") {
		t.Errorf("error %v", err)
	}
	if len(h.gone) != 1 || h.gone[0] != "b: by the policy" || len(h.stays) != 1 || h.stays[0] != "a" {
		t.Errorf("browsers were told %v; %v goes on", h.gone, h.stays)
	}
	if last, _ := s.LastSweep(); h.left() != "a" || last.Failed != 1 || last.Removed != 1 {
		t.Errorf("left %s, %+v", h.left(), last)
	}
}

// noSessions is a store in which nothing is, and that counts how often it was
// asked.
type noSessions struct{ asked int }

func (n *noSessions) ReviewSessions(context.Context, models.ReviewQuery) ([]models.SessionStats, string, error) {
	n.asked++
	return nil, "", nil
}

func (n *noSessions) SessionsByID(context.Context, []string) ([]models.SessionStats, error) {
	return nil, nil
}

func (n *noSessions) Users(context.Context, models.Page) ([]models.User, string, error) {
	return nil, "", nil
}

func TestItRunsAtTheStartAndEveryHour(t *testing.T) {
	for _, c := range []struct {
		policy models.RetentionPolicy
		want   int
	}{{models.RetentionPolicy{MaxAge: day}, 4}, {models.RetentionPolicy{}, 0}} {
		synctest.Test(t, func(t *testing.T) {
			db := &noSessions{}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour+time.Minute)
			defer cancel()
			retention.New(retention.Config{Policy: c.policy, Store: db, Log: slog.New(slog.DiscardHandler)}).Run(ctx)
			if db.asked != c.want {
				t.Errorf("%+v: applied %d times in three hours, want %d", c.policy, db.asked, c.want)
			}
		})
	}
}
