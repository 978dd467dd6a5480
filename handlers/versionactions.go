package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// RetryTurn asks again what a turn asked, or ends its wait for the next try.
func (h *Handlers) RetryTurn(c echo.Context) error { return h.branch(c, h.asking(h.Runner.Retry)) }

// ContinueTurn goes on where the last answer broke off.
func (h *Handlers) ContinueTurn(c echo.Context) error {
	return h.branch(c, h.asking(h.Runner.Continue))
}

// ShowTurn shows another version, at one of its messages where the form names
// one.
func (h *Handlers) ShowTurn(c echo.Context) error {
	if message := c.FormValue("message"); message != "" {
		turn, err := h.ofTurn(c, func(ctx context.Context, turn models.Turn) (models.Turn, error) {
			return turn, h.Runner.Show(ctx, turn)
		})
		if err != nil {
			return err
		}
		return h.goTo(c, "/s/"+turn.SessionID+"/at/"+url.PathEscape(message))
	}
	return h.branch(c, func(ctx context.Context, turn models.Turn) (models.Turn, error) {
		return turn, h.Runner.Show(ctx, turn)
	})
}

// branch does something that makes or shows a version, and goes to it.
func (h *Handlers) branch(c echo.Context, do func(context.Context, models.Turn) (models.Turn, error)) error {
	turn, err := h.ofTurn(c, do)
	if err != nil {
		return err
	}
	return h.stay(c, "/s/"+turn.SessionID+"#a-"+turn.ID)
}

// EditForm is a message with its text to be changed. Without scripts it is a page.
func (h *Handlers) EditForm(c echo.Context) error {
	m, err := h.editable(c)
	if err != nil {
		return err
	}
	if isFragment(c) {
		return h.render(c, http.StatusOK, views.EditForm(editing(m, m.Content, "")))
	}
	return h.editPage(c, http.StatusOK, m, m.Content, "")
}

// Edit asks another question in the place of a message.
func (h *Handlers) Edit(c echo.Context) error {
	m, err := h.editable(c)
	if err != nil {
		return err
	}
	content := c.FormValue("content")
	turn, err := h.edit(c, m, content)
	if refused, ok := refusedDraft(c, err); ok {
		return h.editPage(c, refused.status, m, drafted(content), refused.message)
	}
	if err != nil {
		return err
	}
	return h.stay(c, "/s/"+turn.SessionID+"#a-"+turn.ID)
}

// editPage is the page of a session with one message alone, to be changed, and
// why it was not taken.
func (h *Handlers) editPage(c echo.Context, status int, m models.Message, content, problem string) error {
	sess, err := h.writable(c, m.SessionID)
	if err != nil {
		return err
	}
	form := editing(m, content, problem)
	return h.chat(c, status, sess, page{alone: []views.Entry{{Edit: &form}}})
}

func editing(m models.Message, content, problem string) views.Edit {
	if strings.HasPrefix(content, "\n") {
		content = "\n" + content // browsers drop the first line break of a text field
	}
	return views.Edit{SessionID: m.SessionID, MessageID: m.ID, Content: content, Problem: problem}
}
