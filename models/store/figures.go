package store

import (
	"context"
	"strings"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// figuresRow is a sum of the table figures, which triggers keep.
type figuresRow struct {
	Day, Tool, Model                           string
	Calls, Truncated                           int64
	Produced, Captured, Retained, Shown, Sent  int64
	Recovered, Consulted, Reruns               int64
	Incomplete, FailedSaves, Repaired, Refused int64
	Continuations, CapHits, Retries            int64
	Answers, Unread, GapsNamed, Doubted        int64
}

func (r figuresRow) figures() models.Figures { return models.Figures(r) }

// figureSums sums every figure of the rows.
var figureSums = func() string {
	var sums []string
	for _, column := range []string{
		"calls", "truncated", "produced", "captured", "retained", "shown", "sent", "recovered", "consulted", "reruns",
		"incomplete", "failed_saves", "repaired", "refused", "continuations", "cap_hits", "retries",
		"answers", "unread", "gaps_named", "doubted",
	} {
		sums = append(sums, "coalesce(sum("+column+"), 0) AS "+column)
	}
	return strings.Join(sums, ", ")
}()

// Figures lists sums: the newest day first, then by tool and model. It reads the
// days that are asked for, and none of the results of which they are the sums.
func (s *Store) Figures(ctx context.Context, q models.FiguresList) ([]models.Figures, string, error) {
	list := "figures " + string(q.By)
	after := figuresRow{Day: "9999-99-99"}
	if err := decodeCursor(list, q.Cursor, &after.Day, &after.Tool, &after.Model); err != nil {
		return nil, "", err
	}
	limit := q.Clamped()
	sql, args := figuresSQL(q, after)
	rows, err := s.figures(ctx, sql, append(args, limit+1)...)
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last figuresRow) string { return encodeCursor(list, last.Day, last.Tool, last.Model) })
	return convert(rows, figuresRow.figures), next, nil
}

// figuresSQL asks for what comes after a row. The sums of a day are in the table
// as they are; those over days are as few as there are tools, or models.
func figuresSQL(q models.FiguresList, after figuresRow) (string, []any) {
	where, args := figured(q.FiguresQuery)
	column := string(q.By)
	switch q.By {
	case models.FiguresByTool, models.FiguresByModel:
		before := after.Tool + after.Model // one of them is empty
		return "SELECT " + column + ", " + figureSums + " FROM figures WHERE " + where + " AND (? OR " + column + " > ?)" +
			" GROUP BY " + column + " ORDER BY " + column + " LIMIT ?", append(args, q.Cursor == "", before)
	}
	return "SELECT * FROM figures WHERE " + where + " AND day <= ? AND (day < ? OR (tool, model) > (?, ?))" +
		" ORDER BY day DESC, tool, model LIMIT ?", append(args, after.Day, after.Day, after.Tool, after.Model)
}

// FiguresByDays are the sums of each day over tools and models, the oldest
// first; days without any are left out.
func (s *Store) FiguresByDays(ctx context.Context, q models.FiguresQuery) ([]models.Figures, error) {
	where, args := figured(q)
	return s.sums(ctx, "SELECT day, '' AS tool, '' AS model, "+figureSums+" FROM figures WHERE "+where+" GROUP BY 1 ORDER BY 1", args...)
}

// FiguresTotal sums all that a query asks for.
func (s *Store) FiguresTotal(ctx context.Context, q models.FiguresQuery) (models.Figures, error) {
	where, args := figured(q)
	sums, err := s.sums(ctx, "SELECT '' AS day, '' AS tool, '' AS model, "+figureSums+" FROM figures WHERE "+where, args...)
	if err != nil {
		return models.Figures{}, err
	}
	return sums[0], nil
}

// FiguresEver are the sums of all time, by tool and model: as many rows as there
// are of these, however much was counted.
func (s *Store) FiguresEver(ctx context.Context) ([]models.Figures, error) {
	return s.sums(ctx, "SELECT * FROM figures WHERE day = ''")
}

func (s *Store) sums(ctx context.Context, sql string, args ...any) ([]models.Figures, error) {
	rows, err := s.figures(ctx, sql, args...)
	return convert(rows, figuresRow.figures), err
}

func (s *Store) figures(ctx context.Context, sql string, args ...any) ([]figuresRow, error) {
	var rows []figuresRow
	err := s.read(ctx, "read figures", func(db *gorm.DB) error { return db.Raw(sql, args...).Scan(&rows).Error })
	return rows, err
}

// figured is the condition for the rows of a query. The sums of all time, whose
// day is ”, are none of them.
func figured(q models.FiguresQuery) (string, []any) {
	from, to := "0", "9999-99-99"
	if !q.From.IsZero() {
		from = q.From.UTC().Format(time.DateOnly)
	}
	if !q.To.IsZero() {
		to = q.To.UTC().Format(time.DateOnly)
	}
	conditions, args := []string{"day BETWEEN ? AND ?"}, []any{from, to}
	if q.Tool != "" {
		conditions, args = append(conditions, "tool = ?"), append(args, q.Tool)
	}
	if q.Model != "" {
		conditions, args = append(conditions, "model = ?"), append(args, q.Model)
	}
	return strings.Join(conditions, " AND "), args
}
