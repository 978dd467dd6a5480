package store

import (
	"context"
	"strings"

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

// Usage lists what was used, the newest period first, then by user and model.
func (s *Store) Usage(ctx context.Context, q models.UsageQuery) ([]models.UsageSum, string, error) {
	after := sumRow{Period: "9999-99-99"}
	if err := decodeCursor("usage", q.Cursor, &after.Period, &after.UserKey, &after.Model); err != nil {
		return nil, "", err
	}
	where, args := used(q)
	period := len("2026-11")
	if q.ByDay {
		period = len("2026-11-30")
	}
	sql := `SELECT * FROM (
		SELECT substr(day, 1, ?) AS period, user_id, coalesce(name, user_id) AS user_name, coalesce(name_key, user_id) AS user_key,
			model, ` + sumColumns + `
		FROM usage LEFT JOIN users ON users.id = user_id ` + where + ` GROUP BY 1, 2, 5)
	WHERE period < ? OR (period = ? AND (user_key, model) > (?, ?))
	ORDER BY period DESC, user_key, model LIMIT ?`
	limit := q.Clamped()
	args = append(append([]any{period}, args...), after.Period, after.Period, after.UserKey, after.Model, limit+1)
	var rows []sumRow
	err := s.read(ctx, "list what was used", func(db *gorm.DB) error { return db.Raw(sql, args...).Scan(&rows).Error })
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last sumRow) string { return encodeCursor("usage", last.Period, last.UserKey, last.Model) })
	return convert(rows, sumRow.sum), next, nil
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
		return db.Raw("SELECT DISTINCT substr(day, 1, 7) AS month FROM usage ORDER BY month DESC").Scan(&months).Error
	})
	return months, err
}

// used is the condition for the rows that a query asks for. The months of a
// year are compared as text: no day comes after -31.
func used(q models.UsageQuery) (string, []any) {
	var conditions []string
	var args []any
	if q.Month != "" {
		conditions, args = append(conditions, "day BETWEEN ? AND ?"), append(args, q.Month+"-01", q.Month+"-31")
	}
	if q.UserID != "" {
		conditions, args = append(conditions, "user_id = ?"), append(args, q.UserID)
	}
	if len(conditions) == 0 {
		return "", nil
	}
	return "WHERE " + strings.Join(conditions, " AND "), args
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
