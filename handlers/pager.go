package handlers

import (
	"context"
	"errors"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// Pager is another page of a kept output inside a card.
func (h *Handlers) Pager(c echo.Context) error {
	_, out, err := h.outputOf(c)
	if err != nil {
		return err
	}
	pager, err := h.pager(c, out)
	if err != nil {
		return err
	}
	pager.InCard = true
	return h.render(c, 200, views.PagerFragment(pager))
}

// Pages opens a kept output inside a card.
func (h *Handlers) Pages(c echo.Context) error {
	_, out, err := h.outputOf(c)
	if err != nil {
		return err
	}
	pager, err := h.opened(c, out)
	if err != nil {
		return err
	}
	return h.render(c, 200, views.OpenedPager(pager))
}

// opened is the pager of an output that a card opens.
func (h *Handlers) opened(c echo.Context, out models.RetainedOutput) (views.Pager, error) {
	pager, err := h.pager(c, out)
	if err != nil {
		return pager, err
	}
	pager.InCard = true
	pager.Filter, err = h.filter(c, out)
	return pager, err
}

// pager is the page of an output that the address asks for. What a person
// typed there is never refused: an offset inside a character or past the end
// gives the nearest page, which says that it is another.
func (h *Handlers) pager(c echo.Context, out models.RetainedOutput) (views.Pager, error) {
	ctx := c.Request().Context()
	q, err := queryOf(c)
	if err != nil {
		return views.Pager{}, err
	}
	regexp, err := q.flag("regexp")
	if err != nil {
		return views.Pager{}, err
	}
	search, err := h.search(ctx, me(c), out, q.text("q"), regexp != nil && *regexp)
	if err != nil {
		return views.Pager{}, err
	}
	coverage, err := h.Store.Coverage(ctx, out.SessionID, out.ID)
	if err != nil {
		return views.Pager{}, err
	}
	offset, problem := typedOffset(ctx, q, search)
	page, err := h.pageAt(ctx, out, offset)
	if err != nil {
		return views.Pager{}, err
	}
	if problem == "" {
		problem = missed(ctx, q, offset, page)
	}
	v := views.Pager{
		SessionID: out.SessionID, OutputID: out.ID, CallID: out.CallID, Tool: out.Tool, Title: out.Title,
		Offset: page.Offset, End: page.NextOffset, Total: page.TotalBytes, Text: page.Text,
		HasMore: page.HasMore, Complete: page.Complete, Running: out.Running, CheckedAt: h.Now(),
		Prev: -1, Next: -1, Read: viewRanges(coverage), Gaps: viewGaps(out.Gaps), OmittedBytes: out.OmittedBytes,
		Binary: out.Binary, RawBytes: out.RawBytes, Original: out.Original, SHA256: out.SHA256, Search: search, Problem: problem,
	}
	if page.HasMore {
		v.Next = page.NextOffset
	}
	if page.Offset > 0 {
		if v.Prev, err = h.boundary(ctx, out, max(page.Offset-models.MaxPageBytes, 0)); err != nil {
			return views.Pager{}, err
		}
	}
	v.Last, err = h.boundary(ctx, out, max(page.TotalBytes-models.MaxPageBytes, 0))
	return v, err
}

// pageAt is the page that begins at the offset, or at the nearest character
// before it, or is the last where the offset is past the end.
func (h *Handlers) pageAt(ctx context.Context, out models.RetainedOutput, offset int64) (models.OutputPage, error) {
	page, err := h.Reader.Page(ctx, out.SessionID, out.ID, offset, models.MaxPageBytes)
	if before, ok := numberIn(err, "before"); ok {
		return h.Reader.Page(ctx, out.SessionID, out.ID, before, models.MaxPageBytes)
	}
	if total, ok := numberIn(err, "totalBytes"); ok {
		last, err := h.boundary(ctx, out, max(total-models.MaxPageBytes, 0))
		if err != nil {
			return page, err
		}
		return h.Reader.Page(ctx, out.SessionID, out.ID, last, models.MaxPageBytes)
	}
	return page, err
}

// boundary is the offset, or the end of the character that it falls into: a
// page from there still reaches what a page from the offset would.
func (h *Handlers) boundary(ctx context.Context, out models.RetainedOutput, offset int64) (int64, error) {
	if offset == 0 {
		return 0, nil
	}
	_, err := h.Reader.Page(ctx, out.SessionID, out.ID, offset, models.MinPageBytes)
	if after, ok := numberIn(err, "after"); ok {
		return after, nil
	}
	return offset, err
}

// numberIn is a detail of a refused offset.
func numberIn(err error, detail string) (int64, bool) {
	var refused *models.Error
	if !errors.As(err, &refused) {
		return 0, false
	}
	switch n := refused.Details[detail].(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	}
	return 0, false
}
