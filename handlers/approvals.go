package handlers

import (
	"context"
	"net/http"

	"offcut/agent/events"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

// APIDecide answers a call that waits for somebody.
func (h *Handlers) APIDecide(c echo.Context) error {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	var body struct {
		CallID   string `json:"call_id"`
		Decision string `json:"decision"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.CallID == "" {
		return models.Errorf(models.ErrInvalid, "call_id_missing", "call_id names the call that is allowed or denied")
	}
	if err := h.decide(c, turn, body.CallID, body.Decision); err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, map[string]string{"turn_id": turn.ID})
}

// Decide is the answer of somebody at a page.
func (h *Handlers) Decide(c echo.Context) error {
	turn, err := h.writableTurn(c, c.Param("turn"))
	if err != nil {
		return err
	}
	if err := h.decide(c, turn, c.FormValue("call_id"), c.FormValue("decision")); err != nil {
		return err
	}
	return h.stay(c, "/s/"+turn.SessionID)
}

// decide stores an answer and lets the turn go on. What was allowed, or not, is
// audited: it may have run with the server's own rights.
func (h *Handlers) decide(c echo.Context, turn models.Turn, callID, decision string) error {
	ctx := c.Request().Context()
	decided, err := models.ParseDecision(decision)
	if err != nil {
		return err
	}
	asked, err := h.Store.Approval(ctx, turn.SessionID, callID)
	if err != nil {
		return err
	}
	action, did := models.AuditCallAllow, models.Deedf("call_allowed", "allowed a call of %s once", models.Arg("tool", asked.Tool))
	switch decided {
	case models.DecisionSession:
		did = models.Deedf("calls_allowed", "allowed calls of %s in the session", models.Arg("tool", asked.Tool))
	case models.DecisionDeny:
		action, did = models.AuditCallDeny, models.Deedf("call_denied", "denied a call of %s", models.Arg("tool", asked.Tool))
	}
	return h.Runner.Decide(ctx, models.Verdict{
		TurnID: turn.ID, CallID: callID, Decision: decided, By: me(c), Now: h.now(),
	}, h.entry(c, action, turn.SessionID, did))
}

// waiting are the calls of a turn that wait for somebody.
func (h *Handlers) waiting(ctx context.Context, turn models.Turn) ([]models.Approval, error) {
	if turn.State != models.StateRunning && turn.State != models.StateAwaitingApproval {
		return nil, nil
	}
	return h.Store.Waiting(ctx, turn.ID)
}

type grantResource struct {
	Tool string `json:"tool"`
	By   string `json:"by"`
	At   string `json:"at"`
}

func newGrantResource(g models.Grant) grantResource {
	return grantResource{Tool: g.Tool, By: g.By, At: stamp(g.At)}
}

// APIGrants lists the tools that run in a session without asking.
func (h *Handlers) APIGrants(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	grants, err := h.Store.Grants(c.Request().Context(), sess.ID)
	if err != nil {
		return err
	}
	return sendList(c, grants, "", newGrantResource)
}

// APIRevoke makes the calls of a tool be asked about again.
func (h *Handlers) APIRevoke(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.revoke(c, sess, c.Param("tool")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// Revoke is APIRevoke from a page.
func (h *Handlers) Revoke(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.revoke(c, sess, c.FormValue("tool")); err != nil {
		return err
	}
	return h.stay(c, "/s/"+sess.ID)
}

func (h *Handlers) revoke(c echo.Context, sess models.Session, tool string) error {
	deed := h.entry(c, models.AuditCallRevoke, sess.ID, models.Deedf("calls_asked", "asks again about calls of %s in the session", models.Arg("tool", tool)))
	if err := h.Store.Revoke(c.Request().Context(), sess.ID, tool, h.now(), deed); err != nil {
		return err
	}
	h.Broker.Publish(events.Event{SessionID: sess.ID, Kind: events.KindApproval})
	return nil
}
