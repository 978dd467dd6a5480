package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"offcut/models"
	"offcut/models/find"

	"gorm.io/gorm"
)

// reviewOrder is a list of all sessions in one order: its columns before the id,
// which have an index of their own, and their values in a row.
type reviewOrder struct {
	columns []string
	values  func(reviewView) []int64
}

var reviewOrders = map[models.SessionOrder]reviewOrder{
	models.ByUse:      {[]string{"updated_at"}, func(v reviewView) []int64 { return []int64{v.View.Row.Updated} }},
	models.ByMessages: {[]string{"size_messages"}, func(v reviewView) []int64 { return []int64{int64(v.SizeMessages)} }},
	models.ByOutputs:  {[]string{"size_outputs"}, func(v reviewView) []int64 { return []int64{int64(v.SizeOutputs)} }},
	models.ByBytes:    {[]string{"size_bytes"}, func(v reviewView) []int64 { return []int64{v.SizeBytes} }},
	models.ByPinned: {[]string{"pinned", "updated_at"}, func(v reviewView) []int64 {
		key := v.View.key()
		return []int64{key.pinned, key.updated}
	}},
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

// ReviewSessions lists everybody's sessions with their figures. The messages of
// versions that are not shown count too: they are stored. A page is read from
// the index of its order and costs the same wherever it is.
func (s *Store) ReviewSessions(ctx context.Context, q models.ReviewQuery) ([]models.SessionStats, string, error) {
	if q.Order == "" {
		q.Order = models.ByUse
	}
	order, known := reviewOrders[q.Order]
	if !known {
		return nil, "", models.Errorf(models.ErrMalformed, "malformed_parameter", "sessions cannot be sorted by %q", q.Order)
	}
	after, err := order.start(q)
	if err != nil {
		return nil, "", err
	}
	limit := q.Clamped()
	var rows []reviewView
	err = s.review(ctx, q, "list all sessions", func(list *gorm.DB) error {
		return order.after(list.Select(sessionColumns), q.Ascending, after).Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last reviewView) string {
		return encodeCursor(reviewList(q), reviewKey(order.values(last), last.View.Row.ID)...)
	})
	return convert(rows, reviewView.stats), next, nil
}

// reviewList names the list of q for its cursors.
func reviewList(q models.ReviewQuery) string {
	return fmt.Sprintf("review/%s/%t", q.Order, q.Ascending)
}

// reviewKey is where a list stands.
func reviewKey(values []int64, id string) []any {
	key := make([]any, 0, len(values)+1)
	for _, value := range values {
		key = append(key, value)
	}
	return append(key, id)
}

// start is the key after which the page of q begins: that of its cursor, or one
// before every row, so that the first page is asked for as every other.
func (o reviewOrder) start(q models.ReviewQuery) ([]any, error) {
	first := int64(math.MaxInt64)
	if q.Ascending {
		first = math.MinInt64
	}
	values, id := slices.Repeat([]int64{first}, len(o.columns)), ""
	into := make([]any, 0, len(values)+1)
	for i := range values {
		into = append(into, &values[i])
	}
	err := decodeCursor(reviewList(q), q.Cursor, append(into, &id)...)
	return reviewKey(values, id), err
}

// after leaves the rows of a list after a key, in its order.
func (o reviewOrder) after(list *gorm.DB, ascending bool, key []any) *gorm.DB {
	sign, direction := "<", " DESC"
	if ascending {
		sign, direction = ">", " ASC"
	}
	columns := append(slices.Clone(o.columns), "id")
	places := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	return list.Where(fmt.Sprintf("(%s) %s (%s)", strings.Join(columns, ", "), sign, places), key...).
		Order(strings.Join(columns, direction+", ") + direction)
}

// ReviewTotals sums up the sessions that ReviewSessions lists on all its pages.
func (s *Store) ReviewTotals(ctx context.Context, q models.ReviewQuery) (models.ReviewTotals, error) {
	var sum models.ReviewTotals
	err := s.review(ctx, q, "sum up all sessions", func(list *gorm.DB) error {
		return list.Select("count(*) AS sessions, coalesce(sum(size_bytes), 0) AS bytes").Scan(&sum).Error
	})
	return sum, err
}

// review gives f the sessions that q asks for. Looking for words reads the titles
// of all of them, and is a search.
func (s *Store) review(ctx context.Context, q models.ReviewQuery, doing string, f func(list *gorm.DB) error) error {
	words, err := find.Words(q.Text)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return s.read(ctx, doing, func(db *gorm.DB) error { return f(reviewed(db, q, nil)) })
	}
	return s.search(ctx, "", doing, func(db *gorm.DB) error { return f(reviewed(db, q, words)) })
}

// reviewed narrows the sessions to what q asks for. The signs keep the other
// conditions from being what the rows are found by: the order is that of the
// index, and nothing is sorted.
func reviewed(db *gorm.DB, q models.ReviewQuery, words []string) *gorm.DB {
	db = db.Model(&sessionRow{}).Where("building = 0")
	switch {
	case q.OwnerID != "" && (q.Order == models.ByUse || q.Order == models.ByPinned): // there are indexes for these
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
	for _, word := range words {
		db = db.Where(`(holds(title, ?) OR EXISTS (
			SELECT 1 FROM users WHERE users.id = sessions.owner_id AND holds(users.name, ?)))`, word, word)
	}
	return db
}

// SessionsByID are the sessions of the ids with their figures, as
// ReviewSessions has them; those that are gone are left out.
func (s *Store) SessionsByID(ctx context.Context, ids []string) ([]models.SessionStats, error) {
	var rows []reviewView
	err := s.read(ctx, "read sessions", func(db *gorm.DB) error {
		return db.Model(&sessionRow{}).Select(sessionColumns).Where("id IN (?)", ids).Order("id").Find(&rows).Error
	})
	return convert(rows, reviewView.stats), err
}
