package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// LengthenReply is for the start of the server, before InterruptRunning: a reply
// that a crash left running takes the text and the reasoning that had come of
// it, where they are longer than what is stored. Every other message, and one
// that is gone, stays as it is.
func (s *Store) LengthenReply(ctx context.Context, messageID, content, reasoning string) error {
	return s.write(ctx, "lengthen message "+messageID, func(tx *gorm.DB) error {
		for column, text := range map[string]string{"content": content, "reasoning": reasoning} {
			err := tx.Model(&messageRow{}).
				Where("id = ? AND role = ? AND state = ?", messageID, models.RoleAssistant, models.StateRunning).
				Where("length(CAST("+column+" AS BLOB)) < ?", len(text)).
				Update(column, text).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}
