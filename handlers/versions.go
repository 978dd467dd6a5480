package handlers

import (
	"context"
	"net/http"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// APIEdit asks another question in the place of one of the user's messages.
func (h *Handlers) APIEdit(c echo.Context) error {
	m, err := h.editable(c)
	if err != nil {
		return err
	}
	var body struct {
		Content string `json:"content"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	turn, err := h.edit(c, m, body.Content)
	return sendTurn(c, turn, err)
}

// APIRetry ends a wait for the next try, or asks again what a turn asked.
func (h *Handlers) APIRetry(c echo.Context) error {
	turn, err := h.ofTurn(c, h.asking(h.Runner.Retry))
	return sendTurn(c, turn, err)
}

// APIContinue goes on where the last answer broke off.
func (h *Handlers) APIContinue(c echo.Context) error {
	turn, err := h.ofTurn(c, h.asking(h.Runner.Continue))
	return sendTurn(c, turn, err)
}

// ofTurn does something with a turn of the user's own.
func (h *Handlers) ofTurn(c echo.Context, do func(context.Context, models.Turn) (models.Turn, error)) (models.Turn, error) {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return models.Turn{}, err
	}
	return do(c.Request().Context(), turn)
}

// asking is what makes the model answer, of a session whose model there is.
func (h *Handlers) asking(do func(context.Context, models.Turn) (models.Turn, error)) func(context.Context, models.Turn) (models.Turn, error) {
	return func(ctx context.Context, turn models.Turn) (models.Turn, error) {
		sess, err := h.Store.AnySession(ctx, turn.SessionID)
		if err == nil {
			err = h.answerable(sess)
		}
		if err != nil {
			return models.Turn{}, err
		}
		return do(ctx, turn)
	}
}

// editable is the message of the address, where the user wrote it.
func (h *Handlers) editable(c echo.Context) (models.Message, error) {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return models.Message{}, err
	}
	m, err := h.Store.Message(c.Request().Context(), sess.ID, c.Param("message"))
	switch {
	case err != nil:
		return models.Message{}, err
	case m.IsMeta:
		return models.Message{}, errNoMessage
	case m.Role != models.RolePerson:
		return models.Message{}, models.Errorf(models.ErrInvalid, "not_editable", "only what a person wrote can be edited; retry the answer instead")
	}
	return m, nil
}

// edit queues the turn of an edited message.
func (h *Handlers) edit(c echo.Context, m models.Message, content string) (models.Turn, error) {
	if err := models.ValidateMessage(content, len(m.Attachments)); err != nil {
		return models.Turn{}, err
	}
	ctx := c.Request().Context()
	turn, err := h.Store.Turn(ctx, me(c), m.TurnID)
	if err != nil {
		return models.Turn{}, err
	}
	return h.asking(func(ctx context.Context, turn models.Turn) (models.Turn, error) {
		return h.Runner.Edit(ctx, turn, content)
	})(ctx, turn)
}

// sendTurn names the turn that was begun.
func sendTurn(c echo.Context, turn models.Turn, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, map[string]string{"turn_id": turn.ID})
}
