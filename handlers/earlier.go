package handlers

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
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
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	const end = math.MaxInt64
	before, err := q.number("before", end)
	if err != nil {
		return err
	}
	m, err := h.reply(c.Request().Context(), sess.ID, c.Param("message"), before)
	if err != nil {
		return err
	}
	if !isFragment(c) {
		return c.String(http.StatusOK, m.Content)
	}
	if before == end {
		before = int64(len(m.Content))
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

// While a reply streams in, a page shows more of it than is stored: what comes is
// stored each second. A save may take its time too.
const (
	storedWithin = 5 * time.Second
	storedEvery  = 100 * time.Millisecond
)

// reply is what an assistant said. One that streams in, and is shown further than
// it is stored, is waited for until it reaches so many bytes, for storedWithin at most.
func (h *Handlers) reply(ctx context.Context, sessionID, id string, upto int64) (models.Message, error) {
	for late := time.After(storedWithin); ; {
		m, err := h.Store.Message(ctx, sessionID, id)
		if err != nil {
			return models.Message{}, err
		}
		if m.Role != models.RoleAssistant {
			return models.Message{}, errNoMessage
		}
		if m, err = h.joined(ctx, m); err != nil {
			return models.Message{}, err
		}
		grows := m.State == models.StateRunning || m.CutOff()
		if !grows || upto == math.MaxInt64 || upto <= int64(len(m.Content)) {
			return m, nil
		}
		select {
		case <-ctx.Done():
			return models.Message{}, ctx.Err()
		case <-late:
			return m, nil
		case <-time.After(storedEvery):
		}
	}
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
