package retain

import (
	"context"

	"offcut/models"
)

// A dumpStretch is a part of the dump of a binary copy: the lines of bytes
// that follow on each other, or a marker line.
type dumpStretch struct {
	at     int64 // in the copy
	length int64 // of its text
	raw    int64 // of its first byte in the kept bytes
	offset int64 // of its first byte in what was captured
	marker string
}

// dumpStretches is the layout of a binary copy, from its figures alone.
func dumpStretches(o models.RetainedOutput) []dumpStretch {
	var (
		stretches         []dumpStretch
		at, raw, captured int64
	)
	lines := func(end int64) {
		if end <= at {
			return
		}
		n := undumpLen(end - at)
		stretches = append(stretches, dumpStretch{at: at, length: end - at, raw: raw, offset: captured})
		at, raw, captured = end, raw+n, captured+n
	}
	for _, gap := range o.Gaps {
		lines(gap.At)
		stretches = append(stretches, dumpStretch{at: at, length: gap.MarkerBytes, marker: gapMarker(gap.Omitted, gap.Stream)})
		at += gap.MarkerBytes
		captured += gap.Omitted
	}
	lines(o.TotalBytes)
	return stretches
}

// dumpBytes reads n bytes of the dump of a binary copy. It reads of the bytes
// only those that the lines show.
func dumpBytes(ctx context.Context, store Copies, o models.RetainedOutput, offset int64, n int) ([]byte, error) {
	end := offset + int64(n)
	text := make([]byte, 0, n)
	for _, s := range dumpStretches(o) {
		from, to := max(offset, s.at)-s.at, min(end, s.at+s.length)-s.at
		if from >= to {
			continue
		}
		if s.marker != "" {
			text = append(text, s.marker[from:to]...)
			continue
		}
		lines, first, err := dumpLines(ctx, store, o, s, from, to)
		if err != nil {
			return nil, err
		}
		text = append(text, lines[from-first:to-first]...)
	}
	return text, nil
}

// dumpLines makes the lines of a stretch that hold [from, to) of its text, and
// says where in it the first of them begins.
func dumpLines(ctx context.Context, store Copies, o models.RetainedOutput, s dumpStretch, from, to int64) ([]byte, int64, error) {
	firstLine := from / dumpLineBytes
	first := firstLine * dumpRow
	last := min((to+dumpLineBytes-1)/dumpLineBytes*dumpRow, undumpLen(s.length))
	raw, err := exactly(ctx, store, o, models.StreamRaw, s.raw+first, int(last-first))
	if err != nil {
		return nil, 0, err
	}
	return appendDump(nil, raw, s.offset+first), firstLine * dumpLineBytes, nil
}
