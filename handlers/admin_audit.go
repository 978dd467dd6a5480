package handlers

import (
	"context"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/labstack/echo/v4"
)

// AdminHome leads to the first of the admin's pages.
func (h *Handlers) AdminHome(c echo.Context) error { return h.goTo(c, views.AdminHome()) }

// AdminAudit is the page of the audit log.
func (h *Handlers) AdminAudit(c echo.Context) error {
	query, err := h.auditQuery(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, next, err := h.Store.Audit(ctx, query)
	if err != nil {
		return err
	}
	actions, err := h.Store.AuditActions(ctx)
	if err != nil {
		return err
	}
	params := c.QueryParams()
	page := views.AdminAudit{
		Actions: actions, Steps: views.StepsOf("/admin/audit", params, next),
		Filter: views.AuditFilter{
			Actor: query.Actor, Action: query.Action, Target: query.Target, From: params.Get("from"), To: params.Get("to"),
		},
	}
	for _, e := range list {
		page.Entries = append(page.Entries, views.AuditEntry{
			At: e.At, Actor: e.ActorName, Program: e.ActorID == "" && e.ActorName == models.AuditActorCommandLine,
			Action: e.Action, Target: e.Target, Detail: i18n.Error(ctx, "deed."+e.Code, e.Detail, e.Args), Address: e.Address,
		})
	}
	return h.render(c, http.StatusOK, views.AdminAuditPage(page))
}

// AdminAuditCSV is all of the log that the filter leaves, for a spreadsheet. It
// is written as it is read: a log of years is never held as a whole.
func (h *Handlers) AdminAuditCSV(c echo.Context) error {
	query, err := h.auditQuery(c)
	if err != nil {
		return err
	}
	query.Page = models.Page{Limit: models.MaxPageLimit}
	out := startCSV(c, "offcut-audit.csv", "time", "actor", "action", "target", "detail", "address")
	for {
		list, next, err := h.Store.Audit(c.Request().Context(), query)
		if err != nil {
			return err
		}
		for _, e := range list {
			writeCSV(out, e.At.UTC().Format(time.RFC3339), e.ActorName, e.Action, e.Target, e.Detail, e.Address)
		}
		if out.Flush(); next == "" || out.Error() != nil {
			return out.Error()
		}
		query.Cursor = next
	}
}

// auditQuery is what of the audit log a request asks for.
func (h *Handlers) auditQuery(c echo.Context) (models.AuditQuery, error) {
	q, err := queryOf(c)
	if err != nil {
		return models.AuditQuery{}, err
	}
	query := models.AuditQuery{Actor: q.text("actor"), Action: q.text("action"), Target: q.text("target")}
	if err := h.checkAction(c.Request().Context(), query.Action); err != nil {
		return query, err
	}
	if query.Page, err = q.page(); err != nil {
		return query, err
	}
	if query.From, err = q.day("from"); err != nil {
		return query, err
	}
	to, err := q.day("to")
	if err == nil && !to.IsZero() {
		query.To = to.AddDate(0, 0, 1) // the last day is asked for whole
	}
	return query, err
}

// checkAction refuses a filter for an action that there is not: neither one that
// this program writes down nor one that an earlier one did.
func (h *Handlers) checkAction(ctx context.Context, action string) error {
	if action == "" || models.AuditNames(action, models.AuditActions) {
		return nil
	}
	logged, err := h.Store.AuditActions(ctx)
	if err != nil || models.AuditNames(action, logged) {
		return err
	}
	return badParameter("action", "one of "+strings.Join(models.AuditActions, ", ")+", or what stands before the dot in some of them")
}

// startCSV begins a table for a spreadsheet, as a download.
func startCSV(c echo.Context, name string, columns ...string) *csv.Writer {
	header := c.Response().Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	header.Set("Cache-Control", "no-store")
	c.Response().WriteHeader(http.StatusOK)
	out := csv.NewWriter(c.Response())
	_ = out.Write(columns) // its error stays, and is told at the end
	return out
}

// writeCSV writes a line. A cell that a spreadsheet would take for a formula
// begins with an apostrophe, which makes it text: what is in it was written by
// users and models.
func writeCSV(out *csv.Writer, cells ...string) {
	for i, cell := range cells {
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			cells[i] = "'" + cell
		}
	}
	_ = out.Write(cells) // its error stays, and is told at the end
}
