package handlers

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"
)

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
