package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// Begin makes a session out of its first message.
func (h *Handlers) Begin(c echo.Context) error {
	content, clientID := c.FormValue("content"), c.FormValue("client_id")
	sess, err := h.begin(c, content, clientID, attachedTo(c))
	if refused, ok := refusedDraft(c, err); ok {
		return h.home(c, refused.status, drafted(content), refused.message)
	}
	if err != nil {
		return err
	}
	return h.goTo(c, "/s/"+sess.ID)
}

func (h *Handlers) begin(c echo.Context, content, clientID string, files []string) (models.Session, error) {
	if err := models.ValidateMessage(content, len(files)); err != nil {
		return models.Session{}, err
	}
	model := c.FormValue("model")
	if err := h.checkModel(model); err != nil {
		return models.Session{}, err
	}
	sess, found, err := h.sessionFor(c, model, clientID)
	if err != nil {
		return sess, err
	}
	if found && sess.Draft {
		if sess, err = h.asSent(c, sess, model, files); err != nil {
			return sess, err
		}
	}
	if _, err := h.send(c, sess, content, clientID, files); err != nil {
		if len(files) > 0 {
			return sess, err // what was uploaded is there when it is sent again
		}
		// A session without a message is nothing that somebody asked for.
		return sess, errors.Join(err, h.discard(c, sess.ID))
	}
	return sess, nil
}

// asSent makes a draft what its first message says: with the model that is chosen
// now, and without files that were uploaded for it and taken away again.
func (h *Handlers) asSent(c echo.Context, draft models.Session, model string, files []string) (models.Session, error) {
	ctx := c.Request().Context()
	if draft.Model != model {
		var err error
		if draft, err = h.Store.UpdateSession(ctx, me(c), draft.ID, models.SessionPatch{Model: &model}, h.now()); err != nil {
			return draft, err
		}
	}
	for page := (models.Page{Limit: models.MaxPageLimit}); ; {
		list, next, err := h.Files.List(ctx, draft.ID, "", page)
		if err != nil {
			return draft, err
		}
		for _, file := range list {
			if slices.Contains(files, file.Path) {
				continue
			}
			if err := h.Files.Remove(ctx, me(c), draft.ID, file.Path); err != nil {
				return draft, err
			}
		}
		if page.Cursor = next; next == "" {
			return draft, nil
		}
	}
}

// attachedTo are the paths of the files with which the message of a form comes.
func attachedTo(c echo.Context) []string {
	form, err := c.FormParams()
	if err != nil {
		return nil // such a form is refused before it comes here
	}
	return form["attachment"]
}

// sessionFor makes a draft of a session. A form that is sent twice, by a double click or
// a browser that tries again, finds the session that it made the first time:
// its id is derived from the form's.
func (h *Handlers) sessionFor(c echo.Context, model, clientID string) (sess models.Session, found bool, err error) {
	ctx := c.Request().Context()
	user, _ := CurrentUser(c)
	now := h.now()
	sess = models.Session{
		ID: models.NewID(models.PrefixSession), OwnerID: user.ID, OwnerName: user.Name, Model: model, Draft: true, CreatedAt: now, UpdatedAt: now,
	}
	if clientID == "" {
		return sess, false, h.Store.CreateSession(ctx, sess)
	}
	sum := sha256.Sum256([]byte(user.ID + "\x00" + clientID))
	sess.ID = models.PrefixSession + "_" + hex.EncodeToString(sum[:16])
	err = h.Store.CreateSession(ctx, sess)
	if err == nil {
		return sess, false, nil
	}
	if made, again := h.Store.Session(ctx, user.ID, sess.ID); again == nil {
		return made, true, nil
	}
	return sess, false, err
}

// discard removes a draft in which nothing was said, with its files.
func (h *Handlers) discard(c echo.Context, sessionID string) error {
	ctx := context.WithoutCancel(c.Request().Context())
	said, _, err := h.Store.Messages(ctx, models.MessageQuery{SessionID: sessionID, Page: models.Page{Limit: 1}})
	if err != nil || len(said) > 0 {
		return err
	}
	if err := h.Store.DeleteSession(ctx, sessionID); err != nil {
		return err
	}
	return h.Workspaces.Remove(ctx, sessionID)
}

