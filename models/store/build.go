package store

import (
	"context"
	"errors"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

const (
	// buildRows is how many messages, and buildBytes how much text, one
	// transaction of a copy writes: some tens of milliseconds, which is what
	// others wait for.
	buildRows  = 250
	buildBytes = 1 << 20
	// buildRest is the longest pause between two parts: it is as long as the part
	// took, so that a copy takes at most half of the writer.
	buildRest = 100 * time.Millisecond
	// insertRows is how many rows one INSERT takes: at most 24 values each, and
	// SQLite has 32,766 in a statement.
	insertRows = 500
)

// builder writes a session of many messages in several transactions.
type builder struct {
	store *Store
	ctx   context.Context
	owner string

	turns    []turnRow
	messages []messageRow
	calls    []callRow
	grounds  []groundRow
	bytes    int64
}

// build adds a session with the turns that fill hands to the builder. Nothing
// lists the session before it is whole; where something fails, or the quota
// leaves no room, nothing of it stays. A user's copies are made one after the
// other, and between two parts of one whoever else writes has their turn.
func (s *Store) build(ctx context.Context, sess models.Session, fill func(*builder) error, last func(tx *gorm.DB) error) error {
	leave, err := s.copies.Enter(ctx, sess.OwnerID)
	if err != nil {
		return err
	}
	defer leave()
	doing := "build session " + sess.ID
	if err := s.write(ctx, doing, func(tx *gorm.DB) error { return insertSession(tx, sess, true) }); err != nil {
		return err
	}
	b := &builder{store: s, ctx: ctx, owner: sess.OwnerID}
	err = fill(b)
	if err == nil {
		err = b.flush()
	}
	if err == nil {
		err = s.write(ctx, doing, func(tx *gorm.DB) error {
			if err := last(tx); err != nil {
				return err
			}
			return changed(tx.Model(&sessionRow{}).Where("id = ?", sess.ID).Update("building", false), noSession())
		})
	}
	if err != nil {
		return errors.Join(err, s.DeleteSession(context.WithoutCancel(ctx), sess.ID))
	}
	s.indexer.wake()
	return nil
}

// add takes a turn with its messages, which have their ids and numbers already.
func (b *builder) add(turn turnRow, messages []models.Message, grounds []groundRow) error {
	b.turns = append(b.turns, turn)
	b.grounds = append(b.grounds, grounds...)
	for _, ground := range grounds {
		b.bytes += ground.stored()
	}
	for _, m := range messages {
		row, err := messageRowOf(m)
		if err != nil {
			return err
		}
		b.messages = append(b.messages, row)
		b.bytes += row.stored()
		for _, call := range m.ToolCalls {
			b.calls = append(b.calls, callRow{SessionID: m.SessionID, CallID: call.ID, MessageID: m.ID, TurnID: m.TurnID})
		}
		if len(b.messages) >= buildRows || b.bytes >= buildBytes {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes what was taken.
func (b *builder) flush() error {
	if len(b.turns)+len(b.messages) == 0 {
		return nil
	}
	began := time.Now()
	err := b.store.write(b.ctx, "build a session", func(tx *gorm.DB) error {
		if err := b.store.checkQuota(tx, b.owner, b.bytes); err != nil {
			return err
		}
		for _, insert := range []func() error{
			func() error { return insertAll(tx, b.turns) },
			func() error { return insertAll(tx, b.messages) },
			func() error { return insertAll(tx, b.calls) },
			func() error { return insertAll(tx, b.grounds) },
		} {
			if err := insert(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.turns, b.messages, b.calls, b.grounds, b.bytes = b.turns[:0], b.messages[:0], b.calls[:0], b.grounds[:0], 0
	return pause(b.ctx, min(time.Since(began), buildRest))
}

func insertAll[T any](tx *gorm.DB, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	return tx.CreateInBatches(rows, insertRows).Error
}

// RemoveUnbuilt is for the start of the server: it removes what a crash left of
// sessions that were being built. Other commands leave them: a server may be at it.
func (s *Store) RemoveUnbuilt(ctx context.Context) error {
	return s.write(ctx, "remove what was not whole", func(tx *gorm.DB) error {
		return tx.Where("building = 1 AND size_messages > 0").Delete(&sessionRow{}).Error
	})
}

// RemoveDrafts removes the drafts that were begun before a time, and returns their
// ids.
func (s *Store) RemoveDrafts(ctx context.Context, before time.Time) ([]string, error) {
	return s.removeDrafts(ctx, "created_at < ?", micros(before))
}

// RemoveOtherDrafts is RemoveDrafts of one owner's, but for one that stays.
func (s *Store) RemoveOtherDrafts(ctx context.Context, owner, stays string, before time.Time) ([]string, error) {
	return s.removeDrafts(ctx, "created_at < ? AND +owner_id = ? AND id <> ?", micros(before), owner, stays)
}

func (s *Store) removeDrafts(ctx context.Context, condition string, args ...any) ([]string, error) {
	var ids []string
	err := s.write(ctx, "remove old drafts", func(tx *gorm.DB) error {
		return tx.Raw("DELETE FROM sessions WHERE building = 1 AND size_messages = 0 AND "+condition+" RETURNING id", args...).Scan(&ids).Error
	})
	for _, id := range ids {
		s.cache.forgetSession(id)
	}
	return ids, err
}
