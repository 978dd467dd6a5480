package handlers

import (
	"context"
	"slices"

	"offcut/models"
)

// messagesOfTurn is what was said in a turn, read backward from the end of the
// session: turns that are asked for are among the last.
func (h *Handlers) messagesOfTurn(ctx context.Context, turn models.Turn) ([]models.Message, error) {
	var found []models.Message
	for cursor := ""; ; {
		page, next, err := h.backward(ctx, turn.SessionID, cursor, models.MaxPageLimit)
		if err != nil {
			return nil, err
		}
		goesOn := len(page) > 0 && page[0].TurnID == turn.ID
		of := slices.DeleteFunc(page, func(m models.Message) bool { return m.TurnID != turn.ID })
		found = append(of, found...)
		if next == "" || len(found) > 0 && !goesOn {
			return found, nil
		}
		cursor = next
	}
}

// messageOf is the message with which a turn came; nil where a person wrote
// none.
func (h *Handlers) messageOf(ctx context.Context, turn models.Turn) (*models.Message, error) {
	messages, err := h.messagesOfTurn(ctx, turn)
	for _, m := range messages {
		if m.Role == models.RolePerson {
			return &m, err
		}
	}
	return nil, err
}

// joined is a reply with those that went on with it.
func (h *Handlers) joined(ctx context.Context, m models.Message) (models.Message, error) {
	if !m.CutOff() {
		return m, nil
	}
	messages, err := h.messagesOfTurn(ctx, models.Turn{ID: m.TurnID, SessionID: m.SessionID})
	if err != nil {
		return m, err
	}
	parts := models.JoinReplies(messages)
	if i := slices.IndexFunc(parts, func(part models.Message) bool { return part.ID == m.ID }); i >= 0 {
		return parts[i], nil
	}
	return m, nil // itself one that went on
}
