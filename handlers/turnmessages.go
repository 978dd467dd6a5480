package handlers

import (
	"context"
	"slices"

	"offcut/models"
	"offcut/views"
)

// turnMessages is a turn with what was said in it.
func (h *Handlers) turnMessages(ctx context.Context, turn models.Turn) (turnMessages, error) {
	messages, err := h.Store.TurnMessages(ctx, turn.SessionID, turn.ID)
	if err != nil {
		return turnMessages{}, err
	}
	grounds, err := h.Store.Grounds(ctx, turn.SessionID, []string{turn.ID})
	if err != nil {
		return turnMessages{}, err
	}
	versions, err := h.versionsOf(ctx, turn.SessionID, turn)
	return turnMessages{turn, messages, versions[turn.ParentID], grounds[turn.ID]}, err
}

// messageOf is the message with which a turn came; nil where a person wrote
// none.
func (h *Handlers) messageOf(ctx context.Context, turn models.Turn) (*models.Message, error) {
	messages, err := h.Store.TurnMessages(ctx, turn.SessionID, turn.ID)
	for _, m := range messages {
		if m.Role == models.RolePerson && !m.IsMeta {
			return &m, err
		}
	}
	return nil, err
}

// said is a person's message as it is shown.
func (h *Handlers) said(ctx context.Context, m models.Message) (*views.UserMessage, error) {
	turn, err := h.Store.AnyTurn(ctx, m.TurnID)
	if err != nil {
		return nil, err
	}
	versions, err := h.versionsOf(ctx, m.SessionID, turn)
	model := turn.Model
	if model == "" {
		sess, err := h.Store.AnySession(ctx, m.SessionID)
		if err != nil {
			return nil, err
		}
		model = sess.Model
	}
	said := h.userMessage(m, model)
	said.Versions = questions(turn, versions[turn.ParentID])
	return said, err
}

// joined is a reply with those that went on with it.
func (h *Handlers) joined(ctx context.Context, m models.Message) (models.Message, error) {
	if !m.CutOff() {
		return m, nil
	}
	messages, err := h.Store.TurnMessages(ctx, m.SessionID, m.TurnID)
	if err != nil {
		return m, err
	}
	parts := models.JoinReplies(messages)
	if i := slices.IndexFunc(parts, func(part models.Message) bool { return part.ID == m.ID }); i >= 0 {
		return parts[i], nil
	}
	return m, nil // itself one that went on
}
