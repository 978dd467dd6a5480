package handlers

import (
	"net/http"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// APIMoveCall lets a running call of a turn go on in the background: the turn
// ends there.
func (h *Handlers) APIMoveCall(c echo.Context) error {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	var body struct {
		CallID string `json:"call_id"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.CallID == "" {
		return models.Errorf(models.ErrInvalid, "call_id_missing", "call_id names the running tool call that is to go on in the background")
	}
	if err := h.Runner.MoveCall(c.Request().Context(), turn.SessionID, turn.ID, body.CallID); err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, map[string]string{"turn_id": turn.ID})
}

// APIStopOutput stops the background command that prints a kept output.
func (h *Handlers) APIStopOutput(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	out, err := h.Store.Output(c.Request().Context(), sess.ID, c.Param("output"))
	if err != nil {
		return err
	}
	if err := h.Runner.StopOutput(sess.ID, out.ID); err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, map[string]string{"output_id": out.ID})
}
