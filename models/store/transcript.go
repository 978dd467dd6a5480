package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// Transcript is what may be sent to the model for a turn that is shown: its own
// messages and those shown before it, without the turns that never left the
// queue.
func (s *Store) Transcript(ctx context.Context, sessionID, turnID string) ([]models.Message, error) {
	return s.transcript(ctx, sessionID, "", turnID)
}

// Rest is the part of a turn's transcript that comes behind an earlier turn.
func (s *Store) Rest(ctx context.Context, sessionID, behind, turnID string) ([]models.Message, error) {
	return s.transcript(ctx, sessionID, behind, turnID)
}

func (s *Store) transcript(ctx context.Context, sessionID, behind, turnID string) ([]models.Message, error) {
	var rows []messageRow
	err := s.read(ctx, "transcript for turn "+turnID, func(db *gorm.DB) error {
		from, err := endOf(db, sessionID, behind)
		if err != nil {
			return err
		}
		to, err := endOf(db, sessionID, turnID)
		if err != nil {
			return err
		}
		return db.Where("session_id = ? AND shown = 1 AND seq >= ? AND seq < ?", sessionID, from, to).
			Where("turn_id NOT IN (SELECT id FROM turns WHERE session_id = ? AND shown = 1 AND started_at IS NULL AND id <> ?)", sessionID, turnID).
			Order("seq").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	return messagesOf(rows)
}

// endOf is above the seq of all messages of a turn; 0 of none.
func endOf(db *gorm.DB, sessionID, turnID string) (int64, error) {
	if turnID == "" {
		return 0, nil
	}
	var turn turnRow
	err := db.Select("seq").Where("session_id = ? AND id = ?", sessionID, turnID).Take(&turn).Error
	return seqAfterTurn(turn.Seq), orMissing(err, noTurn())
}
