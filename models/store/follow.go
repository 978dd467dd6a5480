package store

import (
	"context"
	"slices"

	"offcut/models"

	"gorm.io/gorm"
)

// Replied reports whether a reply of the model stands after a message, or begins
// to: the model was sent the message. Of one that is not shown, replies count
// that are its turn's or the next one's.
func (s *Store) Replied(ctx context.Context, m models.Message) (bool, error) {
	var found []string
	err := s.read(ctx, "reply to message "+m.ID, func(db *gorm.DB) error {
		db = db.Model(&messageRow{}).Where("seq > ? AND role = ?", m.Seq, models.RoleAssistant).Order("seq").Limit(1)
		if m.Shown {
			return db.Where("session_id = ? AND shown = 1", m.SessionID).Pluck("id", &found).Error
		}
		turns := []string{m.TurnID}
		err := db.Session(&gorm.Session{NewDB: true}).Model(&turnRow{}).Where("session_id = ? AND parent_id = ?", m.SessionID, m.TurnID).Pluck("id", &turns).Error
		if err != nil {
			return err
		}
		return db.Where("turn_id IN ?", append(turns, m.TurnID)).Pluck("id", &found).Error
	})
	return len(found) > 0, err
}

// After is the cursor from which reading newest first begins with a turn that
// is shown, and the first message after the turn; both are empty where nothing
// comes after it.
func (s *Store) After(ctx context.Context, sessionID, turnID string) (cursor, message string, err error) {
	err = s.read(ctx, "what follows turn "+turnID, func(db *gorm.DB) error {
		var turn turnRow
		if err := db.Select("seq").Where("session_id = ? AND id = ?", sessionID, turnID).Take(&turn).Error; err != nil {
			return orMissing(err, noTurn())
		}
		var next []messageRow
		err := db.Select("id", "seq", "is_meta").Where("session_id = ? AND shown = 1 AND seq >= ?", sessionID, seqAfterTurn(turn.Seq)).
			Order("seq").Limit(2).Find(&next).Error
		if err != nil || len(next) == 0 {
			return err
		}
		cursor = encodeCursor("messages back", next[0].Seq)
		for _, m := range slices.Backward(next) { // a turn begins with at most one hidden message
			if !m.IsMeta {
				message = m.ID
			}
		}
		return nil
	})
	return cursor, message, err
}
