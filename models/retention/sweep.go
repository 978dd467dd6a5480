package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"offcut/models"
)

// Every is how often the policy is applied, beside the start of the program.
const Every = time.Hour

// Config is what a sweeper works with; all of it is needed but Now.
type Config struct {
	Policy models.RetentionPolicy
	Store  Store
	// Size is the number of bytes in a session's workspace.
	Size func(ctx context.Context, sessionID string) (int64, error)
	// Remove removes a session as a deletion does; see Remover.
	Remove func(ctx context.Context, sessionID, reason string, deed models.AuditEntry) error
	// Reason is what browsers are told that have the session open.
	Reason string
	Log    *slog.Logger
	Now    func() time.Time // nil: the system's clock
}

// Store is what a sweeper reads.
type Store interface {
	ReviewSessions(ctx context.Context, q models.ReviewQuery) ([]models.SessionStats, string, error)
	SessionsByID(ctx context.Context, ids []string) ([]models.SessionStats, error)
	Users(ctx context.Context, p models.Page) ([]models.User, string, error)
}

// Sweeper applies the policy of the server.
type Sweeper struct {
	cfg Config

	mu   sync.Mutex
	last *models.RetentionSweep
}

// New makes a sweeper. It does nothing before Run or Sweep.
func New(cfg Config) *Sweeper {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Sweeper{cfg: cfg}
}

// Policy is what the sweeper goes by.
func (s *Sweeper) Policy() models.RetentionPolicy { return s.cfg.Policy }

// LastSweep is what the last sweep did; false: there was none since the start.
func (s *Sweeper) LastSweep() (models.RetentionSweep, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return models.RetentionSweep{}, false
	}
	return *s.last, true
}

// Run sweeps at once and then every hour, until ctx ends. Where the policy is
// off it does nothing.
func (s *Sweeper) Run(ctx context.Context) {
	for s.cfg.Policy.On() && ctx.Err() == nil {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Error("the retention policy could not be applied to all sessions; it is tried again", "after", Every, "error", err)
		}
		select {
		case <-time.After(Every):
		case <-ctx.Done():
		}
	}
}

// Sweep removes what the policy says, and goes on past what cannot be removed.
func (s *Sweeper) Sweep(ctx context.Context) error {
	b := &broom{Sweeper: s, done: models.RetentionSweep{At: s.cfg.Now()}}
	var failed []error
	if s.cfg.Policy.MaxAge > 0 {
		failed = append(failed, b.byAge(ctx))
	}
	if s.cfg.Policy.MaxBytesPerUser > 0 {
		failed = append(failed, b.bySize(ctx))
	}
	if b.done.Removed > 0 {
		s.cfg.Log.Info("the retention policy removed sessions", "sessions", b.done.Removed, "bytes", b.done.Freed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = &b.done
	return errors.Join(append(failed, b.failed...)...)
}

// broom is one sweep.
type broom struct {
	*Sweeper
	done   models.RetentionSweep
	failed []error
}

// byAge removes what was not used for too long, but pinned sessions.
func (b *broom) byAge(ctx context.Context) error {
	limit := b.done.At.Add(-b.cfg.Policy.MaxAge)
	old := models.ReviewQuery{UsedBefore: limit, Ascending: true, Page: models.Page{Limit: models.MaxPageLimit}}
	return b.each(ctx, old, func(one models.SessionStats) error {
		if one.Pinned {
			return nil
		}
		now, err := b.cfg.Store.SessionsByID(ctx, []string{one.ID})
		if err != nil || len(now) == 0 || !now[0].UpdatedAt.Before(limit) {
			return err // it is gone already, or somebody came back to it just now
		}
		size, err := b.size(ctx, one)
		if err != nil {
			return err
		}
		b.remove(ctx, one, size, models.Deedf("retention_age",
			"deleted a session of %s by the retention policy: not used since %s",
			models.Arg("owner", one.OwnerName), models.Arg("since", one.UpdatedAt.UTC().Format(time.DateOnly))))
		return nil
	})
}

// bySize removes, of each user who holds too much, what was used longest ago.
func (b *broom) bySize(ctx context.Context) error {
	for page := (models.Page{Limit: models.MaxPageLimit}); ; {
		users, next, err := b.cfg.Store.Users(ctx, page)
		if err != nil {
			return err
		}
		for _, user := range users {
			if err := b.shrink(ctx, user); err != nil {
				return err
			}
		}
		if page.Cursor = next; next == "" {
			return nil
		}
	}
}

// held is a session with the bytes that it holds.
type held struct {
	models.SessionStats
	size int64
}

func (b *broom) shrink(ctx context.Context, user models.User) error {
	var all int64
	var plain, pinned []held
	theirs := models.ReviewQuery{OwnerID: user.ID, Ascending: true, Page: models.Page{Limit: models.MaxPageLimit}}
	err := b.each(ctx, theirs, func(one models.SessionStats) error {
		size, err := b.size(ctx, one)
		switch all += size; {
		case size == 0: // its removal would free nothing
		case one.Pinned:
			pinned = append(pinned, held{one, size})
		default:
			plain = append(plain, held{one, size})
		}
		return err
	})
	if err != nil {
		return err
	}
	most := b.cfg.Policy.MaxBytesPerUser
	for _, one := range append(plain, pinned...) {
		if all <= most || ctx.Err() != nil {
			break
		}
		if b.remove(ctx, one.SessionStats, one.size, models.Deedf("retention_size",
			"deleted a session of %s by the retention policy: %s held %d bytes of at most %d",
			models.Arg("owner", one.OwnerName), user.Name, models.Arg("held", all), models.Arg("most", most))) {
			all -= one.size
		}
	}
	return ctx.Err()
}

// each calls do for every session of a list, until it fails.
func (b *broom) each(ctx context.Context, q models.ReviewQuery, do func(models.SessionStats) error) error {
	for {
		list, next, err := b.cfg.Store.ReviewSessions(ctx, q)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(one); err != nil {
				return err
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}

func (b *broom) size(ctx context.Context, one models.SessionStats) (int64, error) {
	files, err := b.cfg.Size(ctx, one.ID)
	return one.TextBytes + one.OutputBytes + files, err
}

// remove reports whether the session is gone.
func (b *broom) remove(ctx context.Context, one models.SessionStats, size int64, did models.Deed) bool {
	err := b.cfg.Remove(ctx, one.ID, b.cfg.Reason, did.Of(models.AuditEntry{
		At: b.cfg.Now().UTC(), ActorName: models.AuditActorRetention, Action: models.AuditSessionDelete, Target: one.ID,
	}))
	switch {
	case errors.Is(err, models.ErrNotFound): // somebody was faster
		return true
	case err != nil:
		b.done.Failed++
		b.failed = append(b.failed, fmt.Errorf("session %s: %w", one.ID, err))
		return false
	}
	b.done.Removed++
	b.done.Freed += size
	return true
}
