package handlers

import (
	"net/http"
	"strings"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// What a page holds of one message, in bytes; what is longer is fetched when a
// person asks for it, so that no single message makes a page slow to open.
const (
	maxSaid      = 64 << 10 // of what a person wrote
	maxReasoning = 4 << 10  // of a reply's reasoning that is over
)

// shortened is text that is longer than most, up to the end of a line or else of
// a character; with how long it is in all. What is not longer is whole: 0.
func shortened(text string, most int) (string, int64) {
	if len(text) <= most {
		return text, 0
	}
	head := strings.ToValidUTF8(text[:most], "")
	if at := strings.LastIndexByte(head, '\n'); at > most/2 {
		head = head[:at]
	}
	return head, int64(len(text))
}

// Whole is a message of which a page holds only the beginning: what a person
// wrote, or the reasoning of a reply. Without scripts it is plain text.
func (h *Handlers) Whole(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	m, err := h.Store.Message(c.Request().Context(), sess.ID, c.Param("message"))
	if err != nil {
		return err
	}
	said := m.Role == models.RolePerson && !m.IsMeta
	if !said && m.Role != models.RoleAssistant {
		return errNoMessage
	}
	if m, err = h.joined(c.Request().Context(), m); err != nil {
		return err
	}
	switch {
	case !isFragment(c) && said:
		return c.String(http.StatusOK, m.Content)
	case !isFragment(c):
		return c.String(http.StatusOK, m.Reasoning)
	case said:
		whole, err := h.said(c.Request().Context(), m)
		if err != nil {
			return err
		}
		whole.Content, whole.Bytes = m.Content, 0
		return h.render(c, http.StatusOK, views.UserArticle(*whole))
	}
	return h.render(c, http.StatusOK, views.ReasoningFragment(m.Reasoning))
}
