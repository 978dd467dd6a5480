package retain

import (
	"fmt"
	"unicode/utf8"

	"offcut/models"
)

// markerReserve is more than any marker line in a kept copy takes, with the
// newline that may be needed before it.
const markerReserve = 128

// leastShare is the least that a stream has of a copy, so that MinStreamShare of it
// is kept beside its marker line, although it is cut between characters.
const leastShare = MinStreamShare + markerReserve + 2*utf8.UTFMax

// gapMarker is the line that stands in a kept copy where bytes are missing.
// Copies of binary outputs are made anew from it on each reading: its wording
// is a part of what is stored.
func gapMarker(omitted int64, stream string) string {
	of := ""
	if stream != "" {
		of = " of " + stream
	}
	return fmt.Sprintf("[offcut: %d bytes%s were not kept here; a kept copy has at most %d bytes]\n", omitted, of, MaxOutputBytes)
}

// A cut says what is kept of a stream: [0, head) and [tail, its end).
type cut struct{ head, tail int64 }

func (c cut) omitted() int64 { return c.tail - c.head }

// A layout says what a kept copy is made of.
type layout struct {
	cuts    [2]cut
	binary  bool
	reasons []models.Reason
}

func (l layout) omitted() int64 { return l.cuts[Stdout].omitted() + l.cuts[Stderr].omitted() }

// layout decides what is kept. Where both streams exceed the limit together,
// each keeps at least the smaller of its size and MinStreamShare; a stream
// over its share keeps the first three quarters and the last quarter of what
// fits beside its marker line.
func (c *Capture) layout(binary bool) layout {
	l := layout{binary: binary}
	out, err := c.size(Stdout, binary), c.size(Stderr, binary)
	errShare := min(err, max(leastShare, MaxOutputBytes-out))
	outShare := min(out, MaxOutputBytes-errShare)
	l.cuts[Stdout] = c.cut(Stdout, out, outShare, binary)
	l.cuts[Stderr] = c.cut(Stderr, err, errShare, binary)
	if c.named && (c.tapes[Stdout].total > MaxStreamBytes || c.tapes[Stderr].total > MaxStreamBytes) {
		l.reasons = append(l.reasons, models.ReasonCapture)
	}
	if l.omitted() > c.lost() || (!c.named && l.omitted() > 0) {
		l.reasons = append(l.reasons, models.ReasonRetention)
	}
	return l
}

// lost is how many bytes came and are held no longer.
func (c *Capture) lost() int64 {
	var n int64
	for s := range c.tapes {
		from, to := c.tapes[s].lost()
		n += to - from
	}
	return n
}

// size is the length of a stream in the copy, were it kept whole: its text, or
// of a binary one its bytes.
func (c *Capture) size(s Stream, binary bool) int64 {
	t := &c.tapes[s]
	if from, to := t.lost(); binary || from < to {
		return t.total
	}
	return t.cost()
}

func (c *Capture) cut(s Stream, size, share int64, binary bool) cut {
	t := &c.tapes[s]
	if size <= share {
		return cut{t.total, t.total}
	}
	head, tail := shares(share)
	if binary {
		return cut{head, t.total - tail}
	}
	kept := t.headCut(head)
	return cut{kept, t.tailCut(tail, kept)}
}

// shares are what a stream over its share keeps of head and tail.
func shares(share int64) (head, tail int64) {
	fits := share - markerReserve
	return fits / 4 * 3, fits / 4
}

// A piece is a stretch of a kept copy: bytes of one stream, or a gap.
type piece struct {
	stream  Stream
	raw     []byte
	omitted int64 // of a gap
}

// pieces yields what a layout keeps, in order. Their bytes are valid while the
// capture is locked.
func (c *Capture) pieces(l layout, yield func(piece) bool) {
	c.order.each(true, func(s Stream, from, to int64) bool {
		kept := l.cuts[s]
		bytes := func(b []byte) bool { return yield(piece{stream: s, raw: b}) }
		if !c.tapes[s].chunks(from, min(to, kept.head), bytes) {
			return false
		}
		if gap := kept.omitted(); gap > 0 && from <= kept.head && kept.head < to && !yield(piece{stream: s, omitted: gap}) {
			return false
		}
		return c.tapes[s].chunks(max(from, kept.tail), to, bytes)
	})
}

// sampleBytes is how much of an output decides whether it is binary.
const sampleBytes = 8 << 10

// binary reports whether what came is binary. Before the sample is whole and
// nothing more will come, only a NUL decides.
func (c *Capture) binary(ended bool) bool {
	sample := make([]byte, 0, sampleBytes)
	whole := layout{}
	for s := range c.tapes {
		end := min(c.tapes[s].total, headBytes)
		whole.cuts[s] = cut{end, max(end, c.tapes[s].total)}
	}
	c.pieces(whole, func(p piece) bool {
		sample = append(sample, p.raw[:min(len(p.raw), sampleBytes-len(sample))]...)
		return len(sample) < sampleBytes
	})
	return isBinary(sample, ended || len(sample) == sampleBytes)
}
