package views

import (
	"context"
	"strconv"
	"strings"
)

// unread reports whether the model was shown nothing of it.
func (c Coverage) unread() bool { return len(c.Read) == 0 }

// seen is how many bytes of the copy the model was shown.
func (c Coverage) seen() int64 {
	var n int64
	for _, r := range c.Read {
		n += r.End - r.Start
	}
	return n
}

// omitted is how many bytes were never kept.
func (c Coverage) omitted() int64 {
	var n int64
	for _, gap := range c.Gaps {
		n += gap.Omitted
	}
	return n
}

// bar is a rectangle of the coverage bar, in percent of its width.
type bar struct{ X, Width string }

// place maps the bytes [start, end) of the copy onto the bar, which is as long
// as what was printed: bytes that were never kept take their room in it.
func (c Coverage) place(start, end int64) bar {
	return c.rect(start+c.lostUpTo(start), end+c.lostUpTo(end-1))
}

// lostUpTo is how many bytes are missing before the byte at offset; what is
// missing at a marker is missing before it.
func (c Coverage) lostUpTo(offset int64) int64 {
	var n int64
	for _, gap := range c.Gaps {
		if gap.At <= offset {
			n += gap.Omitted
		}
	}
	return n
}

func (c Coverage) rect(start, end int64) bar {
	whole := c.Total + c.omitted()
	if whole <= 0 {
		whole = 1
	}
	return bar{X: percent(start, whole), Width: percent(max(end-start, 0), whole)}
}

// percent has four decimals: a thousandth of a pixel on the widest screen.
func percent(part, whole int64) string {
	text := strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 4, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
}

// reads are the rectangles of what was read; a range that runs across a gap is
// drawn in pieces, for the bytes between exist nowhere.
func (c Coverage) reads() []bar {
	var bars []bar
	for _, r := range c.Read {
		start := r.Start
		for _, gap := range c.Gaps {
			if gap.At > start && gap.At < r.End {
				bars = append(bars, c.place(start, gap.At))
				start = gap.At
			}
		}
		bars = append(bars, c.place(start, r.End))
	}
	return bars
}

// losses are the rectangles of what was never kept, each at its place.
func (c Coverage) losses() []bar {
	var bars []bar
	for _, gap := range c.Gaps {
		if gap.Omitted > 0 {
			start := gap.At + c.lostUpTo(gap.At-1)
			bars = append(bars, c.rect(start, start+gap.Omitted))
		}
	}
	return bars
}

func (c Coverage) ticks() []bar {
	bars := make([]bar, 0, len(c.Hits))
	for _, hit := range c.Hits {
		bars = append(bars, c.place(hit, hit+1))
	}
	return bars
}

func (c Coverage) here() (bar, bool) {
	if c.Here.End <= c.Here.Start {
		return bar{}, false
	}
	return c.place(c.Here.Start, c.Here.End), true
}

// label says the bar in words.
func (c Coverage) label(ctx context.Context) string {
	var b strings.Builder
	if c.unread() {
		b.WriteString(t(ctx, "coverage.unread", "total", exact(c.Total)))
	} else {
		b.WriteString(t(ctx, "coverage.read", "ranges", c.ranges(ctx), "total", exact(c.Total)))
	}
	for _, gap := range c.Gaps {
		if gap.Omitted > 0 {
			b.WriteString(" " + t(ctx, "coverage.lost", "n", gap.Omitted, "count", exact(gap.Omitted), "at", exact(gap.At)))
		}
	}
	if c.Here.End > c.Here.Start {
		b.WriteString(" " + t(ctx, "coverage.here", "at", exact(c.Here.Start)))
	}
	if n := len(c.Hits); n > 0 {
		b.WriteString(" " + t(ctx, "coverage.hits", "n", n))
	}
	return b.String()
}

// ranges names at most maxSpokenRanges of what was read: a longer list helps
// nobody who listens.
func (c Coverage) ranges(ctx context.Context) string {
	const maxSpokenRanges = 6
	var parts []string
	for i, r := range c.Read {
		if i == maxSpokenRanges {
			parts = append(parts, t(ctx, "coverage.more", "n", len(c.Read)-i))
			break
		}
		parts = append(parts, t(ctx, "coverage.range", "start", exact(r.Start), "end", exact(r.End)))
	}
	return strings.Join(parts, ", ")
}
