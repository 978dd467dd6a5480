package store

import (
	"encoding/json"
	"fmt"

	"offcut/models"
)

type messageRow struct {
	ID            string
	SessionID     string
	TurnID        string
	Seq           int64
	Role          string
	Content       string
	Reasoning     string
	ReasoningData string
	IsMeta        bool
	ToolCalls     *string
	ToolCallID    *string
	Metadata      *string
	Attachments   *string
	State         string
	FinishReason  string
	Model         string
	Shown         bool
	Created       int64 `gorm:"column:created_at"`
}

func (messageRow) TableName() string { return "messages" }

func (r messageRow) message() (models.Message, error) {
	m := models.Message{
		ID:            r.ID,
		SessionID:     r.SessionID,
		TurnID:        r.TurnID,
		Seq:           r.Seq,
		Role:          models.Role(r.Role),
		Content:       r.Content,
		Reasoning:     r.Reasoning,
		ReasoningData: r.ReasoningData,
		IsMeta:        r.IsMeta,
		State:         models.State(r.State),
		FinishReason:  models.FinishReason(r.FinishReason),
		Model:         r.Model,
		Shown:         r.Shown,
		CreatedAt:     fromMicros(r.Created),
	}
	if r.ToolCallID != nil {
		m.ToolCallID = *r.ToolCallID
	}
	if err := fromJSON(r.ToolCalls, &m.ToolCalls); err != nil {
		return models.Message{}, fmt.Errorf("tool calls of message %s: %w", r.ID, err)
	}
	if err := fromJSON(r.Metadata, &m.Metadata); err != nil {
		return models.Message{}, fmt.Errorf("metadata of message %s: %w", r.ID, err)
	}
	if err := fromJSON(r.Attachments, &m.Attachments); err != nil {
		return models.Message{}, fmt.Errorf("attachments of message %s: %w", r.ID, err)
	}
	return m, nil
}

func messageRowOf(m models.Message) (messageRow, error) {
	row := messageRow{
		ID:            m.ID,
		SessionID:     m.SessionID,
		TurnID:        m.TurnID,
		Seq:           m.Seq,
		Role:          string(m.Role),
		Content:       m.Content,
		Reasoning:     m.Reasoning,
		ReasoningData: m.ReasoningData,
		IsMeta:        m.IsMeta,
		State:         string(m.State),
		FinishReason:  string(m.FinishReason),
		Model:         m.Model,
		Shown:         m.Shown,
		Created:       micros(m.CreatedAt),
	}
	if m.ToolCallID != "" {
		row.ToolCallID = &m.ToolCallID
	}
	var err error
	if len(m.ToolCalls) > 0 {
		if row.ToolCalls, err = toJSON(m.ToolCalls); err != nil {
			return row, err
		}
	}
	if m.Metadata != nil {
		if row.Metadata, err = toJSON(m.Metadata); err != nil {
			return row, err
		}
	}
	if len(m.Attachments) > 0 {
		row.Attachments, err = toJSON(m.Attachments)
	}
	return row, err
}

func messagesOf(rows []messageRow) ([]models.Message, error) {
	list := make([]models.Message, 0, len(rows))
	for _, row := range rows {
		m, err := row.message()
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// toJSON and fromJSON are for columns that hold JSON, or NULL for nothing.
func toJSON(v any) (*string, error) {
	raw, err := json.Marshal(v)
	text := string(raw)
	return &text, err
}

func fromJSON(column *string, into any) error {
	if column == nil {
		return nil
	}
	return json.Unmarshal([]byte(*column), into)
}
