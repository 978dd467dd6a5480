package store

import (
	"context"
	"errors"

	"offcut/models"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type windowRow struct {
	SessionID string `gorm:"primaryKey"`
	Model     string `gorm:"primaryKey"`
	Tokens    int
	Refused   int64 `gorm:"column:refused_at"`
	Scale     float64
}

func (windowRow) TableName() string { return "windows" }

// SaveWindow stores what a session has taught of a model's window, in place of
// what was stored of it before.
func (s *Store) SaveWindow(ctx context.Context, w models.Window) error {
	return s.write(ctx, "save the window of session "+w.SessionID, func(tx *gorm.DB) error {
		err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&windowRow{
			SessionID: w.SessionID, Model: w.Model, Tokens: w.Tokens, Refused: micros(w.RefusedAt), Scale: w.Scale,
		}).Error
		if orphaned(err) {
			return noSession()
		}
		return err
	})
}

// Window is what SaveWindow stored of a session and a model, and else nothing
// but their names.
func (s *Store) Window(ctx context.Context, sessionID, model string) (models.Window, error) {
	w := models.Window{SessionID: sessionID, Model: model}
	err := s.read(ctx, "window of session "+sessionID, func(db *gorm.DB) error {
		var row windowRow
		err := db.Where("session_id = ? AND model = ?", sessionID, model).Take(&row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return nil
		}
		w.Tokens, w.RefusedAt, w.Scale = row.Tokens, fromMicros(row.Refused), row.Scale
		return err
	})
	return w, err
}
