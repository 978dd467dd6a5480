package handlers

import (
	"net/http"
	"slices"
	"strings"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// maxMarked is how many sessions one form may name: a page of them.
const maxMarked = models.MaxPageLimit

// named are the sessions that a form names.
func named(c echo.Context) ([]string, error) {
	form, err := c.FormParams()
	if err != nil {
		return nil, err
	}
	ids := form["id"]
	if len(ids) > maxMarked {
		return nil, tooManySessions()
	}
	return ids, nil
}

func tooManySessions() error {
	return models.Errorf(models.ErrInvalid, "too_many_sessions", "at most %d sessions can be chosen at once; choose fewer", models.Arg("most", maxMarked))
}

// ownSessions are those of the user among sessions, as far as they are there.
func (h *Handlers) ownSessions(c echo.Context, ids []string) ([]models.SessionStats, error) {
	list, err := h.Store.SessionsByID(c.Request().Context(), ids)
	return slices.DeleteFunc(list, func(s models.SessionStats) bool { return s.OwnerID != me(c) }), err
}

// mark is a deed that changes where sessions are listed.
type mark struct {
	patch models.SessionPatch
	text  string // what the next page says; empty: nothing, for it is seen
	undo  string // the address that undoes it
}

var (
	archiving = mark{models.SessionPatch{Archived: models.Ptr(true)}, views.NoticeArchived, "/history/restore"}
	restoring = mark{models.SessionPatch{Archived: models.Ptr(false)}, views.NoticeRestored, "/history/archive"}
	pinning   = mark{patch: models.SessionPatch{Pinned: models.Ptr(true)}}
	unpinning = mark{patch: models.SessionPatch{Pinned: models.Ptr(false)}}
)

// Archive, Restore, Pin and Unpin take the sessions that a form names out of
// the list or to its top, and back.
func (h *Handlers) Archive(c echo.Context) error { return h.mark(c, archiving) }

// Restore undoes Archive.
func (h *Handlers) Restore(c echo.Context) error { return h.mark(c, restoring) }

// Pin puts sessions at the top of the list.
func (h *Handlers) Pin(c echo.Context) error { return h.mark(c, pinning) }

// Unpin undoes Pin.
func (h *Handlers) Unpin(c echo.Context) error { return h.mark(c, unpinning) }

func (h *Handlers) mark(c echo.Context, m mark) error {
	ids, err := named(c)
	if err != nil {
		return err
	}
	marked, err := h.Store.MarkSessions(c.Request().Context(), me(c), ids, m.patch)
	if err != nil {
		return err
	}
	if archived := m.patch.Archived; archived != nil && *archived {
		for _, id := range marked {
			h.Runner.EndBackground(id)
		}
	}
	h.Broker.Publish(events.Listed(me(c)))
	n := views.Notice{Text: m.text, Count: len(marked), Undo: m.undo, IDs: marked}
	if len(marked) == 0 {
		n = views.Notice{Text: views.NoticeNothing}
	}
	if c.FormValue("undo") != "" {
		n.Undo, n.IDs = "", nil // what was undone is as it was
	}
	if n.Text != "" {
		if err := h.leaveNotice(c, n); err != nil {
			return err
		}
	}
	return h.goTo(c, h.nextOf(c))
}

// nextOf is the page that a form wants to be led to.
func (h *Handlers) nextOf(c echo.Context) string {
	if next := h.ownPath(c.FormValue("next")); next != "" {
		return next
	}
	return "/history"
}

// DeleteMany deletes the sessions that a form names, once somebody has been
// told what goes.
func (h *Handlers) DeleteMany(c echo.Context) error {
	ids, err := named(c)
	if err != nil {
		return err
	}
	if err := h.mayDelete(c); err != nil {
		return err
	}
	if c.FormValue("sure") == "" && len(ids) > 0 {
		return h.removal(c, ids)
	}
	list, err := h.ownSessions(c, ids)
	if err != nil {
		return err
	}
	gone, failed := h.deleteAll(c, list, views.GoneDeleted)
	n := views.Notice{Text: views.NoticeDeleted, Count: len(gone)}
	switch {
	case failed > 0:
		n.Text = views.NoticeDeletedPart
	case len(gone) == 0:
		n.Text = views.NoticeNothing
	}
	if err := h.leaveNotice(c, n); err != nil {
		return err
	}
	next := h.nextOf(c)
	if slices.Contains(gone, strings.TrimPrefix(next, "/s/")) {
		next = "/history"
	}
	return h.goTo(c, next)
}

// removal asks whether sessions are to be deleted.
func (h *Handlers) removal(c echo.Context, ids []string) error {
	page := views.Removal{Next: h.nextOf(c)}
	list, err := h.ownSessions(c, ids)
	if err != nil {
		return err
	}
	for _, s := range list {
		page.Sessions = append(page.Sessions, historyItem(s))
		page.Messages, page.Outputs, page.OutputBytes = page.Messages+s.Messages, page.Outputs+s.Outputs, page.OutputBytes+s.OutputBytes
	}
	if len(page.Sessions) == 0 {
		return errNoSession
	}
	if page.Sidebar, err = h.historySidebar(c); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.RemovalPage(page))
}
