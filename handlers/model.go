package handlers

import (
	"net/http"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// picker chooses the model of a session; of the zero session, that of a new
// chat.
func (h *Handlers) picker(sess models.Session) views.Picker {
	return views.Picker{
		SessionID: sess.ID, Chosen: h.model(sess.Model), Names: h.Models, Gone: !h.knowsModel(sess.Model),
	}
}

// ChooseModel gives a session another model.
func (h *Handlers) ChooseModel(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	name := c.FormValue("model")
	if _, err := h.updateSession(c, sess.ID, models.SessionPatch{Model: &name}); err != nil {
		return err
	}
	return h.stay(c, "/s/"+sess.ID)
}

// answerable refuses what would be asked of a model that is not configured any
// more. Another one is never asked instead without a word: it may be somebody
// else's, and cost something else.
func (h *Handlers) answerable(sess models.Session) error {
	if h.knowsModel(sess.Model) {
		return nil
	}
	return models.Errorf(models.ErrConflict, "model_gone",
		"the model %q of this session is not configured any more; choose another one and send the message again", models.Arg("model", sess.Model))
}

// Details is what a session is and has used.
func (h *Handlers) Details(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	used, err := h.Store.SessionUsage(c.Request().Context(), sess.ID)
	if err != nil {
		return err
	}
	v := views.Details{CreatedAt: sess.CreatedAt, UpdatedAt: sess.UpdatedAt}
	total := models.UsageSum{}
	for _, sum := range used {
		total.Turns, total.Usage = total.Turns+sum.Turns, total.Add(sum.Usage)
		if len(used) > 1 {
			v.Used = append(v.Used, usageLine(sum))
		}
	}
	v.Total = usageLine(total)
	return h.render(c, http.StatusOK, views.DetailsFragment(v))
}
