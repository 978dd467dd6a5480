package store

import (
	"context"
	"errors"
	"slices"

	"offcut/models"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type summaryRow struct {
	SessionID    string `gorm:"primaryKey"`
	UptoTurn     string `gorm:"primaryKey"`
	Content      string
	Messages     int
	Outputs      int
	TokensBefore int
	TokensAfter  int
	Model        string
	Created      int64 `gorm:"column:created_at"`
}

func (summaryRow) TableName() string { return "summaries" }

func (r summaryRow) summary() models.Summary {
	return models.Summary{
		SessionID: r.SessionID, UptoTurn: r.UptoTurn, Content: r.Content, Messages: r.Messages, Outputs: r.Outputs,
		TokensBefore: r.TokensBefore, TokensAfter: r.TokensAfter, Model: r.Model, CreatedAt: fromMicros(r.Created),
	}
}

// SaveSummary stores a summary of a session's turns; one that ends with the
// same turn is replaced.
func (s *Store) SaveSummary(ctx context.Context, m models.Summary) error {
	return s.write(ctx, "save a summary of session "+m.SessionID, func(tx *gorm.DB) error {
		err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&summaryRow{
			SessionID: m.SessionID, UptoTurn: m.UptoTurn, Content: m.Content, Messages: m.Messages, Outputs: m.Outputs,
			TokensBefore: m.TokensBefore, TokensAfter: m.TokensAfter, Model: m.Model, Created: micros(m.CreatedAt),
		}).Error
		if orphaned(err) {
			return noTurn()
		}
		return err
	})
}

// turnsAsked is how many turns one statement asks about: SQLite takes 32,766
// values.
const turnsAsked = 1000

// Summaries finds the summaries of a session that end with one of the turns.
func (s *Store) Summaries(ctx context.Context, sessionID string, turnIDs []string) ([]models.Summary, error) {
	var all []summaryRow
	err := s.read(ctx, "summaries of session "+sessionID, func(db *gorm.DB) error {
		for ids := range slices.Chunk(turnIDs, turnsAsked) {
			var rows []summaryRow
			if err := db.Where("session_id = ? AND upto_turn IN ?", sessionID, ids).Find(&rows).Error; err != nil {
				return err
			}
			all = append(all, rows...)
		}
		return nil
	})
	return convert(all, summaryRow.summary), err
}

// LastSummary is the summary of a session's conversation that covers most of what
// was said before a turn that is shown; ErrNotFound where there is none.
func (s *Store) LastSummary(ctx context.Context, sessionID, turnID string) (models.Summary, error) {
	var row summaryRow
	err := s.read(ctx, "summary before turn "+turnID, func(db *gorm.DB) error {
		err := db.Table("turns").Select("summaries.*").
			Joins("CROSS JOIN summaries ON summaries.session_id = turns.session_id AND summaries.upto_turn = turns.id").
			Where("turns.session_id = ? AND turns.shown = 1 AND turns.seq < (SELECT seq FROM turns WHERE session_id = ? AND id = ?)", sessionID, sessionID, turnID).
			Order("turns.seq DESC").Take(&row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return models.ErrNotFound // nobody is told
		}
		return err
	})
	return row.summary(), err
}

type pruningRow struct {
	SessionID string `gorm:"primaryKey"`
	CallID    string `gorm:"primaryKey"`
	Keep      int
}

func (pruningRow) TableName() string { return "prunings" }

// SavePrunings notes which results of a session are sent shortened, by the ids
// of their calls, and how many characters of each stay at each end.
func (s *Store) SavePrunings(ctx context.Context, sessionID string, keep map[string]int) error {
	rows := make([]pruningRow, 0, len(keep))
	for id, n := range keep {
		rows = append(rows, pruningRow{SessionID: sessionID, CallID: id, Keep: n})
	}
	if len(rows) == 0 {
		return nil
	}
	return s.write(ctx, "save prunings of session "+sessionID, func(tx *gorm.DB) error {
		err := tx.Clauses(clause.OnConflict{UpdateAll: true}).CreateInBatches(rows, turnsAsked).Error
		if orphaned(err) {
			return noSession()
		}
		return err
	})
}

// Prunings is what SavePrunings noted of a session.
func (s *Store) Prunings(ctx context.Context, sessionID string) (map[string]int, error) {
	var rows []pruningRow
	err := s.read(ctx, "prunings of session "+sessionID, func(db *gorm.DB) error {
		return db.Where("session_id = ?", sessionID).Find(&rows).Error
	})
	keep := make(map[string]int, len(rows))
	for _, row := range rows {
		keep[row.CallID] = row.Keep
	}
	return keep, err
}
