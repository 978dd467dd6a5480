package retain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"offcut/models"
)

// A part is a stretch of a kept copy as it is stored.
type part struct {
	stream Stream
	offset int64  // of its text in the copy; not of a binary one
	text   []byte // valid UTF-8; empty of a binary copy
	raw    []byte // the bytes it stands for; of a marker its line, none in a binary copy
}

// sums are the figures of a kept copy.
type sums struct {
	total    int64 // length of the copy as it is paged
	raw      int64 // length of its original bytes
	kept     int64 // of what was captured, the bytes that are in it
	omitted  int64 // and those that are not
	replaced int64
	gaps     []models.Gap
}

// complete: the copy is all that came.
func (s sums) complete() bool { return s.omitted == 0 }

// rawStored: the original bytes are stored beside, or instead of, the text.
func rawStored(binary bool, replaced int64) bool { return binary || replaced > 0 }

// compose yields a kept copy in order, and returns its figures. What a part
// holds is valid until yield returns, while the capture is locked.
func (c *Capture) compose(l layout, yield func(part)) sums {
	if l.binary {
		return c.composeBinary(l, yield)
	}
	var (
		sum     sums
		r       Replacer
		text    []byte
		lineEnd = true
	)
	c.pieces(l, func(p piece) bool {
		raw := p.raw
		text = text[:0]
		if p.omitted > 0 {
			// Original bytes that wait belong before the marker.
			text = r.Flush(text)
			lineEnd = endsLine(text, lineEnd)
			marker := c.marker(p)
			if !lineEnd {
				marker = "\n" + marker
			}
			sum.gaps = append(sum.gaps, models.Gap{At: sum.total + int64(len(text)), MarkerBytes: int64(len(marker)), Omitted: p.omitted, Stream: c.streamName(p.stream)})
			sum.omitted += p.omitted
			text, raw = append(text, marker...), []byte(marker)
		} else {
			text = r.Append(text, raw)
			sum.kept += int64(len(raw))
		}
		lineEnd = endsLine(text, lineEnd)
		yield(part{p.stream, sum.total, text, raw})
		sum.total += int64(len(text))
		sum.raw += int64(len(raw))
		return true
	})
	if text = r.Flush(text[:0]); len(text) > 0 {
		yield(part{Stdout, sum.total, text, nil})
		sum.total += int64(len(text))
	}
	sum.replaced = r.Replaced
	return sum
}

func (c *Capture) composeBinary(l layout, yield func(part)) sums {
	var sum sums
	stretch := int64(0) // bytes since the start or the last gap
	c.pieces(l, func(p piece) bool {
		if p.omitted > 0 {
			marker := c.marker(p)
			sum.total += dumpLen(stretch)
			sum.gaps = append(sum.gaps, models.Gap{At: sum.total, MarkerBytes: int64(len(marker)), Omitted: p.omitted, Stream: c.streamName(p.stream)})
			sum.omitted += p.omitted
			sum.total += int64(len(marker))
			stretch = 0
			return true
		}
		yield(part{stream: p.stream, raw: p.raw})
		sum.kept += int64(len(p.raw))
		stretch += int64(len(p.raw))
		return true
	})
	sum.total += dumpLen(stretch)
	sum.raw = sum.kept
	return sum
}

func (c *Capture) marker(p piece) string { return gapMarker(p.omitted, c.streamName(p.stream)) }

// streamName is the stream's name of a command, and empty of other tools.
func (c *Capture) streamName(s Stream) string {
	if !c.named {
		return ""
	}
	return s.String()
}

func endsLine(text []byte, before bool) bool {
	if len(text) == 0 {
		return before
	}
	return text[len(text)-1] == '\n'
}

// copyFrom is the end of a kept copy: its text and its original bytes, each
// from an offset. The figures must be those of the same layout. The text is
// made in buffer where that is large enough, with room for a spill's header.
func (c *Capture) copyFrom(l layout, s sums, textFrom, rawFrom int64, withRaw bool, buffer []byte) (text, raw []byte) {
	if need := s.total - textFrom + spillRoom; !l.binary && int64(cap(buffer)) < need {
		buffer = make([]byte, 0, need)
	}
	if withRaw {
		raw = make([]byte, 0, max(0, s.raw-rawFrom))
	}
	text = buffer[:0]
	var textAt, rawAt int64
	c.compose(l, func(p part) {
		text = appendFrom(text, p.text, &textAt, textFrom)
		if withRaw {
			raw = appendFrom(raw, p.raw, &rawAt, rawFrom)
		}
	})
	return text, raw
}

// appendFrom adds what of b, which stands at *at, lies at or after from.
func appendFrom(dst, b []byte, at *int64, from int64) []byte {
	start := *at
	*at += int64(len(b))
	if *at <= from {
		return dst
	}
	return append(dst, b[max(0, from-start):]...)
}

// digest is the SHA-256 of the original bytes that a layout keeps, in hex.
func (c *Capture) digest(l layout) string {
	hash := sha256.New()
	c.compose(l, func(p part) { hash.Write(p.raw) })
	return hex.EncodeToString(hash.Sum(nil))
}

// dumpHead is the beginning of the hex dump of a binary copy, of at most limit
// bytes.
func (c *Capture) dumpHead(l layout, limit int) []byte {
	var raw bytes.Buffer
	c.compose(l, func(p part) {
		if room := limit/dumpLineBytes*dumpRow + dumpRow - raw.Len(); room > 0 {
			raw.Write(p.raw[:min(len(p.raw), room)])
		}
	})
	dump := appendDump(nil, raw.Bytes(), 0)
	return dump[:min(limit, len(dump))]
}
