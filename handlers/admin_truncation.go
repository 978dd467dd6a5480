package handlers

import (
	"context"
	"net/http"
	"slices"
	"time"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// truncationDays is how many days are shown where none are asked for.
const truncationDays = 14

// AdminTruncation is the page of what became of tool results.
func (h *Handlers) AdminTruncation(c echo.Context) error {
	query, filter, err := h.truncationQuery(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	v := views.AdminTruncation{Filter: filter}
	total, err := h.Store.FiguresTotal(ctx, query)
	if err != nil {
		return err
	}
	v.Total = h.cuts("", total)
	for _, l := range total.Layers() {
		v.Layers = append(v.Layers, views.LayerLine{Name: string(l.Layer), In: l.In, Out: l.Out})
	}
	tools, next, err := h.Store.Figures(ctx, models.FiguresList{FiguresQuery: query, By: models.FiguresByTool, Page: models.Page{Cursor: c.QueryParam("cursor"), Limit: models.MaxPageLimit}})
	if err != nil {
		return err
	}
	v.Steps = views.StepsOf("/admin/truncation", c.QueryParams(), next)
	for _, f := range tools {
		if f.Tool != "" {
			v.ByTool = append(v.ByTool, h.cuts(f.Tool, f))
		}
	}
	of, _, err := h.Store.Figures(ctx, models.FiguresList{FiguresQuery: query, By: models.FiguresByModel, Page: models.Page{Limit: models.MaxPageLimit}})
	if err != nil {
		return err
	}
	for _, f := range of {
		v.ByModel = append(v.ByModel, h.cuts(f.Model, f))
	}
	days, err := h.Store.FiguresByDays(ctx, query)
	if err != nil {
		return err
	}
	for _, f := range days {
		v.Days = append(v.Days, h.cuts(f.Day, f))
	}
	if v.Tools, v.Models, err = h.counted(ctx); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.AdminTruncationPage(v))
}

// counted are the tools and the models of which anything was ever counted.
func (h *Handlers) counted(ctx context.Context) (tools, of []string, err error) {
	ever, err := h.Store.FiguresEver(ctx)
	for _, f := range ever {
		if f.Tool != "" {
			tools = append(tools, f.Tool)
		}
		if f.Model != "" {
			of = append(of, f.Model)
		}
	}
	slices.Sort(tools)
	slices.Sort(of)
	return slices.Compact(tools), slices.Compact(of), err
}

// cuts are figures as the page shows them, under the name of a tool, a model or
// a day.
func (h *Handlers) cuts(name string, f models.Figures) views.Cuts {
	return views.Cuts{
		Name: name, Calls: f.Calls, Truncated: f.Truncated, Consulted: f.Consulted, Reruns: f.Reruns,
		Produced: f.Produced, Hidden: f.Hidden(), Recovered: f.Recovered, Incomplete: f.Incomplete, FailedSaves: f.FailedSaves,
		Continuations: f.Continuations, CapHits: f.CapHits, Retries: f.Retries, Repaired: f.Repaired, Refused: f.Refused,
		Answers: f.Answers, Unread: f.Unread, GapsNamed: f.GapsNamed, Doubted: f.Doubted,
		NoticeAt: h.noticeShare(f.Tool),
	}
}

// noticeShare is the share of a tool's results, of which more are not to be cut
// without a notice; of no tool, that of those without one of their own.
func (h *Handlers) noticeShare(tool string) float64 {
	if h.NoticeShare == nil {
		return models.DefaultNoticeShare
	}
	return h.NoticeShare(tool)
}

// AdminTruncationCSV is all that the filter leaves, for a spreadsheet.
func (h *Handlers) AdminTruncationCSV(c echo.Context) error {
	query, _, err := h.truncationQuery(c)
	if err != nil {
		return err
	}
	list := models.FiguresList{FiguresQuery: query, By: models.FiguresByDay, Page: models.Page{Limit: models.MaxPageLimit}}
	out := startCSV(c, "offcut-truncation.csv", "day", "tool", "model", "calls", "truncated", "produced_bytes", "captured_bytes",
		"retained_bytes", "shown_bytes", "sent_bytes", "hidden_bytes", "recovered_bytes", "consulted", "reruns", "incomplete", "failed_saves",
		"repaired_arguments", "refused_arguments", "continuations", "cap_hits", "retries",
		"answers", "answers_on_unread", "answers_naming_gap", "answers_doubted")
	for {
		sums, next, err := h.Store.Figures(c.Request().Context(), list)
		if err != nil {
			return err
		}
		for _, f := range sums {
			cells := []string{f.Day, f.Tool, f.Model}
			for _, n := range []int64{
				f.Calls, f.Truncated, f.Produced, f.Captured, f.Retained, f.Shown, f.Sent, f.Hidden(), f.Recovered, f.Consulted, f.Reruns,
				f.Incomplete, f.FailedSaves, f.Repaired, f.Refused, f.Continuations, f.CapHits, f.Retries,
				f.Answers, f.Unread, f.GapsNamed, f.Doubted,
			} {
				cells = append(cells, decimal(n))
			}
			writeCSV(out, cells...)
		}
		if out.Flush(); next == "" || out.Error() != nil {
			return out.Error()
		}
		list.Cursor = next
	}
}

// APIAdminTruncation lists the figures, the newest day first.
func (h *Handlers) APIAdminTruncation(c echo.Context) error {
	query, _, err := h.truncationQuery(c)
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	list := models.FiguresList{FiguresQuery: query, By: models.FiguresByDay}
	switch by := models.FiguresBy(q.text("by")); by {
	case "":
	case models.FiguresByDay, models.FiguresByTool, models.FiguresByModel:
		list.By = by
	default:
		return badParameter("by", "day, tool or model")
	}
	if list.Page, err = q.page(); err != nil {
		return err
	}
	sums, next, err := h.Store.Figures(c.Request().Context(), list)
	if err != nil {
		return err
	}
	return sendList(c, sums, next, h.newFiguresResource)
}

type figuresResource struct {
	Day            *string             `json:"day"`
	Tool           *string             `json:"tool"`
	Model          *string             `json:"model"`
	Calls          int64               `json:"calls"`
	Truncated      int64               `json:"truncated"`
	HiddenBytes    int64               `json:"hidden_bytes"`
	RecoveredBytes int64               `json:"recovered_bytes"`
	Consulted      int64               `json:"consulted"`
	Reruns         int64               `json:"reruns"`
	Incomplete     int64               `json:"incomplete"`
	FailedSaves    int64               `json:"failed_saves"`
	Repaired       int64               `json:"repaired_arguments"`
	Refused        int64               `json:"refused_arguments"`
	Continuations  int64               `json:"continuations"`
	CapHits        int64               `json:"cap_hits"`
	Retries        int64               `json:"retries"`
	Answers        int64               `json:"answers"`
	Unread         int64               `json:"answers_on_unread"`
	GapsNamed      int64               `json:"answers_naming_gap"`
	Doubted        int64               `json:"answers_doubted"`
	NoticeShare    float64             `json:"notice_share"`
	Notice         bool                `json:"notice"`
	Layers         []models.LayerBytes `json:"layers"`
}

func (h *Handlers) newFiguresResource(f models.Figures) figuresResource {
	named := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	at := h.noticeShare(f.Tool)
	return figuresResource{
		Day: named(f.Day), Tool: named(f.Tool), Model: named(f.Model), Calls: f.Calls, Truncated: f.Truncated,
		HiddenBytes: f.Hidden(), RecoveredBytes: f.Recovered, Consulted: f.Consulted, Reruns: f.Reruns,
		Incomplete: f.Incomplete, FailedSaves: f.FailedSaves, Repaired: f.Repaired, Refused: f.Refused,
		Continuations: f.Continuations, CapHits: f.CapHits, Retries: f.Retries,
		Answers: f.Answers, Unread: f.Unread, GapsNamed: f.GapsNamed, Doubted: f.Doubted,
		NoticeShare: at, Notice: f.OverNotice(at), Layers: f.Layers(),
	}
}

// truncationQuery is what a request asks for: the last days, or those between
// two.
func (h *Handlers) truncationQuery(c echo.Context) (models.FiguresQuery, views.TruncationFilter, error) {
	q, err := queryOf(c)
	if err != nil {
		return models.FiguresQuery{}, views.TruncationFilter{}, err
	}
	query := models.FiguresQuery{Tool: q.text("tool"), Model: q.text("model")}
	filter := views.TruncationFilter{Tool: query.Tool, Model: query.Model}
	if query.From, err = q.day("from"); err != nil {
		return query, filter, err
	}
	if query.To, err = q.day("to"); err != nil {
		return query, filter, err
	}
	if !query.From.IsZero() || !query.To.IsZero() {
		return query, filter, nil
	}
	if filter.Days, err = q.bounded("days", truncationDays, 0, 100_000); err != nil {
		return query, filter, err
	}
	if filter.Days > 0 {
		query.From = h.now().Truncate(24*time.Hour).AddDate(0, 0, 1-filter.Days)
	}
	return query, filter, nil
}
