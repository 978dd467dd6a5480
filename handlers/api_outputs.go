package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"

	"offcut/agent/events"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

// APIOutputs lists a session's kept outputs, oldest first.
func (h *Handlers) APIOutputs(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	page, err := q.page()
	if err != nil {
		return err
	}
	list, next, err := h.Store.Outputs(c.Request().Context(), sess.ID, page)
	if err != nil {
		return err
	}
	return sendList(c, list, next, newOutputResource)
}

// APIOutputPage is one page of a kept output.
func (h *Handlers) APIOutputPage(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	offset, err := q.number("offset", 0)
	if err != nil {
		return err
	}
	if offset < 0 {
		return badParameter("offset", "a byte offset, 0 or more")
	}
	limit, err := q.bounded("limit", models.MaxPageBytes, models.MinPageBytes, models.MaxPageBytes)
	if err != nil {
		return err
	}
	page, err := h.Reader.Page(c.Request().Context(), sess.ID, c.Param("output"), offset, limit)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, pageResource{page.Text, page.NextOffset, page.TotalBytes, page.HasMore, page.Complete})
}

// APISearchOutput finds a text in a kept output.
func (h *Handlers) APISearchOutput(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	regexp, err := q.flag("regexp")
	if err != nil {
		return err
	}
	most, err := q.bounded("max", models.DefaultMatches, 1, models.MaxMatches)
	if err != nil {
		return err
	}
	if q.text("q") == "" {
		return badParameter("q", "the text to search for")
	}
	matches, err := h.Reader.Search(c.Request().Context(), me(c), sess.ID, c.Param("output"), q.text("q"), regexp != nil && *regexp, most)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"matches": orEmpty(matches)})
}

// APIQueryOutput applies a jq filter to a kept output.
func (h *Handlers) APIQueryOutput(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	filter := q.text("filter")
	if filter == "" {
		return badParameter("filter", "a jq filter, such as .items[0]")
	}
	lines, err := h.Querier.Query(c.Request().Context(), me(c), sess.ID, c.Param("output"), filter)
	if err != nil {
		return err
	}
	values := []json.RawMessage{}
	for line := range bytes.Lines(lines) {
		values = append(values, bytes.TrimSuffix(line, []byte("\n")))
	}
	return c.JSON(http.StatusOK, map[string]any{"values": values})
}

// Raw downloads the kept bytes as they came. It serves programs and browsers.
func (h *Handlers) Raw(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	out, bytes, err := h.Reader.Raw(c.Request().Context(), sess.ID, c.Param("output"))
	if err != nil {
		return err
	}
	contentType, ending := "text/plain; charset=utf-8", ".txt"
	if out.OwnRaw() {
		contentType, ending = echo.MIMEOctetStream, ".bin"
	}
	header := c.Response().Header()
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": out.ID + ending}))
	header.Set("Cache-Control", "no-store")
	if !out.Running {
		header.Set("Content-Length", strconv.FormatInt(out.RawBytes, 10))
	}
	return c.Stream(http.StatusOK, contentType, bytes)
}

// APIDeleteOutput deletes one kept output.
func (h *Handlers) APIDeleteOutput(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.deleteOutput(c, sess.ID, c.Param("output")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// deleteOutput removes the bytes of a kept output at once, and tells who
// watches the session. One that is still written is refused.
func (h *Handlers) deleteOutput(c echo.Context, sessionID, outputID string) error {
	if err := h.mayDelete(c); err != nil {
		return err
	}
	ctx := context.WithoutCancel(c.Request().Context())
	out, err := h.Store.Output(ctx, sessionID, outputID)
	if err != nil {
		return err
	}
	if out.Running {
		return models.Errorf(models.ErrConflict, "output_running", "the command that prints this output still runs; stop it first")
	}
	deed := h.entry(c, models.AuditOutputDelete, outputID, models.Deedf("output_deleted", "deleted a kept output"))
	if err := h.Store.DeleteOutput(ctx, sessionID, outputID, h.now(), deed); err != nil {
		return err
	}
	h.Broker.Publish(events.Event{
		SessionID: sessionID, TurnID: out.TurnID, CallID: out.CallID, OutputID: out.ID, Kind: events.KindOutputDeleted,
	})
	return nil
}

func titleEvent(sess models.Session) events.Event {
	return events.Event{SessionID: sess.ID, Kind: events.KindTitle, Text: sess.Title}
}
