package handlers

import (
	"errors"

	"offcut/agent/events"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

var (
	errNoSession = models.Errorf(models.ErrNotFound, "not_found",
		"there is no such session; it may have been deleted, or belong to somebody else")
	errNoTurn = models.Errorf(models.ErrNotFound, "not_found",
		"there is no such turn; its session may have been deleted, or belong to somebody else")
	errNoMessage = models.Errorf(models.ErrNotFound, "message_not_found", "there is no such message in this session")
	errReadOnly  = models.Errorf(models.ErrForbidden, "read_only",
		"administrators can read other people's sessions and cannot write in them")
)

// readOnlyKey notes of a request that its session is for reading only.
const readOnlyKey = "offcut.readonly"

// readable is a session that the user may read: their own, or any for an
// admin, whose first view is audited and whose pages offer no change.
func (h *Handlers) readable(c echo.Context, id string) (models.Session, error) {
	ctx := c.Request().Context()
	sess, err := h.Store.Session(ctx, me(c), id)
	if err == nil || !errors.Is(err, models.ErrNotFound) {
		return sess, err
	}
	user, _ := CurrentUser(c)
	if !user.Admin() {
		return models.Session{}, errNoSession
	}
	sess, err = h.Store.AnySession(ctx, id)
	if errors.Is(err, models.ErrNotFound) {
		return models.Session{}, errNoSession
	}
	if err != nil {
		return models.Session{}, err
	}
	c.Set(readOnlyKey, true)
	return sess, h.Store.AddAuditOnce(ctx, h.entry(c, models.AuditSessionView, sess.ID, models.Deedf("session_read", "read a session of %s", models.Arg("owner", sess.OwnerName))))
}

// writable is a session that the user may change: their own. An admin is told
// that another's is there and that they cannot write in it.
func (h *Handlers) writable(c echo.Context, id string) (models.Session, error) {
	ctx := c.Request().Context()
	sess, err := h.Store.Session(ctx, me(c), id)
	if !errors.Is(err, models.ErrNotFound) {
		return sess, err
	}
	if user, _ := CurrentUser(c); user.Admin() {
		if _, err := h.Store.AnySession(ctx, id); err == nil {
			return models.Session{}, errReadOnly
		}
	}
	return models.Session{}, errNoSession
}

// readableTurn is a turn of a session that the user may read.
func (h *Handlers) readableTurn(c echo.Context, id string) (models.Turn, error) {
	ctx := c.Request().Context()
	turn, err := h.Store.Turn(ctx, me(c), id)
	if err == nil || !errors.Is(err, models.ErrNotFound) {
		return turn, err
	}
	turn, err = h.anyTurn(c, id)
	if err != nil {
		return models.Turn{}, err
	}
	if _, err := h.readable(c, turn.SessionID); err != nil {
		return models.Turn{}, err
	}
	return turn, nil
}

// writableTurn is a turn of the user's own.
func (h *Handlers) writableTurn(c echo.Context, id string) (models.Turn, error) {
	turn, err := h.Store.Turn(c.Request().Context(), me(c), id)
	if !errors.Is(err, models.ErrNotFound) {
		return turn, err
	}
	if _, err := h.anyTurn(c, id); err != nil {
		return models.Turn{}, err
	}
	return models.Turn{}, errReadOnly
}

// anyTurn is somebody else's turn, for an admin.
func (h *Handlers) anyTurn(c echo.Context, id string) (models.Turn, error) {
	if user, _ := CurrentUser(c); !user.Admin() {
		return models.Turn{}, errNoTurn
	}
	turn, err := h.Store.AnyTurn(c.Request().Context(), id)
	if errors.Is(err, models.ErrNotFound) {
		return models.Turn{}, errNoTurn
	}
	return turn, err
}

// entry is a line of the audit log about what the user of c did.
func (h *Handlers) entry(c echo.Context, action, target string, did models.Deed) models.AuditEntry {
	user, _ := CurrentUser(c)
	return did.Of(models.AuditEntry{
		At: h.now(), ActorID: user.ID, ActorName: user.Name,
		Action: action, Target: target, Address: c.RealIP(),
	})
}

// mayDelete refuses where only administrators delete.
func (h *Handlers) mayDelete(c echo.Context) error {
	if user, _ := CurrentUser(c); !h.OnlyAdminsDelete || user.Admin() {
		return nil
	}
	return models.Errorf(models.ErrForbidden, "only_admins_delete",
		"on this server only administrators delete sessions and kept outputs; nothing was deleted, archive the session instead")
}

// deleteSession ends what runs in a session and removes it with its outputs
// and files. Once begun it is finished, whether or not the client waits.
func (h *Handlers) deleteSession(c echo.Context, sess models.Session, reason string) error {
	if err := h.mayDelete(c); err != nil {
		return err
	}
	deed := h.entry(c, models.AuditSessionDelete, sess.ID, models.Deedf("session_deleted", "deleted a session of %s", models.Arg("owner", sess.OwnerName)))
	err := h.Remover.Remove(c.Request().Context(), sess.ID, reason, deed)
	h.Broker.Publish(events.Listed(sess.OwnerID))
	return err
}
