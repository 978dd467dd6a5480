package handlers

import (
	"context"
	"net/http"
	"strconv"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// What the page of a request holds when it opens: what is before comes on
// demand, and so does the rest of a long text.
const (
	firstPlaces  = 40
	listRequests = 50      // that one can choose from, around the one that is shown
	maxSentBody  = 4 << 10 // of a message, in bytes of HTML
	maxSentExtra = 1 << 10 // of its reasoning and of each call's arguments, in bytes of HTML
)

// ModelView is a conversation as people see it, beside what a model was sent of
// it: last, or in the request that the address names.
func (h *Handlers) ModelView(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	page := views.ModelView{SessionID: sess.ID, Title: sess.Title}
	r, q, err := h.requestOf(c, sess)
	switch {
	case isNotFound(err) && q.text("request") == "":
		// Nothing was sent yet, or before requests were written down.
	case err != nil:
		return err
	default:
		if page, err = h.modelView(ctx, sess, r, q); err != nil {
			return err
		}
	}
	if isFragment(c) {
		return h.render(c, http.StatusOK, views.ModelRowsFragment(page))
	}
	if page.Sidebar, err = h.sidebar(c, sess.ID); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.ModelViewPage(page))
}

// requestOf is the request that the address names: the last, where it names none.
func (h *Handlers) requestOf(c echo.Context, sess models.Session) (models.SentRequest, query, error) {
	q, err := queryOf(c)
	if err != nil {
		return models.SentRequest{}, q, err
	}
	number, err := q.number("request", 0)
	if err != nil {
		return models.SentRequest{}, q, err
	}
	r, err := h.Store.Request(c.Request().Context(), sess.ID, number)
	return r, q, err
}

// modelView shows the places before the one that the query names, or the last.
func (h *Handlers) modelView(ctx context.Context, sess models.Session, r models.SentRequest, q query) (views.ModelView, error) {
	page := views.ModelView{SessionID: sess.ID, Title: sess.Title, Request: modelRequest(r)}
	before, err := q.number("before", int64(r.Messages))
	if err != nil {
		return page, err
	}
	end := int(min(max(before, 0), int64(r.Messages)))
	page.Earlier = max(end-firstPlaces, 0)
	sent, err := h.Store.SentMessages(ctx, sess.ID, r.Number, page.Earlier, end-page.Earlier)
	if err != nil {
		return page, err
	}
	side := h.sideBySide(sess, r, false)
	if page.Rows, err = side.rows(ctx, sent); err != nil {
		return page, err
	}
	page.Frame = []views.ModelRow{side.instructions(), side.tools()}
	if err := h.chooseRequests(ctx, &page); err != nil {
		return page, err
	}
	if end < r.Messages {
		page.Past = true
		return page, nil
	}
	if page.Request.Last {
		page.After, err = side.after(ctx, sent)
	}
	return page, err
}

// chooseRequests fills in the requests that one can choose from: those around the
// one that is shown.
func (h *Handlers) chooseRequests(ctx context.Context, page *views.ModelView) error {
	last, err := h.Store.Request(ctx, page.SessionID, 0)
	if err != nil && !isNotFound(err) {
		return err
	}
	list, err := h.Store.Requests(ctx, page.SessionID, page.Request.Number+listRequests/2, listRequests)
	if err != nil {
		return err
	}
	for _, other := range list {
		v := modelRequest(other)
		v.Last = other.Number == last.Number
		page.Requests = append(page.Requests, *v)
	}
	page.Request.Last = page.Request.Number == last.Number
	return nil
}

func modelRequest(r models.SentRequest) *views.ModelRequest {
	v := &views.ModelRequest{
		Number: r.Number, At: r.At, Model: r.Model, Messages: r.Messages, Tokens: r.Tokens, Counted: r.Tokens > 0,
		Pruned: r.Pruned, Hidden: r.Hidden, Shown: r.Shown, Summary: r.Summary,
	}
	if !v.Counted {
		v.Tokens = r.Estimate
	}
	return v
}

// ModelPlace is one message of a request, whole. Without scripts it is plain
// text, just as it was sent.
func (h *Handlers) ModelPlace(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	r, _, err := h.requestOf(c, sess)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	side := h.sideBySide(sess, r, true)
	var row views.ModelRow
	var text string
	switch name := c.Param("place"); name {
	case placeInstructions:
		row, text = side.instructions(), r.System
	case placeTools:
		row, text = side.tools(), toolLines(r.Tools)
	default:
		sent, err := h.sentPlace(ctx, r, name)
		if err != nil {
			return err
		}
		rows, err := side.rows(ctx, []models.SentMessage{sent})
		if err != nil {
			return err
		}
		row, text = rows[0], sentText(sent)
	}
	if !isFragment(c) {
		return c.String(http.StatusOK, text)
	}
	return h.render(c, http.StatusOK, views.ModelRowFragment(row))
}

func (h *Handlers) sentPlace(ctx context.Context, r models.SentRequest, name string) (models.SentMessage, error) {
	place, err := strconv.Atoi(name)
	if err != nil || place < 0 {
		return models.SentMessage{}, errNoMessage
	}
	sent, err := h.Store.SentMessages(ctx, r.SessionID, r.Number, place, 1)
	if err != nil {
		return models.SentMessage{}, err
	}
	if len(sent) == 0 || sent[0].Place != place {
		return models.SentMessage{}, errNoMessage
	}
	return sent[0], nil
}
