package views

import (
	"context"
	"net/url"
	"strings"

	"github.com/a-h/templ"
)

// id is the id of the pager's element: one output may stand in a card and
// there is one pager on a page of its own.
func (v Pager) id() string { return "pager-" + v.OutputID }

// below is the address of the output, below the base path, and what follows.
func (v Pager) below(parts ...string) string {
	return "/s/" + v.SessionID + "/out/" + v.OutputID + strings.Join(parts, "")
}

func (v Pager) pageURL(ctx context.Context) templ.SafeURL { return at(ctx, v.below()) }

// values are the parameters of another page, the search kept; a negative
// offset leaves it open.
func (v Pager) values(offset int64) string {
	values := url.Values{}
	if offset >= 0 {
		values.Set("offset", itoa(offset))
	}
	if v.Search.Query != "" {
		values.Set("q", v.Search.Query)
		if v.Search.Regexp {
			values.Set("regexp", "true")
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// fragmentURL is where a card fetches another page.
func (v Pager) fragmentURL(ctx context.Context, offset int64) string {
	return path(ctx, v.below("/pager", v.values(offset)))
}

// filterURL is the filter of a card.
func (v Pager) filterURL(ctx context.Context) string { return path(ctx, v.below("/filter")) }

// hitURL is the full page at a byte, the search kept.
func (v Pager) hitURL(ctx context.Context, offset int64) string {
	return path(ctx, v.below(v.values(offset)))
}

// searchURL is the full page without a byte, for the byte field.
func (v Pager) searchURL(ctx context.Context) string { return v.hitURL(ctx, -1) }

// partial reports whether bytes are missing for good: a running output is not
// complete either, but nothing of it is lost.
func (v Pager) partial() bool { return !v.Complete && !v.Running }

// position says where one is, in exact bytes.
func (v Pager) position(ctx context.Context) string {
	key := "pager.position"
	if v.Running {
		key = "pager.position.running"
	}
	return rich(ctx, key, "start", exact(v.Offset), "end", exact(v.End), "total", exact(v.Total))
}

// hitNow is the offset of the current hit: the first on the page or after it;
// negative where there is none.
func (v Pager) hitNow() int64 {
	if i := v.hitIndex(); i >= 0 {
		return v.Search.Hits[i].Offset
	}
	return -1
}

// hitIndex is the place of the current hit among all; negative: none.
func (v Pager) hitIndex() int {
	for i, hit := range v.Search.Hits {
		if hit.Offset >= v.Offset && hit.Offset < max(v.End, v.Offset+1) {
			return i
		}
	}
	return -1
}

// hitBefore is the last hit before the current one, or before the page.
func (v Pager) hitBefore() int64 {
	found := int64(-1)
	for _, hit := range v.Search.Hits {
		if hit.Offset < v.Offset {
			found = hit.Offset
		}
	}
	return found
}

// hitAfter is the first hit after the current one, or after the page's start.
func (v Pager) hitAfter() int64 {
	now := max(v.hitNow(), v.Offset-1)
	for _, hit := range v.Search.Hits {
		if hit.Offset > now {
			return hit.Offset
		}
	}
	return -1
}

func (v Pager) hitText(ctx context.Context) string {
	n := len(v.Search.Hits)
	if n == 0 {
		return rich(ctx, "pager.nohits")
	}
	of := exact(n)
	if v.Search.More {
		of += "+"
	}
	if i := v.hitIndex(); i >= 0 {
		return rich(ctx, "pager.hit", "at", exact(i+1), "of", of)
	}
	return rich(ctx, "pager.hits", "n", n, "of", of)
}

// gapsElsewhere are the gaps whose markers do not stand on this page.
func (v Pager) gapsElsewhere() []Gap {
	var gaps []Gap
	for _, gap := range v.Gaps {
		if gap.At+gap.MarkerBytes <= v.Offset || gap.At >= v.End {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// coverage is the bar of the whole output with this page and the hits in it.
func (v Pager) coverage() Coverage {
	c := Coverage{Total: v.Total, Read: v.Read, Gaps: v.Gaps, Here: Range{v.Offset, v.End}}
	for _, hit := range v.Search.Hits {
		c.Hits = append(c.Hits, hit.Offset)
	}
	return c
}
