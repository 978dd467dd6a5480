package handlers

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// AdminUsage is the page of what was used, by user and model.
func (h *Handlers) AdminUsage(c echo.Context) error {
	query, user, err := h.usageQuery(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, next, err := h.Store.Usage(ctx, query)
	if err != nil {
		return err
	}
	total, err := h.Store.UsageTotal(ctx, query)
	if err != nil {
		return err
	}
	months, err := h.Store.UsageMonths(ctx)
	if err != nil {
		return err
	}
	v := views.AdminUsage{
		Filter: views.UsageFilter{Month: query.Month, User: user, ByDay: query.ByDay}, Months: months,
		Total: usageLine(total), Steps: views.StepsOf("/admin/usage", c.QueryParams(), next),
	}
	for _, sum := range list {
		v.Lines = append(v.Lines, usageLine(sum))
	}
	return h.render(c, http.StatusOK, views.AdminUsagePage(v))
}

func usageLine(s models.UsageSum) views.UsageLine {
	return views.UsageLine{
		Period: s.Period, User: s.UserName, Model: s.Model, Turns: s.Turns, Input: s.InputTokens, Cached: s.CachedTokens,
		Output: s.OutputTokens, Reasoning: s.ReasoningTokens, Cost: s.Cost,
	}
}

// AdminUsageCSV is all that the filter leaves, for a spreadsheet.
func (h *Handlers) AdminUsageCSV(c echo.Context) error {
	query, _, err := h.usageQuery(c)
	if err != nil {
		return err
	}
	period := "month"
	if query.ByDay {
		period = "day"
	}
	query.Page = models.Page{Limit: models.MaxPageLimit}
	out := startCSV(c, "offcut-usage.csv", period, "user", "model", "turns",
		"input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd")
	for {
		list, next, err := h.Store.Usage(c.Request().Context(), query)
		if err != nil {
			return err
		}
		for _, s := range list {
			writeCSV(out, s.Period, s.UserName, s.Model, decimal(s.Turns), decimal(s.InputTokens), decimal(s.CachedTokens),
				decimal(s.OutputTokens), decimal(s.ReasoningTokens), cost(s.Cost))
		}
		if out.Flush(); next == "" || out.Error() != nil {
			return out.Error()
		}
		query.Cursor = next
	}
}

// cost is an amount of US dollars to a millionth of a cent, without what adding up
// binary fractions leaves behind that.
func cost(dollars float64) string {
	return strconv.FormatFloat(math.Round(dollars*1e8)/1e8, 'f', -1, 64)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// APIAdminUsage lists what was used, the newest first.
func (h *Handlers) APIAdminUsage(c echo.Context) error {
	query, _, err := h.usageQuery(c)
	if err != nil {
		return err
	}
	list, next, err := h.Store.Usage(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return sendList(c, list, next, newUsageResource)
}

type usageResource struct {
	Period string `json:"period"`
	User   string `json:"user"`
	Model  string `json:"model"`
	Turns  int64  `json:"turns"`
	models.Usage
}

func newUsageResource(s models.UsageSum) usageResource {
	return usageResource{Period: s.Period, User: s.UserName, Model: s.Model, Turns: s.Turns, Usage: s.Usage}
}

// usageQuery is what a request asks for, and the user's name as it was written.
// Of somebody who never was there is nothing: no user has the id that is then
// asked for.
func (h *Handlers) usageQuery(c echo.Context) (models.UsageQuery, string, error) {
	q, err := queryOf(c)
	if err != nil {
		return models.UsageQuery{}, "", err
	}
	query := models.UsageQuery{Month: q.text("month"), ByDay: q.text("by") != "month"}
	if by := q.text("by"); by != "" && by != "day" && by != "month" {
		return query, "", badParameter("by", "day or month")
	}
	if err := models.ValidateMonth(query.Month); err != nil {
		return query, "", err
	}
	if query.Page, err = q.page(); err != nil {
		return query, "", err
	}
	name := q.text("user")
	if name == "" {
		return query, "", nil
	}
	user, err := h.Store.UserByName(c.Request().Context(), name)
	switch {
	case errors.Is(err, models.ErrNotFound):
		query.UserID = "?"
	case err != nil:
		return query, name, err
	default:
		query.UserID = user.ID
	}
	return query, name, nil
}
