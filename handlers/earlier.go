package handlers

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
	md "offcut/views/markdown"

	"github.com/labstack/echo/v4"
)

// What a page shows of the text of one reply: it is rendered as one up to
// maxText bytes of Markdown. Of what is longer, or becomes more than maxTextHTML
// bytes, the page has the end, and what stands before it comes as one scrolls up.
const (
	maxText     = 64 << 10
	maxTextHTML = 128 << 10
)

// endOf is as much of a text from its end on as a page shows at once, and where
// in the text that begins, in bytes.
func (h *Handlers) endOf(text string) (html string, from int64) {
	if len(text) <= maxText {
		if html = h.Markdown(text); len(html) <= maxTextHTML {
			return html, 0
		}
	}
	var shown []string
	size := 0
	for _, piece := range slices.Backward(md.Pieces(text)) {
		html := piece.HTML()
		if size += len(html); size > maxTextHTML && len(shown) > 0 {
			break
		}
		shown, from = append(shown, html), int64(piece.Start)
	}
	slices.Reverse(shown)
	return strings.Join(shown, ""), from
}

// Text is what stands in a reply before what a page shows of it. Without
// scripts it is the whole reply as it was written.
func (h *Handlers) Text(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	m, err := h.Store.Message(ctx, sess.ID, c.Param("message"))
	if err != nil {
		return err
	}
	if m.Role != models.RoleAssistant {
		return errNoMessage
	}
	if m, err = h.joined(ctx, m); err != nil {
		return err
	}
	if !isFragment(c) {
		return c.String(http.StatusOK, m.Content)
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	before, err := q.number("before", int64(len(m.Content)))
	if err != nil {
		return err
	}
	if before > int64(len(m.Content)) && m.State == models.StateRunning {
		return errNotStored
	}
	if before < 0 || before > int64(len(m.Content)) || !utf8.ValidString(m.Content[:before]) {
		return errNoPlace
	}
	part := views.Part{SessionID: sess.ID, MessageID: m.ID}
	part.HTML, part.From = h.endOf(m.Content[:before])
	return h.render(c, http.StatusOK, views.TextFragment(part))
}

var (
	errNotStored = models.Errorf(models.ErrConflict, "not_stored_yet", "this part of the answer is being stored; try again in a moment")
	errNoPlace   = models.Errorf(models.ErrMalformed, "no_such_place", "the answer has no such place; load the page again")
)

// Parts are the parts of an answer before those that a page shows. Without
// scripts they are a page.
func (h *Handlers) Parts(c echo.Context) error {
	turn, err := h.readableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	sess, err := h.readable(c, turn.SessionID)
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	t, err := h.turnMessages(ctx, turn)
	if err != nil {
		return err
	}
	answer := views.Answer{TurnID: turn.ID, State: string(turn.State), At: answeredAt(t)}
	if answer.Parts, answer.Earlier, err = h.parts(ctx, sess, t, q.text("before"), events.Live{}, false); err != nil {
		return err
	}
	if isFragment(c) {
		return h.render(c, http.StatusOK, views.PartsFragment(answer))
	}
	return h.chat(c, http.StatusOK, sess, page{alone: []views.Entry{{Answer: &answer}}})
}

// TurnText is all that an answer says, as it was written.
func (h *Handlers) TurnText(c echo.Context) error {
	turn, err := h.readableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	messages, err := h.Store.TurnMessages(c.Request().Context(), turn.SessionID, turn.ID)
	if err != nil {
		return err
	}
	var said []string
	for _, m := range models.JoinReplies(messages) {
		if m.Role == models.RoleAssistant && strings.TrimSpace(m.Content) != "" {
			said = append(said, strings.TrimSpace(m.Content))
		}
	}
	return c.String(http.StatusOK, strings.Join(said, "\n\n"))
}
