package handlers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// APIAdminSessions lists everybody's sessions with their sizes: pinned ones
// first, as every list of sessions, unless another order is asked for.
func (h *Handlers) APIAdminSessions(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	query, err := h.reviewQuery(ctx, q)
	if errors.Is(err, models.ErrNotFound) { // nobody has that name
		return sendList(c, []models.SessionStats{}, "", h.newStatsResource)
	}
	if err != nil {
		return err
	}
	query.Order = cmp.Or(query.Order, models.ByPinned)
	list, next, err := h.Store.ReviewSessions(ctx, query)
	if err != nil {
		return err
	}
	sizes, cancel := context.WithTimeout(ctx, sizesWait)
	defer cancel()
	for i := range list {
		list[i].Files = h.workspaceSize(sizes, list[i].ID)
	}
	return sendList(c, list, next, h.newStatsResource)
}

// sizesWait is how long a list of sessions waits for the sizes of workspaces that
// were never counted: the others are there at once.
const sizesWait = 500 * time.Millisecond

// workspaceSize is -1 where it is not known yet: a list of sessions is still
// worth reading then.
func (h *Handlers) workspaceSize(ctx context.Context, sessionID string) int64 {
	size, err := h.Workspaces.Known(ctx, sessionID)
	if err != nil {
		return -1
	}
	return size
}

func (h *Handlers) newStatsResource(s models.SessionStats) statsResource {
	r := statsResource{
		sessionResource: h.sessionResource(s.Session), Running: s.Running,
		Messages: s.Messages, Outputs: s.Outputs, MessageBytes: s.TextBytes, OutputBytes: s.OutputBytes,
	}
	if s.Files >= 0 {
		r.WorkspaceBytes = &s.Files
	}
	return r
}

// APIAdminDeleteSession deletes anybody's session.
func (h *Handlers) APIAdminDeleteSession(c echo.Context) error {
	sess, err := h.Store.AnySession(c.Request().Context(), c.Param("session"))
	if errors.Is(err, models.ErrNotFound) {
		return errNoSession
	}
	if err != nil {
		return err
	}
	if err := h.deleteSession(c, sess, views.GoneByAdmin); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// APIAdminUsers lists the users.
func (h *Handlers) APIAdminUsers(c echo.Context) error {
	page, err := pageOf(c)
	if err != nil {
		return err
	}
	list, next, err := h.Store.Users(c.Request().Context(), page)
	if err != nil {
		return err
	}
	return sendList(c, list, next, newUserResource)
}

// APIAdminAudit lists who did what, newest first.
func (h *Handlers) APIAdminAudit(c echo.Context) error {
	query, err := h.auditQuery(c)
	if err != nil {
		return err
	}
	list, next, err := h.Store.Audit(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return sendList(c, list, next, newAuditResource)
}

func pageOf(c echo.Context) (models.Page, error) {
	q, err := queryOf(c)
	if err != nil {
		return models.Page{}, err
	}
	return q.page()
}
