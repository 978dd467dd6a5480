package store

import (
	"context"
	"fmt"
	"math"
	"slices"

	"offcut/models"

	"gorm.io/gorm"
)

// turnBits is how many of a message's seq number count within its turn: a
// million messages a turn, far above every cap of the loop.
const turnBits = 20

// firstSeq is the seq of the first message of a turn. It is 1 within the turn,
// so that 0 in the lower bits is before all of them.
func firstSeq(turnSeq int64) int64 { return turnSeq<<turnBits | 1 }

// seqAfterTurn is above the seq of every message of a turn, and below those of
// the next.
func seqAfterTurn(turnSeq int64) int64 { return (turnSeq + 1) << turnBits }

// AppendMessage adds a message at the end of its turn and fills in its Seq and
// Shown, and its ID where it has none. An id of a call that the session knows already
// is ErrConflict.
func (s *Store) AppendMessage(ctx context.Context, m models.Message) (models.Message, error) {
	err := s.write(ctx, "append to turn "+m.TurnID, func(tx *gorm.DB) error { return appendMessage(tx, &m) })
	return m, err
}

// AppendReply adds a reply as AppendMessage does, and with it what it proves of
// the request that it answers. Reads of outputs that are gone are left out.
func (s *Store) AppendReply(ctx context.Context, m models.Message, proof models.Proof) (models.Message, error) {
	err := s.write(ctx, "append a reply to turn "+m.TurnID, func(tx *gorm.DB) error {
		if err := appendMessage(tx, &m); err != nil {
			return err
		}
		if err := noteSent(tx, m.SessionID, proof.Sent); err != nil {
			return err
		}
		if proof.SetGrounds {
			if err := noteGrounds(tx, m.SessionID, m.TurnID, proof.Grounds); err != nil {
				return err
			}
		}
		return insertReads(tx, proof.Reads)
	})
	return m, err
}

// AppendResults adds the tool messages of one step together.
func (s *Store) AppendResults(ctx context.Context, msgs []models.Message) error {
	return s.write(ctx, "append tool results", func(tx *gorm.DB) error {
		for i := range msgs {
			if err := appendResult(tx, msgs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// appendResult adds a tool message, and how it has passed the layers.
func appendResult(tx *gorm.DB, m models.Message) error {
	if err := tellNested(tx, &m); err != nil {
		return err
	}
	if err := appendMessage(tx, &m); err != nil {
		return err
	}
	return passed(tx, m)
}

func appendMessage(tx *gorm.DB, m *models.Message) error {
	var turn turnRow
	if err := tx.Select("seq", "shown").Where("session_id = ? AND id = ?", m.SessionID, m.TurnID).Take(&turn).Error; err != nil {
		return orMissing(err, noTurn())
	}
	err := tx.Raw("SELECT coalesce(max(seq), ?) + 1 FROM messages WHERE session_id = ? AND seq >= ? AND seq < ?",
		turn.Seq<<turnBits, m.SessionID, turn.Seq<<turnBits, seqAfterTurn(turn.Seq)).Scan(&m.Seq).Error
	if err != nil {
		return err
	}
	if m.Seq >= seqAfterTurn(turn.Seq) {
		return fmt.Errorf("turn %s has %d messages, which is all that it can have", m.TurnID, 1<<turnBits)
	}
	if m.ID == "" {
		m.ID = models.NewID(models.PrefixMessage)
	}
	m.Shown = turn.Shown
	row, err := messageRowOf(*m)
	if err != nil {
		return err
	}
	err = tx.Create(&row).Error
	if taken(err) && m.ToolCallID != "" {
		return models.Errorf(models.ErrConflict, "call_answered", "the tool call %s has its result already", m.ToolCallID)
	}
	if err != nil {
		return err
	}
	return insertCalls(tx, *m)
}

// SaveMessage stores a message's content, reasoning and its data, calls, state,
// finish reason and model.
func (s *Store) SaveMessage(ctx context.Context, m models.Message) error {
	return s.write(ctx, "save message "+m.ID, func(tx *gorm.DB) error {
		row, err := messageRowOf(m)
		if err != nil {
			return err
		}
		result := tx.Model(&messageRow{}).Where("session_id = ? AND id = ?", m.SessionID, m.ID).Updates(map[string]any{
			"content":        row.Content,
			"reasoning":      row.Reasoning,
			"reasoning_data": row.ReasoningData,
			"tool_calls":     row.ToolCalls,
			"state":          row.State,
			"finish_reason":  row.FinishReason,
			"model":          row.Model,
		})
		if err := changed(result, noMessage()); err != nil {
			return err
		}
		if err := tx.Where("message_id = ?", m.ID).Delete(&callRow{}).Error; err != nil {
			return err
		}
		return insertCalls(tx, m)
	})
}

// Message finds a message of a session.
func (s *Store) Message(ctx context.Context, sessionID, id string) (models.Message, error) {
	var row messageRow
	err := s.read(ctx, "message "+id, func(db *gorm.DB) error {
		return orMissing(db.Where("session_id = ? AND id = ?", sessionID, id).Take(&row).Error, noMessage())
	})
	if err != nil {
		return models.Message{}, err
	}
	return row.message()
}

// Messages reads a page of a session's messages, oldest first: of those that are
// shown, unless all versions are asked for. With Newest the pages come from the
// end of the session, and the cursor leads to older ones.
func (s *Store) Messages(ctx context.Context, q models.MessageQuery) ([]models.Message, string, error) {
	list, condition, order, key := "messages", "seq > ?", "seq", int64(-1)
	if q.Newest {
		list, condition, order, key = "messages back", "seq < ?", "seq DESC", math.MaxInt64
	}
	if err := decodeCursor(list, q.Cursor, &key); err != nil {
		return nil, "", err
	}
	limit := q.Clamped()
	var rows []messageRow
	err := s.read(ctx, "messages of session "+q.SessionID, func(db *gorm.DB) error {
		db = db.Where("session_id = ? AND "+condition, q.SessionID, key).Order(order).Limit(limit + 1)
		if !q.IncludeHidden {
			db = db.Where("is_meta = 0")
		}
		if !q.IncludeVersions {
			db = db.Where("shown = 1")
		}
		return db.Find(&rows).Error
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last messageRow) string { return encodeCursor(list, last.Seq) })
	if q.Newest {
		slices.Reverse(rows)
	}
	page, err := messagesOf(rows)
	return page, next, err
}

// TurnMessages are the messages of one turn of a session, hidden ones among them,
// whether or not it is shown.
func (s *Store) TurnMessages(ctx context.Context, sessionID, turnID string) ([]models.Message, error) {
	var rows []messageRow
	err := s.read(ctx, "messages of turn "+turnID, func(db *gorm.DB) error {
		var turn turnRow
		if err := db.Select("seq").Where("session_id = ? AND id = ?", sessionID, turnID).Take(&turn).Error; err != nil {
			return orMissing(err, noTurn())
		}
		return db.Where("session_id = ? AND seq >= ? AND seq < ?", sessionID, firstSeq(turn.Seq), seqAfterTurn(turn.Seq)).
			Order("seq").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	return messagesOf(rows)
}
