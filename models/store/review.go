package store

import (
	"context"
	"fmt"
	"math"
	"strings"

	"offcut/models"

	"gorm.io/gorm"
)

// reviewColumns are the columns of the orders, each with an index of its own.
var reviewColumns = map[models.SessionOrder]string{
	models.ByUse:      "updated_at",
	models.ByMessages: "size_messages",
	models.ByOutputs:  "size_outputs",
	models.ByBytes:    "size_bytes",
}

// reviewView is a session with the figures that are kept with its row.
type reviewView struct {
	View         sessionView `gorm:"embedded"`
	SizeMessages int
	SizeOutputs  int
	SizeBytes    int64
	SizeText     int64
}

func (v reviewView) stats() models.SessionStats {
	return models.SessionStats{
		Session: v.View.session(), Messages: v.SizeMessages, Outputs: v.SizeOutputs, OutputBytes: v.SizeBytes, TextBytes: v.SizeText, Files: -1,
	}
}

// by is the value that a list in this order is sorted by.
func (v reviewView) by(order models.SessionOrder) int64 {
	switch order {
	case models.ByMessages:
		return int64(v.SizeMessages)
	case models.ByOutputs:
		return int64(v.SizeOutputs)
	case models.ByBytes:
		return v.SizeBytes
	}
	return v.View.Row.Updated
}

// ReviewSessions lists everybody's sessions with their figures. The messages of
// versions that are not shown count too: they are stored. A page is read from
// the index of its order and costs the same wherever it is.
func (s *Store) ReviewSessions(ctx context.Context, q models.ReviewQuery) ([]models.SessionStats, string, error) {
	if q.Order == "" {
		q.Order = models.ByUse
	}
	column, known := reviewColumns[q.Order]
	if !known {
		return nil, "", models.Errorf(models.ErrMalformed, "malformed_parameter", "sessions cannot be sorted by %q", q.Order)
	}
	list := fmt.Sprintf("review/%s/%t", q.Order, q.Ascending)
	value, id, after, direction := int64(math.MaxInt64), "", "<", "DESC"
	if q.Ascending {
		value, after, direction = math.MinInt64, ">", "ASC"
	}
	if err := decodeCursor(list, q.Cursor, &value, &id); err != nil {
		return nil, "", err
	}
	limit := q.Clamped()
	var rows []reviewView
	err := s.read(ctx, "list all sessions", func(db *gorm.DB) error {
		return reviewed(db, q).Select(sessionColumns).
			Where(fmt.Sprintf("(%s, id) %s (?, ?)", column, after), value, id).
			Order(fmt.Sprintf("%s %s, id %s", column, direction, direction)).
			Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last reviewView) string {
		return encodeCursor(list, last.by(q.Order), last.View.Row.ID)
	})
	return convert(rows, reviewView.stats), next, nil
}

// ReviewTotals sums up the sessions that ReviewSessions lists on all its pages.
func (s *Store) ReviewTotals(ctx context.Context, q models.ReviewQuery) (models.ReviewTotals, error) {
	var sum models.ReviewTotals
	err := s.read(ctx, "sum up all sessions", func(db *gorm.DB) error {
		return reviewed(db, q).Select("count(*) AS sessions, coalesce(sum(size_bytes), 0) AS bytes").Scan(&sum).Error
	})
	return sum, err
}

// reviewed narrows the sessions to what q asks for. The signs keep the other
// conditions from being what the rows are found by: the order is that of the
// index, and nothing is sorted.
func reviewed(db *gorm.DB, q models.ReviewQuery) *gorm.DB {
	db = db.Model(&sessionRow{}).Where("building = 0")
	switch {
	case q.OwnerID != "" && q.Order == models.ByUse: // there is an index for this
		db = db.Where("owner_id = ?", q.OwnerID)
	case q.OwnerID != "":
		db = db.Where("+owner_id = ?", q.OwnerID)
	}
	if q.Archived != nil {
		db = db.Where("+archived = ?", *q.Archived)
	}
	if !q.UsedBefore.IsZero() {
		db = db.Where("+updated_at < ?", micros(q.UsedBefore))
	}
	if q.Text != "" {
		text := "%" + likeLiteral.Replace(q.Text) + "%"
		db = db.Where(`(title LIKE ? ESCAPE '\' OR EXISTS (
			SELECT 1 FROM users WHERE users.id = sessions.owner_id AND users.name LIKE ? ESCAPE '\'))`, text, text)
	}
	return db
}

// likeLiteral makes a text match itself in LIKE.
var likeLiteral = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// SessionsByID are the sessions of the ids with their figures, as
// ReviewSessions has them; those that are gone are left out.
func (s *Store) SessionsByID(ctx context.Context, ids []string) ([]models.SessionStats, error) {
	var rows []reviewView
	err := s.read(ctx, "read sessions", func(db *gorm.DB) error {
		return db.Model(&sessionRow{}).Select(sessionColumns).Where("id IN (?)", ids).Order("id").Find(&rows).Error
	})
	return convert(rows, reviewView.stats), err
}
