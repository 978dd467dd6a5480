package store

import (
	"context"
	"math"

	"offcut/models"
	"offcut/models/find"

	"gorm.io/gorm"
)

// sessionKey is where a list of sessions stands: after the row with this key.
type sessionKey struct {
	pinned, updated int64
	id              string
}

// startOfSessions is before every row, so that the first page is asked for as
// every other, and the index serves it.
var startOfSessions = sessionKey{pinned: 2, updated: math.MaxInt64}

func (k sessionKey) cursor() string { return encodeCursor("sessions", k.pinned, k.updated, k.id) }

func (v sessionView) key() sessionKey {
	key := sessionKey{updated: v.Row.Updated, id: v.Row.ID}
	if v.Row.Pinned {
		key.pinned = 1
	}
	return key
}

// Sessions lists sessions: pinned ones first, then those used last. The words
// of Text are looked for among the sessions of one owner, in titles and in all
// that was said and shown of outputs.
func (s *Store) Sessions(ctx context.Context, q models.SessionQuery) ([]models.Session, string, error) {
	var rows []sessionView
	next, err := listSessions(ctx, s, q, sessionColumns, &rows, func(v sessionView) sessionKey { return v.key() })
	if err != nil {
		return nil, "", err
	}
	return convert(rows, sessionView.session), next, nil
}

// SessionStats lists sessions as Sessions does, each with the figures that are
// kept with its row; the bytes of the workspace are not the store's to count. The
// messages of versions that are not shown count too: they go with a deletion.
func (s *Store) SessionStats(ctx context.Context, q models.SessionQuery) ([]models.SessionStats, string, error) {
	var rows []reviewView
	next, err := listSessions(ctx, s, q, sessionColumns, &rows, func(v reviewView) sessionKey { return v.View.key() })
	if err != nil {
		return nil, "", err
	}
	return convert(rows, reviewView.stats), next, nil
}

// listSessions fills rows with a page of q and returns the next cursor.
func listSessions[T any](ctx context.Context, s *Store, q models.SessionQuery, columns string, rows *[]T, key func(T) sessionKey) (string, error) {
	after := startOfSessions
	if err := decodeCursor("sessions", q.Cursor, &after.pinned, &after.updated, &after.id); err != nil {
		return "", err
	}
	limit := q.Clamped()
	find := func(db *gorm.DB) error {
		list, err := s.matching(db, sessionsAfter(db, q, after), q)
		if err != nil {
			return err
		}
		return list.Select(columns).Limit(limit + 1).Find(rows).Error
	}
	var err error
	if q.Text == "" {
		err = s.read(ctx, "list sessions", find)
	} else {
		err = s.search(ctx, q.OwnerID, "search sessions", find)
	}
	if err != nil {
		return "", err
	}
	page, next := cutPage(*rows, limit, func(last T) string { return key(last).cursor() })
	*rows = page
	return next, nil
}

func sessionsAfter(db *gorm.DB, q models.SessionQuery, after sessionKey) *gorm.DB {
	db = db.Model(&sessionRow{}).Where("building = 0").
		Where("(pinned, updated_at, id) < (?, ?, ?)", after.pinned, after.updated, after.id).
		Order("pinned DESC, updated_at DESC, id DESC")
	if q.OwnerID != "" {
		db = db.Where("owner_id = ?", q.OwnerID)
	}
	if q.ID != "" {
		db = db.Where("id = ?", q.ID)
	}
	if q.Archived != nil {
		db = db.Where("archived = ?", *q.Archived)
	}
	return db
}

// matching leaves the sessions of a list that hold the words of q.Text.
func (s *Store) matching(db, list *gorm.DB, q models.SessionQuery) (*gorm.DB, error) {
	words, err := find.Words(q.Text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return usedDuring(list, q), nil
	}
	wanted, err := s.newSearch(db, q)
	if err != nil {
		return nil, err
	}
	return wanted.sessions(list), nil
}

// usedDuring leaves the sessions of a list that were last used in the time that
// is asked for and, where outputs are, that have any.
func usedDuring(list *gorm.DB, q models.SessionQuery) *gorm.DB {
	if !q.From.IsZero() {
		list = list.Where("updated_at >= ?", micros(q.From))
	}
	if !q.To.IsZero() {
		list = list.Where("updated_at < ?", micros(q.To))
	}
	if q.In == models.SearchOutputs {
		list = list.Where("EXISTS (SELECT 1 FROM outputs WHERE outputs.session_id = sessions.id AND deleted_at IS NULL)")
	}
	return list
}
