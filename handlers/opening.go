package handlers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// OpenAt leads to a message in its conversation, however long that is: to the
// newest part where the message is in it, else to a page that ends with its
// turn.
func (h *Handlers) OpenAt(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	m, err := h.Store.Message(ctx, sess.ID, c.Param("message"))
	if err != nil {
		return err
	}
	if m.IsMeta || !m.Shown {
		return errNotShown
	}
	anchor, err := h.anchor(ctx, m)
	if err != nil {
		return err
	}
	newest, err := h.log(ctx, sess, "", h.Runner.Live(sess.ID))
	if err != nil {
		return err
	}
	if holdsTurn(newest, m.TurnID) {
		if leavesOut(newest, m.TurnID, anchor) {
			anchor = "a-" + m.TurnID // it comes as one scrolls up in the answer
		}
		return h.goTo(c, "/s/"+sess.ID+"#"+anchor)
	}
	return h.goTo(c, "/s/"+sess.ID+"?"+url.Values{"at": {m.ID}}.Encode()+"#"+anchor)
}

var errNotShown = models.Errorf(models.ErrNotFound, "message_not_shown",
	"there is no such message in this conversation; another version of it may be shown")

// anchor is where a message stands on the page. Replies that go on with one
// that was cut stand at the first of them, results at their call.
func (h *Handlers) anchor(ctx context.Context, m models.Message) (string, error) {
	switch m.Role {
	case models.RolePerson:
		return "m-" + m.ID, nil
	case models.RoleTool:
		return "t-" + m.ToolCallID, nil
	}
	first, err := h.firstOfReply(ctx, m)
	return "p-" + first, err
}

// firstOfReply is the reply that m goes on with, or m itself.
func (h *Handlers) firstOfReply(ctx context.Context, m models.Message) (string, error) {
	cursor, _, err := h.Store.After(ctx, m.SessionID, m.TurnID)
	if err != nil {
		return "", err
	}
	for first := m.ID; ; {
		messages, older, err := h.Store.Messages(ctx, models.MessageQuery{
			SessionID: m.SessionID, Newest: true, IncludeHidden: true, Page: models.Page{Cursor: cursor, Limit: models.MaxPageLimit},
		})
		if err != nil {
			return "", err
		}
		for i := len(messages) - 1; i >= 0; i-- {
			one := messages[i]
			if one.Seq >= m.Seq || one.Role != models.RoleAssistant {
				continue
			}
			if one.TurnID != m.TurnID || !one.CutOff() {
				return first, nil
			}
			first = one.ID
		}
		if older == "" {
			return first, nil
		}
		cursor = older
	}
}

func holdsTurn(log views.Log, turnID string) bool {
	for _, entry := range log.Entries {
		if (entry.User != nil && entry.User.TurnID == turnID) || (entry.Answer != nil && entry.Answer.TurnID == turnID) {
			return true
		}
	}
	return false
}

// leavesOut reports whether a place in the answer of a turn is above what is
// shown of that.
func leavesOut(log views.Log, turnID, anchor string) bool {
	for _, entry := range log.Entries {
		if entry.Answer == nil || entry.Answer.TurnID != turnID || entry.Answer.Earlier == "" {
			continue
		}
		return !strings.HasPrefix(anchor, "m-") && !slices.ContainsFunc(entry.Answer.Parts, func(part views.Part) bool {
			return anchor == "p-"+part.MessageID ||
				slices.ContainsFunc(part.Cards, func(card views.ToolCard) bool { return anchor == "t-"+card.CallID })
		})
	}
	return false
}

// chatAt is the page of a session that ends with the turn of a message. It
// shows the past, and so has neither a live connection nor a composer.
func (h *Handlers) chatAt(c echo.Context, sess models.Session, messageID string) error {
	ctx := c.Request().Context()
	m, err := h.Store.Message(ctx, sess.ID, messageID)
	if err != nil {
		return err
	}
	cursor, next, err := h.Store.After(ctx, sess.ID, m.TurnID)
	if err != nil {
		return err
	}
	if cursor == "" || m.IsMeta || !m.Shown {
		return h.chat(c, http.StatusOK, sess, page{})
	}
	return h.chat(c, http.StatusOK, sess, page{before: cursor, later: next})
}

// ForkTurn copies a session as far as the end of a turn, and goes to the copy.
func (h *Handlers) ForkTurn(c echo.Context) error {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	sess, err := h.writable(c, turn.SessionID)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	cursor, _, err := h.Store.After(ctx, sess.ID, turn.ID)
	if err != nil {
		return err
	}
	last, _, err := h.Store.Messages(ctx, models.MessageQuery{
		SessionID: sess.ID, Newest: true, IncludeHidden: true, Page: models.Page{Cursor: cursor, Limit: 1},
	})
	if err != nil {
		return err
	}
	if len(last) == 0 || last[0].TurnID != turn.ID {
		return errNotShown
	}
	fork, err := h.forkSession(c, sess, last[0].ID)
	if err != nil {
		return err
	}
	return h.goTo(c, "/s/"+fork.ID)
}
