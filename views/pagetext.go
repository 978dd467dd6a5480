package views

import (
	"cmp"
	"context"
	"html"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"offcut/views/visible"
)

// pageText is the content of a page of a kept output as HTML. Its text content
// is the page, byte for byte: what is said about the bytes (what the model
// read, offsets, pictures of control characters) stands in attributes, which
// the stylesheet shows.
type pageText struct {
	ctx  context.Context
	p    Pager
	hits []Range // in order, inside the page
	now  int64   // the offset of the current hit; negative: none
	b    strings.Builder
}

// segment is a stretch of a page of which one thing is true.
type segment struct {
	Range
	read bool
	lost bool // the marker line of a gap
}

func pageHTML(ctx context.Context, p Pager) string {
	w := &pageText{ctx: ctx, p: p, now: -1}
	w.hits = hitRanges(p)
	if len(w.hits) > 0 {
		w.now = w.hits[0].Start
	}
	segments := p.segments()
	for i, s := range segments {
		if i > 0 {
			w.turn(segments[i-1], s)
		}
		w.segment(s)
	}
	return w.b.String()
}

// segments splits the page where reading begins or stops and around the
// markers of gaps.
func (p Pager) segments() []segment {
	cuts := []int64{p.Offset, p.Offset + int64(len(p.Text))}
	add := func(at int64) {
		if at > cuts[0] && at < cuts[1] {
			cuts = append(cuts, p.boundary(at))
		}
	}
	for _, r := range p.Read {
		add(r.Start)
		add(r.End)
	}
	for _, g := range p.Gaps {
		add(g.At)
		add(g.At + g.MarkerBytes)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var all []segment
	for i := 0; i+1 < len(cuts); i++ {
		s := segment{Range: Range{cuts[i], cuts[i+1]}}
		s.read = slices.ContainsFunc(p.Read, func(r Range) bool { return r.Start <= s.Start && s.Start < r.End })
		s.lost = slices.ContainsFunc(p.Gaps, func(g Gap) bool { return g.At <= s.Start && s.Start < g.At+g.MarkerBytes })
		all = append(all, s)
	}
	return all
}

// boundary moves an offset of the page back to the start of its character.
func (p Pager) boundary(at int64) int64 {
	for at > p.Offset && !utf8.RuneStart(p.Text[at-p.Offset]) {
		at--
	}
	return at
}

// turn names the byte at which reading began or stopped.
func (w *pageText) turn(before, after segment) {
	if before.read == after.read || before.lost || after.lost {
		return
	}
	class, key := "seg turn", "page.readto"
	if after.read {
		class, key = "seg turn up", "page.readfrom"
	}
	w.open(class, "data-say", t(w.ctx, key, "at", exact(after.Start)))
	w.b.WriteString("<i></i></span>")
}

func (w *pageText) segment(s segment) {
	class, key := "seg", "page.unread"
	switch {
	case s.lost:
		class, key = "seg lost", "page.lost"
	case s.read:
		class, key = "seg read", "page.read"
	}
	w.open(class, "role", "group", "aria-label", t(w.ctx, key))
	text := w.p.Text[s.Start-w.p.Offset : s.End-w.p.Offset]
	at := s.Start
	for line := range strings.Lines(text) {
		w.line(line, at)
		at += int64(len(line))
	}
	w.b.WriteString("</span>")
}

// addressDigits is the width of the column of addresses in a hex dump: it is
// part of the form in which binary outputs are paged.
const addressDigits = 12

// line writes one line. On a page of its own each line shows its offset; in a
// card there is no room for them.
func (w *pageText) line(line string, at int64) {
	switch {
	case w.p.Binary:
		w.open("ln")
		address := min(len(line), addressDigits)
		w.b.WriteString("<i>" + html.EscapeString(line[:address]) + "</i>")
		w.marked(line[address:], at+int64(address))
		w.b.WriteString("</span>")
	case w.p.InCard:
		w.marked(line, at)
	default:
		w.open("ln", "data-at", exact(at))
		w.b.WriteString("<span>")
		w.marked(line, at)
		w.b.WriteString("</span></span>")
	}
}

// marked writes text with the hits of the search marked in it.
func (w *pageText) marked(text string, at int64) {
	end := at + int64(len(text))
	next, _ := slices.BinarySearchFunc(w.hits, at, func(hit Range, at int64) int { return cmp.Compare(hit.End, at+1) })
	for ; next < len(w.hits) && w.hits[next].Start < end; next++ {
		hit := w.hits[next]
		from, to := max(hit.Start, at), min(hit.End, end)
		w.plain(text[:from-at])
		if hit.Start == w.now {
			w.b.WriteString(`<mark class="now">`)
		} else {
			w.b.WriteString("<mark>")
		}
		w.plain(text[from-at : to-at])
		w.b.WriteString("</mark>")
		text, at = text[to-at:], to
	}
	w.plain(text)
}

// plain writes text in which only control characters are more than text.
func (w *pageText) plain(text string) { visible.Write(&w.b, text) }

func (w *pageText) open(class string, attributes ...string) {
	w.b.WriteString(`<span class="` + class + `"`)
	for i := 0; i+1 < len(attributes); i += 2 {
		w.b.WriteString(" " + attributes[i] + `="` + html.EscapeString(attributes[i+1]) + `"`)
	}
	w.b.WriteByte('>')
}

// hitRanges are the hits that stand on the page, with their lengths: a match
// says only where it begins.
func hitRanges(p Pager) []Range {
	if p.Search.Query == "" {
		return nil
	}
	length := func(string) int { return len(p.Search.Query) }
	if p.Search.Regexp {
		pattern, err := regexp.Compile(`\A(?:` + p.Search.Query + `)`)
		if err != nil {
			return nil // the search said so
		}
		length = func(text string) int { return len(pattern.FindString(text)) }
	}
	var ranges []Range
	for _, hit := range p.Search.Hits {
		if hit.Offset < p.Offset || hit.Offset >= p.Offset+int64(len(p.Text)) {
			continue
		}
		start := p.boundary(hit.Offset)
		rest := p.Text[start-p.Offset:]
		n := min(length(rest), len(rest))
		end := start + int64(n)
		if n < len(rest) {
			end = p.boundary(end)
		}
		if end > start {
			ranges = append(ranges, Range{start, end})
		}
	}
	sort.Slice(ranges, func(i, j int) bool { return ranges[i].Start < ranges[j].Start })
	return disjoint(ranges)
}

// disjoint drops what overlaps an earlier range, so that marks never nest.
func disjoint(ranges []Range) []Range {
	var kept []Range
	for _, r := range ranges {
		if n := len(kept); n == 0 || kept[n-1].End <= r.Start {
			kept = append(kept, r)
		}
	}
	return kept
}
