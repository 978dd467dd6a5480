package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// APICreateSession makes an empty session.
func (h *Handlers) APICreateSession(c echo.Context) error {
	var body struct {
		Title string `json:"title"`
		Model string `json:"model"`
	}
	if err := readOptionalJSON(c, &body); err != nil {
		return err
	}
	sess, err := h.createSession(c, body.Title, body.Model)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", h.BasePath+"/api/v1/sessions/"+sess.ID)
	return c.JSON(http.StatusCreated, h.sessionResource(sess))
}

func (h *Handlers) createSession(c echo.Context, title, model string) (models.Session, error) {
	title = strings.TrimSpace(title)
	if err := models.ValidateTitle(title); err != nil {
		return models.Session{}, err
	}
	if err := h.checkModel(model); err != nil {
		return models.Session{}, err
	}
	user, _ := CurrentUser(c)
	now := h.now()
	sess := models.Session{
		ID: models.NewID(models.PrefixSession), OwnerID: user.ID, OwnerName: user.Name,
		Title: title, Model: model, CreatedAt: now, UpdatedAt: now,
	}
	return sess, h.Store.CreateSession(c.Request().Context(), sess)
}

func (h *Handlers) checkModel(name string) error {
	if h.knowsModel(name) {
		return nil
	}
	return models.Errorf(models.ErrInvalid, "unknown_model", "there is no model %q; choose one of these: %q", models.Arg("model", name), h.Models)
}

// APISessions lists the user's own sessions.
func (h *Handlers) APISessions(c echo.Context) error {
	query, err := sessionQuery(c)
	if err != nil {
		return err
	}
	query.OwnerID = me(c)
	list, next, err := h.Store.Sessions(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return sendList(c, list, next, h.sessionResource)
}

func sessionQuery(c echo.Context) (models.SessionQuery, error) {
	q, err := queryOf(c)
	if err != nil {
		return models.SessionQuery{}, err
	}
	text, err := q.search()
	if err != nil {
		return models.SessionQuery{}, err
	}
	archived, err := q.flag("archived")
	if err != nil {
		return models.SessionQuery{}, err
	}
	page, err := q.page()
	return models.SessionQuery{Text: text, Archived: archived, Page: page}, err
}

// APISession is one session.
func (h *Handlers) APISession(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.sessionResource(sess))
}

// APIUpdateSession changes what the body names of a session.
func (h *Handlers) APIUpdateSession(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	var body struct {
		Title    given[string] `json:"title"`
		Archived given[bool]   `json:"archived"`
		Pinned   given[bool]   `json:"pinned"`
		Model    given[string] `json:"model"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	patch := models.SessionPatch{
		Title: body.Title.Value, Archived: body.Archived.Value, Pinned: body.Pinned.Value, Model: body.Model.Value,
	}
	sess, err = h.updateSession(c, sess.ID, patch)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.sessionResource(sess))
}

// updateSession changes a session of the user's own and tells who watches it.
func (h *Handlers) updateSession(c echo.Context, id string, patch models.SessionPatch) (models.Session, error) {
	if patch.Title != nil {
		patch.Title = models.Ptr(strings.TrimSpace(*patch.Title))
		if err := models.ValidateTitle(*patch.Title); err != nil {
			return models.Session{}, err
		}
	}
	if patch.Model != nil {
		if err := h.checkModel(*patch.Model); err != nil {
			return models.Session{}, err
		}
	}
	sess, err := h.Store.UpdateSession(c.Request().Context(), me(c), id, patch, h.now())
	if err == nil && patch.Archived != nil && *patch.Archived {
		h.Runner.EndBackground(id) // what nobody looks at any more does not run on
	}
	if err != nil {
		return sess, err
	}
	if patch.Title != nil {
		h.Broker.Publish(titleEvent(sess))
	}
	if patch.Model != nil {
		h.Broker.Publish(events.Event{SessionID: sess.ID, Kind: events.KindModel, Text: h.picker(sess).Chosen})
	}
	h.Broker.Publish(events.Listed(sess.OwnerID))
	return sess, nil
}

// APIDeleteSession deletes a session of the user's own.
func (h *Handlers) APIDeleteSession(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.deleteSession(c, sess, views.GoneDeleted); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// APIForkSession copies a session's messages, up to one of them or all, and
// its files into a new session.
func (h *Handlers) APIForkSession(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	var body struct {
		MessageID string `json:"message_id"`
	}
	if err := readOptionalJSON(c, &body); err != nil {
		return err
	}
	fork, err := h.forkSession(c, sess, body.MessageID)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", h.BasePath+"/api/v1/sessions/"+fork.ID)
	return c.JSON(http.StatusCreated, h.sessionResource(fork))
}

// forkSession is all or nothing: without room for the files there is no fork.
func (h *Handlers) forkSession(c echo.Context, sess models.Session, upto string) (models.Session, error) {
	ctx := context.WithoutCancel(c.Request().Context())
	fork, err := h.Store.ForkSession(ctx, me(c), sess.ID, upto, h.now())
	if err != nil {
		return models.Session{}, err
	}
	if err := h.Workspaces.Copy(ctx, me(c), sess.ID, fork.ID); err != nil {
		return models.Session{}, h.undoFork(ctx, fork, err)
	}
	return fork, nil
}

func (h *Handlers) undoFork(ctx context.Context, fork models.Session, cause error) error {
	if err := h.Store.DeleteSession(ctx, fork.ID); err != nil {
		return fmt.Errorf("undo the fork %q: %w (after: %w)", fork.ID, err, cause)
	}
	if err := h.Workspaces.Remove(ctx, fork.ID); err != nil {
		return fmt.Errorf("undo the fork %q: %w (after: %w)", fork.ID, err, cause)
	}
	return cause
}
