package store

import (
	"context"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

type sessionRow struct {
	ID         string
	OwnerID    string
	Title      string
	Model      string
	Archived   bool
	Pinned     bool
	ForkedFrom string
	Building   bool  // it is not whole yet, and in no list
	Created    int64 `gorm:"column:created_at"`
	Updated    int64 `gorm:"column:updated_at"`
}

func (sessionRow) TableName() string { return "sessions" }

// sessionView is a session with what is looked up beside it.
type sessionView struct {
	Row       sessionRow `gorm:"embedded"`
	OwnerName string
	Running   bool
}

// unfinished is the condition for a turn that waits or runs.
const unfinished = "state IN ('queued', 'running', 'awaiting_approval')"

// sessionColumns selects a sessionView. Both look-ups are subqueries, so that
// the order of the list stays the index's.
const sessionColumns = `sessions.*,
	(SELECT name FROM users WHERE users.id = sessions.owner_id) AS owner_name,
	EXISTS (SELECT 1 FROM turns WHERE turns.session_id = sessions.id AND turns.` + unfinished + `) AS running`

func (v sessionView) session() models.Session {
	return models.Session{
		ID:         v.Row.ID,
		OwnerID:    v.Row.OwnerID,
		OwnerName:  v.OwnerName,
		Title:      v.Row.Title,
		Model:      v.Row.Model,
		Archived:   v.Row.Archived,
		Pinned:     v.Row.Pinned,
		ForkedFrom: v.Row.ForkedFrom,
		Draft:      v.Row.Building,
		CreatedAt:  fromMicros(v.Row.Created),
		UpdatedAt:  fromMicros(v.Row.Updated),
		Running:    v.Running,
	}
}

// CreateSession adds a session. UpdatedAt is CreatedAt where it is not set. No list
// has a draft before its first message is queued.
func (s *Store) CreateSession(ctx context.Context, sess models.Session) error {
	if sess.UpdatedAt.IsZero() {
		sess.UpdatedAt = sess.CreatedAt
	}
	return s.write(ctx, "create session "+sess.ID, func(tx *gorm.DB) error { return insertSession(tx, sess, sess.Draft) })
}

func insertSession(tx *gorm.DB, sess models.Session, building bool) error {
	err := tx.Create(&sessionRow{
		ID:         sess.ID,
		OwnerID:    sess.OwnerID,
		Title:      sess.Title,
		Model:      sess.Model,
		Archived:   sess.Archived,
		Pinned:     sess.Pinned,
		ForkedFrom: sess.ForkedFrom,
		Building:   building,
		Created:    micros(sess.CreatedAt),
		Updated:    micros(sess.UpdatedAt),
	}).Error
	if orphaned(err) {
		return noUser()
	}
	return err
}

// Session finds a session of an owner; another's is as one that never was:
// ErrNotFound.
func (s *Store) Session(ctx context.Context, owner, id string) (models.Session, error) {
	return s.session(ctx, id, "owner_id = ? AND id = ?", owner, id)
}

// AnySession finds a session whoever owns it. It is for admins.
func (s *Store) AnySession(ctx context.Context, id string) (models.Session, error) {
	return s.session(ctx, id, "id = ?", id)
}

func (s *Store) session(ctx context.Context, id, condition string, args ...any) (models.Session, error) {
	var found models.Session
	err := s.read(ctx, "session "+id, func(db *gorm.DB) error {
		var err error
		found, err = findSession(db, condition, args...)
		return err
	})
	return found, err
}

func findSession(db *gorm.DB, condition string, args ...any) (models.Session, error) {
	var view sessionView
	err := db.Model(&sessionRow{}).Select(sessionColumns).Where(condition, args...).Take(&view).Error
	if err != nil {
		return models.Session{}, orMissing(err, noSession())
	}
	return view.session(), nil
}

// UpdateSession changes what p names and returns the session as it is then.
// Another title or model counts as the session's last use; to pin or archive it
// does not: a session comes out of the archive where it was. An empty patch
// changes nothing.
func (s *Store) UpdateSession(ctx context.Context, owner, id string, p models.SessionPatch, now time.Time) (models.Session, error) {
	changes := patchColumns(p)
	var updated models.Session
	err := s.write(ctx, "change session "+id, func(tx *gorm.DB) error {
		if len(changes) > 0 {
			if p.Title != nil || p.Model != nil {
				changes["updated_at"] = micros(now)
			}
			result := tx.Model(&sessionRow{}).Where("owner_id = ? AND id = ?", owner, id).Updates(changes)
			if err := changed(result, noSession()); err != nil {
				return err
			}
		}
		var err error
		updated, err = findSession(tx, "owner_id = ? AND id = ?", owner, id)
		return err
	})
	return updated, err
}

// MarkSessions changes whether sessions of an owner are archived or pinned, and
// returns which of them were not so before. Those that are not the owner's are
// left out.
func (s *Store) MarkSessions(ctx context.Context, owner string, ids []string, p models.SessionPatch) ([]string, error) {
	marked := []string{}
	err := s.write(ctx, "mark sessions", func(tx *gorm.DB) error {
		for column, value := range patchColumns(models.SessionPatch{Archived: p.Archived, Pinned: p.Pinned}) {
			var some []string
			err := tx.Model(&sessionRow{}).Where("owner_id = ? AND id IN ? AND "+column+" <> ?", owner, ids, value).Pluck("id", &some).Error
			if err != nil {
				return err
			}
			if err := tx.Model(&sessionRow{}).Where("owner_id = ? AND id IN ?", owner, some).Update(column, value).Error; err != nil {
				return err
			}
			marked = append(marked, some...)
		}
		return nil
	})
	return marked, err
}

func patchColumns(p models.SessionPatch) map[string]any {
	columns := map[string]any{}
	if p.Title != nil {
		columns["title"] = *p.Title
	}
	if p.Archived != nil {
		columns["archived"] = *p.Archived
	}
	if p.Pinned != nil {
		columns["pinned"] = *p.Pinned
	}
	if p.Model != nil {
		columns["model"] = *p.Model
	}
	return columns
}

// TitleSession gives a session a title unless it has one, and reports whether
// it did. It is no use of the session.
func (s *Store) TitleSession(ctx context.Context, id, title string) (bool, error) {
	var titled bool
	err := s.write(ctx, "title session "+id, func(tx *gorm.DB) error {
		result := tx.Model(&sessionRow{}).Where("id = ? AND title = ''", id).Update("title", title)
		titled = result.RowsAffected > 0
		return result.Error
	})
	return titled && err == nil, err
}

// touchSession notes a use of a session. Time never runs backward in it.
func touchSession(tx *gorm.DB, id string, now time.Time) error {
	return tx.Model(&sessionRow{}).Where("id = ? AND updated_at < ?", id, micros(now)).Update("updated_at", micros(now)).Error
}

// DeleteSession deletes a session with all that belongs to it, and writes what
// the audit log is to say of that, in one transaction. Nothing of it can be
// found from then on; the bytes of its outputs are erased from the file right
// after, in the background.
func (s *Store) DeleteSession(ctx context.Context, id string, audit ...models.AuditEntry) error {
	err := s.write(ctx, "delete session "+id, func(tx *gorm.DB) error {
		if err := changed(tx.Where("id = ?", id).Delete(&sessionRow{}), noSession()); err != nil {
			return err
		}
		return insertAudits(tx, audit)
	})
	if err != nil {
		return err
	}
	s.cache.forgetSession(id)
	s.upkeep.wake()
	return nil
}