// Send takes a message for a session. A script gets what is put into the page;
// a form goes back to the page.
func (h *Handlers) Send(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	content := c.FormValue("content")
	turn, err := h.send(c, sess, content, c.FormValue("client_id"), attachedTo(c))
	if refused, ok := refusedDraft(c, err); ok {
		return h.chat(c, refused.status, sess, page{draft: drafted(content), problem: refused.message})
	}
	if err != nil {
		return err
	}
	if !isFragment(c) {
		return h.goTo(c, "/s/"+sess.ID)
	}
	message, err := h.messageOf(c.Request().Context(), turn)
	if err != nil {
		return err
	}
	if message == nil {
		return c.NoContent(http.StatusAccepted)
	}
	said, err := h.said(c.Request().Context(), *message)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusAccepted, views.UserArticle(*said))
}

// refusedDraft is how a message is given back to somebody without scripts,
// where it was refused: the text is never lost.
func refusedDraft(c echo.Context, err error) (failure, bool) {
	var refused *models.Error
	if isFragment(c) || !errors.As(err, &refused) || errors.Is(err, models.ErrNotFound) {
		return failure{}, false
	}
	return describe(err).in(c.Request().Context()), true
}

// drafted is a refused text as far as a page can hold it.
func drafted(content string) string { return clip(content, models.MaxMessageBytes) }

// StopTurn ends a turn.
func (h *Handlers) StopTurn(c echo.Context) error {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	if !turn.State.Final() {
		if err := h.Runner.Stop(c.Request().Context(), turn.ID); err != nil {
			return err
		}
	}
	return h.stay(c, "/s/"+turn.SessionID)
}

// StopCall ends one running tool call.
func (h *Handlers) StopCall(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.Runner.StopCall(c.Request().Context(), sess.ID, c.Param("call")); err != nil {
		return err
	}
	return h.stay(c, "/s/"+sess.ID)
}

// MoveCall lets one running tool call go on in the background.
func (h *Handlers) MoveCall(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.Runner.MoveCall(c.Request().Context(), sess.ID, "", c.Param("call")); err != nil {
		return err
	}
	return h.stay(c, "/s/"+sess.ID)
}

// stay tells a script that it is done, and brings a form back to the page.
func (h *Handlers) stay(c echo.Context, path string) error {
	if isFragment(c) {
		return c.NoContent(http.StatusNoContent)
	}
	return h.goTo(c, path)
}

// Rename gives a session another title.
func (h *Handlers) Rename(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	title := c.FormValue("title")
	if _, err := h.updateSession(c, sess.ID, models.SessionPatch{Title: &title}); err != nil {
		return err
	}
	next := h.ownPath(c.FormValue("next"))
	if next == "" {
		next = "/s/" + sess.ID
	}
	return h.goTo(c, next)
}

// Fork copies a session, up to a message or whole, and goes to the copy.
func (h *Handlers) Fork(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	fork, err := h.forkSession(c, sess, c.FormValue("message_id"))
	if err != nil {
		return err
	}
	return h.goTo(c, "/s/"+fork.ID)
}

// Delete deletes a session.
func (h *Handlers) Delete(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.deleteSession(c, sess, views.GoneDeleted); err != nil {
		return err
	}
	return h.goTo(c, "/")
}

// DeleteOutput deletes one kept output and goes back to where it was shown.
func (h *Handlers) DeleteOutput(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	out, err := h.Store.Output(c.Request().Context(), sess.ID, c.Param("output"))
	if err != nil {
		return err
	}
	if err := h.deleteOutput(c, sess.ID, out.ID); err != nil {
		return err
	}
	return h.goTo(c, "/s/"+sess.ID+"#t-"+out.CallID)
}
