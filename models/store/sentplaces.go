package store

import (
	"context"
	"fmt"
	"slices"

	"offcut/models"

	"gorm.io/gorm"
)

type placeRow struct {
	SessionID string `gorm:"primaryKey"`
	Place     int    `gorm:"primaryKey"`
	Since     int64  `gorm:"primaryKey"`
	Until     *int64
	MessageID *string
	TextID    *int64
}

func (placeRow) TableName() string { return "sent_places" }

// holds reports whether two rows hold the same.
func (r placeRow) holds(other placeRow) bool {
	return equal(r.MessageID, other.MessageID) && equal(r.TextID, other.TextID)
}

func equal[T comparable](a, b *T) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}

// savePlaces writes what a request holds from a place on, as far as the request
// before it held something else there.
func savePlaces(tx *gorm.DB, sessionID string, number int64, from int, parts []models.SentPart) error {
	var before []placeRow
	err := tx.Where("session_id = ? AND place >= ? AND until IS NULL", sessionID, from).Order("place").Find(&before).Error
	if err != nil {
		return err
	}
	var rows []placeRow
	var over []int
	for i, part := range parts {
		row, err := placeRowOf(tx, sessionID, part)
		if err != nil {
			return err
		}
		row.Place, row.Since = from+i, number
		if i < len(before) {
			if row.holds(before[i]) {
				continue
			}
			over = append(over, row.Place)
		}
		rows = append(rows, row)
	}
	for i := len(parts); i < len(before); i++ {
		over = append(over, before[i].Place)
	}
	for places := range slices.Chunk(over, turnsAsked) {
		err := tx.Model(&placeRow{}).Where("session_id = ? AND until IS NULL AND place IN ?", sessionID, places).Update("until", number-1).Error
		if err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.CreateInBatches(rows, turnsAsked).Error
}

func placeRowOf(tx *gorm.DB, sessionID string, part models.SentPart) (placeRow, error) {
	row := placeRow{SessionID: sessionID}
	if part.Own == nil {
		row.MessageID = &part.MessageID
		return row, nil
	}
	content, err := toJSON(sentBodyOf(*part.Own))
	if err != nil {
		return row, err
	}
	id, err := sentText(tx, sessionID, *content)
	row.TextID = &id
	return row, err
}

// sentBody is a message of a request that the session does not have just so, as
// it is stored.
type sentBody struct {
	ID         string                 `json:"id,omitempty"`
	TurnID     string                 `json:"turn,omitempty"`
	Role       models.Role            `json:"role"`
	Content    string                 `json:"content"`
	Reasoning  string                 `json:"reasoning,omitempty"`
	IsMeta     bool                   `json:"meta,omitempty"`
	ToolCalls  []models.ToolCall      `json:"calls,omitempty"`
	ToolCallID string                 `json:"call,omitempty"`
	Metadata   *models.ResultMetadata `json:"metadata,omitempty"`
	Pictures   []models.SentPicture   `json:"pictures,omitempty"`
}

func sentBodyOf(m models.Message) sentBody {
	body := sentBody{
		ID: m.ID, TurnID: m.TurnID, Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, IsMeta: m.IsMeta,
		ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID,
	}
	if m.Metadata != nil {
		told := *m.Metadata
		told.Calls = nil // as in models.ResultMetadata.Line
		body.Metadata = &told
	}
	for _, image := range m.Images {
		body.Pictures = append(body.Pictures, models.SentPicture{Type: image.Type, Bytes: int64(len(image.Data))})
	}
	return body
}

func (b sentBody) message(sessionID string) models.Message {
	return models.Message{
		ID: b.ID, SessionID: sessionID, TurnID: b.TurnID, Role: b.Role, Content: b.Content, Reasoning: b.Reasoning, IsMeta: b.IsMeta,
		ToolCalls: b.ToolCalls, ToolCallID: b.ToolCallID, Metadata: b.Metadata, State: models.StateDone,
	}
}

// heldRow is a place with the text that it holds, if it is one.
type heldRow struct {
	Place     int
	MessageID *string
	Content   *string
}

// SentMessages are the messages of a session's request from a place on, at most
// most of them.
func (s *Store) SentMessages(ctx context.Context, sessionID string, number int64, from, most int) ([]models.SentMessage, error) {
	var rows []heldRow
	var stored []messageRow
	err := s.read(ctx, fmt.Sprintf("messages of request %d of session %s", number, sessionID), func(db *gorm.DB) error {
		err := db.Table("sent_places AS p").Select("p.place, p.message_id, t.content").
			Joins("LEFT JOIN sent_texts AS t ON t.id = p.text_id").
			Where("p.session_id = ? AND p.place >= ? AND p.since <= ? AND (p.until IS NULL OR p.until >= ?)", sessionID, from, number, number).
			Order("p.place").Limit(most).Find(&rows).Error
		if err != nil {
			return err
		}
		var ids []string
		for _, row := range rows {
			if row.MessageID != nil {
				ids = append(ids, *row.MessageID)
			}
		}
		return db.Where("session_id = ? AND id IN ?", sessionID, ids).Find(&stored).Error
	})
	if err != nil {
		return nil, err
	}
	return sentMessages(sessionID, rows, stored)
}

func sentMessages(sessionID string, rows []heldRow, stored []messageRow) ([]models.SentMessage, error) {
	byID := make(map[string]messageRow, len(stored))
	for _, row := range stored {
		byID[row.ID] = row
	}
	list := make([]models.SentMessage, 0, len(rows))
	for _, row := range rows {
		sent := models.SentMessage{Place: row.Place, Stored: row.MessageID != nil}
		if sent.Stored {
			m, err := byID[*row.MessageID].message()
			if err != nil {
				return nil, err
			}
			sent.Message = m
		} else {
			var body sentBody
			if err := fromJSON(row.Content, &body); err != nil {
				return nil, fmt.Errorf("what was sent in place %d: %w", row.Place, err)
			}
			sent.Message, sent.Pictures = body.message(sessionID), body.Pictures
		}
		list = append(list, sent)
	}
	return list, nil
}
