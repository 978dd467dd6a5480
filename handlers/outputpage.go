package handlers

import (
	"context"
	"time"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// maxReadNotes bounds the list of what the model read of an output.
const maxReadNotes = 100

// OutputPage is the full page of one kept output.
func (h *Handlers) OutputPage(c echo.Context) error {
	sess, out, err := h.outputOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	pager, err := h.pager(c, out)
	if err != nil {
		return err
	}
	sidebar, err := h.sidebar(c, sess.ID)
	if err != nil {
		return err
	}
	reads, err := h.Store.Reads(ctx, sess.ID, out.ID, maxReadNotes+1)
	if err != nil {
		return err
	}
	page := views.Output{
		SessionTitle: sess.Title, Pager: pager, Sidebar: sidebar,
		CapturedBytes: out.CapturedBytes, ReplacedBytes: out.ReplacedBytes, CreatedAt: out.CreatedAt,
	}
	if page.MoreReads = len(reads) > maxReadNotes; page.MoreReads {
		reads = reads[1:]
	}
	for _, read := range reads {
		page.Reads = append(page.Reads, views.ReadNote{Kind: string(read.Kind), Range: views.Range(read.Range), At: read.At})
	}
	if page.Took, err = h.took(ctx, out); err != nil {
		return err
	}
	if page.Origin, err = h.origin(ctx, out); err != nil {
		return err
	}
	if page.Pager.Filter, err = h.filter(c, out); err != nil {
		return err
	}
	return h.render(c, 200, views.OutputPage(page))
}

// took is how long the call of an output ran, as its card has it; 0 where that
// is not known.
func (h *Handlers) took(ctx context.Context, out models.RetainedOutput) (time.Duration, error) {
	_, result, err := h.Store.Call(ctx, out.SessionID, out.CallID)
	switch {
	case isNotFound(err):
		return 0, nil
	case err != nil || result == nil || metadataOf(result).ExecutionMS == nil:
		return 0, err
	}
	return time.Duration(*result.Metadata.ExecutionMS) * time.Millisecond, nil
}

// outputOf is the kept output that the address names. In a fork the error
// leads to the session whose outputs these are, where that is the user's.
func (h *Handlers) outputOf(c echo.Context) (models.Session, models.RetainedOutput, error) {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return sess, models.RetainedOutput{}, err
	}
	out, err := h.Store.Output(c.Request().Context(), sess.ID, c.Param("output"))
	if isNotFound(err) && deletedAt(err) == nil {
		missing := models.Errorf(models.ErrNotFound, "output_not_found", "there is no such output in this session")
		if original := h.original(c, sess); original != "" {
			missing = missing.With("original", original)
		}
		return sess, out, missing
	}
	return sess, out, err
}

// original is the session that sess was forked from, where its owner still has
// it.
func (h *Handlers) original(c echo.Context, sess models.Session) string {
	if sess.ForkedFrom == "" {
		return ""
	}
	if _, err := h.Store.Session(c.Request().Context(), sess.OwnerID, sess.ForkedFrom); err != nil {
		return ""
	}
	return sess.ForkedFrom
}
