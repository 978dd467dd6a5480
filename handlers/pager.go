package handlers

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/labstack/echo/v4"
)

// maxReadNotes bounds the list of what the model read of an output.
const maxReadNotes = 100

// OutputPage is the full page of one kept output.
func (h *Handlers) OutputPage(c echo.Context) error {
	sess, out, err := h.outputOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	pager, err := h.pager(c, out)
	if err != nil {
		return err
	}
	sidebar, err := h.sidebar(c, sess.ID)
	if err != nil {
		return err
	}
	reads, err := h.Store.Reads(ctx, sess.ID, out.ID, maxReadNotes+1)
	if err != nil {
		return err
	}
	page := views.Output{
		SessionTitle: sess.Title, Pager: pager, Sidebar: sidebar,
		CapturedBytes: out.CapturedBytes, ReplacedBytes: out.ReplacedBytes, CreatedAt: out.CreatedAt,
	}
	if page.MoreReads = len(reads) > maxReadNotes; page.MoreReads {
		reads = reads[1:]
	}
	for _, read := range reads {
		page.Reads = append(page.Reads, views.ReadNote{Kind: string(read.Kind), Range: views.Range(read.Range), At: read.At})
	}
	if page.Took, err = h.took(ctx, out); err != nil {
		return err
	}
	if page.Origin, err = h.origin(ctx, out); err != nil {
		return err
	}
	if page.Pager.Filter, err = h.filter(c, out); err != nil {
		return err
	}
	return h.render(c, 200, views.OutputPage(page))
}

// took is how long the call of an output ran, as its card has it; 0 where that
// is not known.
func (h *Handlers) took(ctx context.Context, out models.RetainedOutput) (time.Duration, error) {
	_, result, err := h.Store.Call(ctx, out.SessionID, out.CallID)
	switch {
	case isNotFound(err):
		return 0, nil
	case err != nil || result == nil || metadataOf(result).ExecutionMS == nil:
		return 0, err
	}
	return time.Duration(*result.Metadata.ExecutionMS) * time.Millisecond, nil
}

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

// outputOf is the kept output that the address names. In a fork the error
// leads to the session whose outputs these are, where that is the user's.
func (h *Handlers) outputOf(c echo.Context) (models.Session, models.RetainedOutput, error) {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return sess, models.RetainedOutput{}, err
	}
	out, err := h.Store.Output(c.Request().Context(), sess.ID, c.Param("output"))
	if isNotFound(err) && deletedAt(err) == nil {
		missing := models.Errorf(models.ErrNotFound, "output_not_found", "there is no such output in this session")
		if original := h.original(c, sess); original != "" {
			missing = missing.With("original", original)
		}
		return sess, out, missing
	}
	return sess, out, err
}

// original is the session that sess was forked from, where its owner still has
// it.
func (h *Handlers) original(c echo.Context, sess models.Session) string {
	if sess.ForkedFrom == "" {
		return ""
	}
	if _, err := h.Store.Session(c.Request().Context(), sess.OwnerID, sess.ForkedFrom); err != nil {
		return ""
	}
	return sess.ForkedFrom
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

// typedOffset is where the page is to begin: the byte that was typed, with or
// without separators, or the first hit from "from" on, which a new search
// sends.
func typedOffset(ctx context.Context, q query, search views.Search) (offset int64, problem string) {
	name := "offset"
	if q.text(name) == "" && q.text("from") != "" {
		name = "from"
	}
	typed := q.text(name)
	digits := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune(",.'’_", r) {
			return -1
		}
		return r
	}, typed)
	if digits != "" {
		n, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange) && n > 0:
			offset = math.MaxInt64
		case err != nil || n < 0:
			problem = i18n.T(ctx, "pager.notabyte", "typed", clip(typed, 40))
		default:
			offset = n
		}
	}
	if len(search.Hits) > 0 && (name == "from" || typed == "") {
		return hitFrom(search.Hits, offset), problem
	}
	return offset, problem
}

// missed says that a page does not begin where it was asked for; empty where it
// does.
func missed(ctx context.Context, q query, offset int64, page models.OutputPage) string {
	typed := clip(strings.TrimSpace(q.text("offset")), 40)
	switch {
	case page.Offset == offset || typed == "":
		return ""
	case offset > page.TotalBytes:
		return i18n.T(ctx, "pager.pastend", "typed", typed, "n", page.TotalBytes)
	}
	return i18n.T(ctx, "pager.incharacter", "typed", typed, "at", page.Offset)
}

// hitFrom is the first hit at or after the offset, or else the first of all.
func hitFrom(hits []views.Hit, offset int64) int64 {
	for _, hit := range hits {
		if hit.Offset >= offset {
			return hit.Offset
		}
	}
	return hits[0].Offset
}

// search finds what the person looks for. A pattern that cannot be used, or not
// now, is said beside the field and is no error of the page.
func (h *Handlers) search(ctx context.Context, asker string, out models.RetainedOutput, text string, regexp bool) (views.Search, error) {
	s := views.Search{Query: text, Regexp: regexp}
	if text == "" {
		return s, nil
	}
	matches, err := h.Reader.Search(ctx, asker, out.SessionID, out.ID, text, regexp, models.MaxMatches)
	var refused *models.Error
	if errors.As(err, &refused) && (errors.Is(err, models.ErrInvalid) || errors.Is(err, models.ErrMalformed) || errors.Is(err, models.ErrLimited)) {
		s.Problem = views.Capital(said(ctx, refused))
		return s, nil
	}
	for _, m := range matches {
		s.Hits = append(s.Hits, views.Hit{Offset: m.Offset, Line: m.Line, Text: m.Text})
	}
	s.More = len(matches) == models.MaxMatches
	return s, err
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
