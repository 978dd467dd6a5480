package store

import (
	"context"
	"errors"

	"offcut/models"

	"gorm.io/gorm"
)

// Enqueue stores a user's message with the turn that will answer it, queued,
// in one transaction, and notes the use of the session, which is no draft from then
// on. A client id that the session knows gives the turn and message it gave before, and false.
//
// What the owner's quota has no room for is ErrTooLarge. What replaces or
// continues another turn is ErrConflict while one of the
// session waits or runs, and ErrNotFound where the session has no such turn.
func (s *Store) Enqueue(ctx context.Context, t models.NewTurn) (models.Turn, models.Message, bool, error) {
	var turn turnRow
	var message messageRow
	var created bool
	err := s.write(ctx, "queue a turn in session "+t.SessionID, func(tx *gorm.DB) error {
		if _, err := findSession(tx, "owner_id = ? AND id = ?", t.OwnerID, t.SessionID); err != nil {
			return err
		}
		known, err := sentBefore(tx, t, &turn, &message)
		if err != nil || known {
			return err
		}
		created = true
		if turn, message, err = s.begin(tx, t); err != nil {
			return err
		}
		if err := tx.Model(&sessionRow{}).Where("id = ? AND building = 1", t.SessionID).Update("building", false).Error; err != nil {
			return err
		}
		return touchSession(tx, t.SessionID, t.Now)
	})
	if err != nil {
		return models.Turn{}, models.Message{}, false, err
	}
	first, err := message.message()
	return turn.turn(), first, created, err
}

// SentTurn is the turn that was sent before with the client id of t;
// ErrNotFound where there is none.
func (s *Store) SentTurn(ctx context.Context, t models.NewTurn) (models.Turn, error) {
	if t.ClientID == "" {
		return models.Turn{}, noTurn()
	}
	return s.turn(ctx, "turn that was sent before in session "+t.SessionID, func(db *gorm.DB) *gorm.DB {
		return db.Where("owner_id = ? AND session_id = ? AND client_id = ?", t.OwnerID, t.SessionID, t.ClientID)
	})
}

// sentBefore looks for the turn of a client id.
func sentBefore(tx *gorm.DB, t models.NewTurn, turn *turnRow, message *messageRow) (bool, error) {
	if t.ClientID == "" {
		return false, nil
	}
	err := tx.Where("session_id = ? AND client_id = ?", t.SessionID, t.ClientID).Take(turn).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, tx.Where("session_id = ? AND seq >= ?", t.SessionID, firstSeq(turn.Seq)).Order("seq").Take(message).Error
}

// begin adds the turn at its place, with the message that it answers.
func (s *Store) begin(tx *gorm.DB, t models.NewTurn) (turnRow, messageRow, error) {
	at, err := placeOf(tx, t)
	if err != nil {
		return turnRow{}, messageRow{}, err
	}
	turn, err := insertTurn(tx, t, at)
	if err != nil {
		return turnRow{}, messageRow{}, err
	}
	message := newUserMessage(at, turn)
	if err := s.checkQuota(tx, t.OwnerID, message.stored()); err != nil {
		return turnRow{}, messageRow{}, err
	}
	if err := tx.Create(&message).Error; err != nil {
		return turnRow{}, messageRow{}, err
	}
	if t.Replaces == "" {
		return turn, message, nil
	}
	turn.Shown, message.Shown = true, true
	return turn, message, show(tx, turn)
}

func insertTurn(tx *gorm.DB, t models.NewTurn, at place) (turnRow, error) {
	row := turnRow{
		ID:        models.NewID(models.PrefixTurn),
		SessionID: t.SessionID,
		OwnerID:   t.OwnerID,
		ParentID:  at.parent,
		Shown:     t.Replaces == "", // else it comes to be shown in the other's place
		Repeats:   at.repeats,
		RequestID: t.RequestID,
		State:     string(models.StateQueued),
		Created:   micros(t.Now),
	}
	if t.ClientID != "" {
		row.ClientID = &t.ClientID
	}
	err := tx.Raw("SELECT coalesce(max(seq), 0) + 1 FROM turns WHERE session_id = ?", t.SessionID).Scan(&row.Seq).Error
	if err != nil {
		return row, err
	}
	return row, tx.Create(&row).Error
}

func newUserMessage(at place, turn turnRow) messageRow {
	return messageRow{
		ID:          models.NewID(models.PrefixMessage),
		SessionID:   turn.SessionID,
		TurnID:      turn.ID,
		Seq:         firstSeq(turn.Seq),
		Role:        string(models.RolePerson),
		Content:     at.content,
		Attachments: at.attachments,
		IsMeta:      at.hidden,
		State:       string(models.StateQueued),
		Shown:       turn.Shown,
		Created:     turn.Created,
	}
}
