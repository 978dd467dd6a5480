package handlers

import (
	"bytes"
	"errors"
	"strings"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// Filter is the jq filter of one kept output inside a card, with what it gives.
func (h *Handlers) Filter(c echo.Context) error {
	_, out, err := h.outputOf(c)
	if err != nil {
		return err
	}
	f, err := h.filter(c, out)
	if err != nil {
		return err
	}
	if f == nil {
		f = &views.Filter{}
	}
	pager := views.Pager{SessionID: out.SessionID, OutputID: out.ID, InCard: true}
	return h.render(c, 200, views.FilterFragment(pager, *f))
}

// maxFiltered bounds what a page shows of a filter's values, in bytes. The API
// has them all.
const maxFiltered = 64 << 10

// filter is the jq filter of the address with what it gives of an output. A
// filter that cannot be used, or not now, is said beside the field and is no
// error of the page. The field is offered where the copy begins as JSON does;
// nil: it is not.
func (h *Handlers) filter(c echo.Context, out models.RetainedOutput) (*views.Filter, error) {
	q, err := queryOf(c)
	if err != nil {
		return nil, err
	}
	ctx := c.Request().Context()
	f := &views.Filter{Filter: q.text("filter")}
	if f.Filter == "" {
		if out.Running || out.Binary {
			return nil, nil
		}
		page, err := h.Reader.Page(ctx, out.SessionID, out.ID, 0, models.MaxPageBytes)
		if err != nil || !beginsAsJSON(bodyOf(out.Tool, page.Text)) {
			return nil, err
		}
		return f, nil
	}
	values, err := h.Querier.Query(ctx, me(c), out.SessionID, out.ID, f.Filter)
	var refused *models.Error
	if errors.As(err, &refused) && (errors.Is(err, models.ErrInvalid) || errors.Is(err, models.ErrLimited)) {
		f.Problem = views.Capital(said(ctx, refused))
		return f, nil
	}
	f.Bytes, f.Values = len(values), bytes.Count(values, []byte("\n"))
	f.Text = string(values[:min(len(values), maxFiltered)])
	f.Text = strings.ToValidUTF8(f.Text, "") // the last character may be cut
	return f, err
}

// fetchTool is the tool whose results begin with lines about the answer, which
// end with an empty one.
const fetchTool = "fetch_url"

// bodyOf is the beginning of what a filter reads of an output.
func bodyOf(tool, text string) string {
	if _, body, headed := strings.Cut(text, "\n\n"); headed && tool == fetchTool {
		return body
	}
	return strings.TrimPrefix(text, "\uFEFF")
}

// beginsAsJSON reports whether a text may be an object or a list.
func beginsAsJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}
