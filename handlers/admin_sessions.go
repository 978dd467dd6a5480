package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// AdminSessions lists everybody's sessions.
func (h *Handlers) AdminSessions(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	v := views.AdminSessions{Filter: sessionFilter(q.values), Deleted: count(q.text("deleted")), Failed: count(q.text("failed"))}
	query, err := h.reviewQuery(ctx, q)
	if errors.Is(err, models.ErrNotFound) { // nobody has that name
		return h.render(c, http.StatusOK, views.AdminSessionsPage(v))
	}
	if err != nil {
		return err
	}
	list, next, err := h.Store.ReviewSessions(ctx, query)
	if err != nil {
		return err
	}
	total, err := h.Store.ReviewTotals(ctx, query)
	if err != nil {
		return err
	}
	v.Total = views.AdminTotal(total)
	v.Steps = views.StepsOf("/admin/sessions", q.values, next)
	v.Rows = h.adminSessions(ctx, list)
	return h.render(c, http.StatusOK, views.AdminSessionsPage(v))
}

// sessionFilter is the filter as the page shows it, without the parameters that
// lead through the list.
func sessionFilter(params url.Values) views.SessionFilter {
	f := views.SessionFilter{
		Query: params.Get("q"), Owner: params.Get("owner"), Archived: params.Get("archived"), Unused: params.Get("unused"),
		Order: params.Get("sort"), Ascending: params.Get("ascending") == "true",
	}
	if f.Order == "" {
		f.Order = string(models.ByUse)
	}
	return f
}

// reviewQuery is which sessions a request asks for; models.ErrNotFound where
// nobody has the owner's name.
func (h *Handlers) reviewQuery(ctx context.Context, q query) (models.ReviewQuery, error) {
	query := models.ReviewQuery{Order: models.SessionOrder(q.text("sort"))}
	if query.Order != "" && !query.Order.Valid() {
		return query, badParameter("sort", "pinned, use, messages, outputs or bytes")
	}
	ascending, err := q.flag("ascending")
	if err != nil {
		return query, err
	}
	query.Ascending = ascending != nil && *ascending
	if query.Archived, err = q.flag("archived"); err != nil {
		return query, err
	}
	days, err := q.bounded("unused", 0, 0, 100_000)
	if err != nil {
		return query, err
	}
	if days > 0 {
		query.UsedBefore = h.now().AddDate(0, 0, -days)
	}
	if query.Text, err = q.search(); err != nil {
		return query, err
	}
	if query.Page, err = q.page(); err != nil {
		return query, err
	}
	if owner := q.text("owner"); owner != "" {
		user, err := h.Store.UserByName(ctx, owner)
		if err != nil {
			return query, err
		}
		query.OwnerID = user.ID
	}
	return query, nil
}

func (h *Handlers) adminSessions(ctx context.Context, list []models.SessionStats) []views.AdminSession {
	ctx, cancel := context.WithTimeout(ctx, sizesWait)
	defer cancel()
	rows := make([]views.AdminSession, len(list))
	for i, s := range list {
		rows[i] = views.AdminSession{
			ID: s.ID, Title: s.Title, Owner: s.OwnerName, Running: s.Running, Archived: s.Archived, Pinned: s.Pinned,
			Messages: s.Messages, Outputs: s.Outputs, OutputBytes: s.OutputBytes, TextBytes: s.TextBytes, Files: h.workspaceSize(ctx, s.ID), UsedAt: s.UpdatedAt,
		}
	}
	return rows
}

// AdminGoes asks whether the chosen sessions are to go, and says in numbers what
// goes with them.
func (h *Handlers) AdminGoes(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	list, err := h.chosen(c, q.values)
	if err != nil {
		return err
	}
	v := views.AdminGoes{Sessions: h.adminSessions(c.Request().Context(), list), Back: backTo(q.text("back")).Encode()}
	if isFragment(c) {
		return h.render(c, http.StatusOK, views.AdminGoesFragment(v))
	}
	return h.render(c, http.StatusOK, views.AdminGoesPage(v))
}

// AdminDeleteSessions deletes the chosen sessions and goes back to the list. One
// that is gone already is none that failed.
func (h *Handlers) AdminDeleteSessions(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return err
	}
	list, err := h.chosen(c, form)
	if err != nil {
		return err
	}
	deleted, failed := h.deleteAll(c, list, views.GoneByAdmin)
	back := backTo(form.Get("back"))
	back.Set("deleted", strconv.Itoa(len(deleted)))
	if failed > 0 {
		back.Set("failed", strconv.Itoa(failed))
	}
	return h.goTo(c, "/admin/sessions?"+back.Encode())
}

// chosen are the sessions that a form names and that are still there.
func (h *Handlers) chosen(c echo.Context, form url.Values) ([]models.SessionStats, error) {
	ids := form["id"]
	switch {
	case len(ids) == 0:
		return nil, models.Errorf(models.ErrInvalid, "nothing_chosen", "no session is chosen; tick those that are to go")
	case len(ids) > maxMarked:
		return nil, tooManySessions()
	}
	list, err := h.Store.SessionsByID(c.Request().Context(), ids)
	if err == nil && len(list) == 0 {
		err = errNoSession
	}
	return list, err
}

// backTo are the parameters of the list, out of what a form says they were.
func backTo(text string) url.Values {
	params, err := url.ParseQuery(text)
	if err != nil {
		return url.Values{}
	}
	return sessionFilter(params).Params()
}

// count is a number of an address that a redirect of ours made; 0 where it is
// none.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(0, n)
}
