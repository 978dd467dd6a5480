package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// sumRow is a sum of the table usage, which a trigger keeps.
type sumRow struct {
	Period          string
	UserID          string
	UserName        string
	UserKey         string
	Model           string
	Turns           int64
	InputTokens     int64
	OutputTokens    int64
	ReasoningTokens int64
	CachedTokens    int64
	Cost            float64
}

func (r sumRow) sum() models.UsageSum {
	return models.UsageSum{
		Period: r.Period, UserID: r.UserID, UserName: r.UserName, Model: r.Model, Turns: r.Turns, Usage: r.usage(),
	}
}

func (r sumRow) usage() models.Usage {
	return models.Usage{
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, ReasoningTokens: r.ReasoningTokens,
		CachedTokens: r.CachedTokens, Cost: r.Cost,
	}
}

const sumColumns = `coalesce(sum(turns), 0) AS turns, coalesce(sum(input_tokens), 0) AS input_tokens,
	coalesce(sum(output_tokens), 0) AS output_tokens, coalesce(sum(reasoning_tokens), 0) AS reasoning_tokens,
	coalesce(sum(cached_tokens), 0) AS cached_tokens, coalesce(sum(cost), 0) AS cost`

// Usage lists what was used, the newest period first, then by user and model. A
// page is put together period by period: what it costs does not grow with what
// was used before.
func (s *Store) Usage(ctx context.Context, q models.UsageQuery) ([]models.UsageSum, string, error) {
	after := sumRow{Period: "9999-99-99"}
	if err := decodeCursor("usage", q.Cursor, &after.Period, &after.UserKey, &after.Model); err != nil {
		return nil, "", err
	}
	limit := q.Clamped()
	var rows []sumRow
	err := s.read(ctx, "list what was used", func(db *gorm.DB) error {
		if q.Cursor != "" { // what is left of the period that the last page ended in
			some, err := usedIn(db, q, after, limit+1)
			if err != nil {
				return err
			}
			rows = some
		}
		for before := after.Period; len(rows) <= limit; {
			period, err := lastPeriod(db, q, before)
			if err != nil || period == "" {
				return err
			}
			some, err := usedIn(db, q, sumRow{Period: period}, limit+1-len(rows))
			if err != nil {
				return err
			}
			rows, before = append(rows, some...), period
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last sumRow) string { return encodeCursor("usage", last.Period, last.UserKey, last.Model) })
	return convert(rows, sumRow.sum), next, nil
}

// lastPeriod is the newest period before another in which something was used;
// empty where there is none. A month comes before its days, as text.
func lastPeriod(db *gorm.DB, q models.UsageQuery, before string) (string, error) {
	where, args := used(q)
	var day *string
	err := db.Raw("SELECT max(day) FROM usage "+where+" AND day < ?", append(args, before)...).Scan(&day).Error
	switch {
	case err != nil || day == nil:
		return "", err
	case q.ByDay:
		return *day, nil
	}
	return (*day)[:len("2026-11")], nil
}

// usedIn is what was used in one period, after a user and model.
func usedIn(db *gorm.DB, q models.UsageQuery, after sumRow, most int) ([]sumRow, error) {
	where, args := used(q)
	from, to := after.Period, after.Period
	if !q.ByDay {
		from, to = from+"-01", to+"-31"
	}
	var rows []sumRow
	err := db.Raw(`SELECT ? AS period, * FROM (
			SELECT user_id, coalesce(name, user_id) AS user_name, coalesce(name_key, user_id) AS user_key, model, `+sumColumns+`
			FROM usage LEFT JOIN users ON users.id = user_id `+where+` AND day BETWEEN ? AND ? GROUP BY model, user_id)
		WHERE (user_key, model) > (?, ?) ORDER BY user_key, model LIMIT ?`,
		append(append([]any{after.Period}, args...), from, to, after.UserKey, after.Model, most)...).Scan(&rows).Error
	return rows, err
}

// UsageTotal sums all that the query asks for, on whatever page of the list.
func (s *Store) UsageTotal(ctx context.Context, q models.UsageQuery) (models.UsageSum, error) {
	where, args := used(q)
	var row sumRow
	err := s.read(ctx, "sum what was used", func(db *gorm.DB) error {
		return db.Raw("SELECT "+sumColumns+" FROM usage "+where, args...).Scan(&row).Error
	})
	return row.sum(), err
}

// UsageMonths are the months in which something was used, the newest first.
func (s *Store) UsageMonths(ctx context.Context) ([]string, error) {
	months := []string{}
	err := s.read(ctx, "list the months of usage", func(db *gorm.DB) error {
		return db.Raw(`WITH RECURSIVE newest (day) AS (
			SELECT max(day) FROM usage
			UNION ALL
			SELECT (SELECT max(day) FROM usage WHERE day < substr(newest.day, 1, 7)) FROM newest WHERE day IS NOT NULL
		) SELECT substr(day, 1, 7) FROM newest WHERE day IS NOT NULL`).Scan(&months).Error
	})
	return months, err
}

// used is the condition for the rows that a query asks for. The months of a
// year are compared as text: no day comes after -31.
func used(q models.UsageQuery) (string, []any) {
	where, args := "WHERE day > ''", []any{}
	if q.Month != "" {
		where, args = "WHERE day BETWEEN ? AND ?", append(args, q.Month+"-01", q.Month+"-31")
	}
	if q.UserID != "" {
		where, args = where+" AND user_id = ?", append(args, q.UserID)
	}
	return where, args
}

// SessionUsage is what the turns of a session have used, by model. What forks
// were copied from counts there alone.
func (s *Store) SessionUsage(ctx context.Context, sessionID string) ([]models.UsageSum, error) {
	var rows []sumRow
	err := s.read(ctx, "usage of session "+sessionID, func(db *gorm.DB) error {
		return db.Raw(`SELECT model, count(*) AS turns, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
			sum(reasoning_tokens) AS reasoning_tokens, sum(cached_tokens) AS cached_tokens, sum(cost) AS cost
			FROM turns WHERE session_id = ? AND input_tokens + output_tokens > 0 GROUP BY model`, sessionID).Scan(&rows).Error
	})
	return convert(rows, sumRow.sum), err
}
