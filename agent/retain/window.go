package retain

import (
	"slices"

	"offcut/models"
)

// A window holds the beginning and the end of a text that streams through it,
// and which bytes of the kept copy they are. It is a screen.
type window struct {
	limit int64 // how much of each end is held at least
	total int64 // length of the text
	head  []byte
	tail  []byte // the end: the bytes from tailAt on
	// Where the held text stands in the copy.
	headSpans, tailSpans []span
	broken               bool // the next span does not follow on the last
	json                 jsonScan
}

// A span is a stretch of a text that stands in the copy byte for byte. soft:
// between the last span and this one the copy has only bytes that show
// nothing, such as colours.
type span struct {
	at, offset, n int64
	soft          bool
}

func newWindow(limit int) *window { return &window{limit: int64(limit)} }

func (w *window) show(text []byte, offset int64) {
	s := span{w.total, offset, int64(len(text)), !w.broken}
	w.broken = false
	if w.total < w.limit {
		w.headSpans = appendSpan(w.headSpans, s)
	}
	w.tailSpans = appendSpan(w.tailSpans, s)
	w.add(text)
}

func (w *window) hide(text []byte) {
	w.broken = true
	w.add(text)
}

func (w *window) jump() { w.broken = true }

func (w *window) add(text []byte) {
	w.json.scan(text, w.limit)
	if room := w.limit - int64(len(w.head)); room > 0 {
		w.head = append(w.head, text[:min(int64(len(text)), room)]...)
	}
	w.total += int64(len(text))
	if over := int64(len(text)) - w.limit; over > 0 {
		text, w.tail = text[over:], w.tail[:0]
	}
	w.tail = append(w.tail, text...)
	if int64(len(w.tail)) > 2*w.limit {
		w.tail = w.tail[:copy(w.tail, w.tail[int64(len(w.tail))-w.limit:])]
		w.tailSpans = slices.DeleteFunc(w.tailSpans, func(s span) bool { return s.at+s.n <= w.tailAt() })
	}
}

func (w *window) tailAt() int64 { return w.total - int64(len(w.tail)) }

// appendSpan adds a span, joined to the last where it goes on both in the text
// and in the copy.
func appendSpan(spans []span, s span) []span {
	if n := len(spans); n > 0 {
		last := &spans[n-1]
		end := last.offset + last.n
		if s.soft && last.at+last.n == s.at && end == s.offset {
			last.n += s.n
			return spans
		}
		s.soft = s.soft && end <= s.offset
	}
	return append(spans, s)
}

// clip is the spans within [from, to) of the text.
func clip(spans []span, from, to int64) []span {
	var clipped []span
	for _, s := range spans {
		start, end := max(s.at, from), min(s.at+s.n, to)
		if start >= end {
			continue
		}
		clipped = append(clipped, span{start, s.offset + start - s.at, end - start, s.soft && len(clipped) > 0})
	}
	return clipped
}

// rangesOf are the ranges of the copy that spans show, at most most of them.
// Where there are more, those between which nothing visible stands are joined,
// and at last the smallest are left out: what is listed was shown.
func rangesOf(groups [][]span, most int) []models.Range {
	exact := mergeSpans(groups, false)
	if len(exact) <= most {
		return exact
	}
	joined := mergeSpans(groups, true)
	if len(joined) <= most {
		return joined
	}
	slices.SortStableFunc(joined, func(a, b models.Range) int { return int(b.Len() - a.Len()) })
	return models.MergeRanges(joined[:most])
}

func mergeSpans(groups [][]span, joinSoft bool) []models.Range {
	var ranges []models.Range
	for _, spans := range groups {
		for i, s := range spans {
			r := models.Range{Start: s.offset, End: s.offset + s.n}
			if joinSoft && s.soft && i > 0 {
				r.Start = spans[i-1].offset + spans[i-1].n
			}
			ranges = append(ranges, r)
		}
	}
	return models.MergeRanges(ranges)
}
