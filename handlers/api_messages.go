package handlers

import (
	"net/http"
	"time"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// APISend sends a message: its turn begins, or waits for its place.
func (h *Handlers) APISend(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	var body struct {
		Content  string `json:"content"`
		ClientID string `json:"client_id"`
		// Attachments are paths of files in the workspace.
		Attachments []string `json:"attachments"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	turn, err := h.send(c, sess, body.Content, body.ClientID, body.Attachments)
	return sendTurn(c, turn, err)
}

// send hands a message of the user, with files of the workspace, to the runner.
func (h *Handlers) send(c echo.Context, sess models.Session, content, clientID string, files []string) (models.Turn, error) {
	if err := models.ValidateMessage(content, len(files)); err != nil {
		return models.Turn{}, err
	}
	if len(clientID) > models.MaxClientIDLength {
		return models.Turn{}, models.Errorf(models.ErrInvalid, "client_id_too_long",
			"client_id has at most %d bytes; this one has %d", models.MaxClientIDLength, len(clientID))
	}
	if err := h.answerable(sess); err != nil {
		return models.Turn{}, err
	}
	attached, err := h.attachments(c.Request().Context(), sess.ID, files)
	if err != nil {
		return models.Turn{}, err
	}
	return h.Runner.Send(c.Request().Context(), models.NewTurn{
		SessionID: sess.ID, OwnerID: me(c), Content: content, Attachments: attached, ClientID: clientID, Now: h.now(),
	})
}

// APIMessages lists what was said in a session, oldest first: what is shown,
// unless more is asked for.
func (h *Handlers) APIMessages(c echo.Context) error {
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
	include, err := q.words("include", "hidden", "versions")
	if err != nil {
		return err
	}
	list, next, err := h.Store.Messages(c.Request().Context(), models.MessageQuery{
		SessionID: sess.ID, IncludeHidden: include["hidden"], IncludeVersions: include["versions"], Page: page,
	})
	if err != nil {
		return err
	}
	return sendList(c, list, next, newMessageResource)
}

// MaxWait is the longest that a request for a turn waits for it to rest.
const MaxWait = time.Minute

// APITurn is one turn; with wait it is answered once the turn rests or waits for
// somebody, or when that time has passed.
func (h *Handlers) APITurn(c echo.Context) error {
	turn, err := h.readableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	wait, err := q.seconds("wait", MaxWait)
	if err != nil {
		return err
	}
	if wait > 0 && !turn.State.Final() {
		if turn, err = h.Runner.Wait(c.Request().Context(), turn.ID, wait); err != nil {
			return err
		}
		if err := stillMay(c); err != nil {
			return err
		}
	}
	waiting, err := h.waiting(c.Request().Context(), turn)
	if err != nil {
		return err
	}
	grounds, err := h.Store.Grounds(c.Request().Context(), turn.SessionID, []string{turn.ID})
	if err != nil {
		return err
	}
	resource := newTurnResource(turn, waiting, h.Runner.Live(turn.SessionID))
	resource.RestsOn = orEmpty(grounds[turn.ID])
	return c.JSON(http.StatusOK, resource)
}

// APIStopTurn ends a running turn, or removes a queued one. Stopping one that
// has ended changes nothing.
func (h *Handlers) APIStopTurn(c echo.Context) error {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	if !turn.State.Final() {
		if err := h.Runner.Stop(c.Request().Context(), turn.ID); err != nil {
			return err
		}
	}
	return sendTurn(c, turn, nil)
}
