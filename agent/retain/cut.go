package retain

import "bytes"

// A view is what a preview shows of a text: [0, head) and [tail, its end).
type view struct {
	text       *window
	label      string // empty where the text stands alone
	head, tail int64
	left       string // the JSON elements that were left out, in words
}

// cut: something is left out.
func (v view) cut() bool { return v.head < v.tail }

// shown is how many bytes of the text stand in the preview.
func (v view) shown() int64 { return v.head + v.text.total - v.tail }

// spans are what the view shows, as stretches of the copy.
func (v view) spans() [][]span {
	return [][]span{clip(v.text.headSpans, 0, v.head), clip(v.text.tailSpans, max(v.head, v.tail), v.text.total)}
}

// viewOf chooses what is shown of a text within a share of the preview: all of
// it, or a third of head and two thirds of tail, or the head alone. code: it
// is source code.
func viewOf(w *window, share int64, keep Keep, code bool) view {
	v := view{text: w, head: w.total, tail: w.total}
	if w.total <= share {
		return v
	}
	head, tail := share/3, share-share/3
	if keep == KeepHead {
		head, tail = share, 0
	}
	var from, to *jsonCut
	v.head, from = w.headEnd(head, code)
	if tail > 0 {
		v.tail, to = w.tailStart(tail, code)
	}
	v.left = leftOut(from, to)
	return v
}

// A cut may cost a tenth of its share to fall on a boundary that means
// something; where it would cost more the next finer boundary serves.
const boundaryCost = 10

// headEnd is where the head ends, at most at limit.
func (w *window) headEnd(limit int64, code bool) (int64, *jsonCut) {
	least := limit - limit/boundaryCost
	if w.json.whole() {
		for depth := 1; depth <= jsonDepth; depth++ {
			if c := w.json.before(limit, depth); c != nil && c.at >= least {
				return c.at, c
			}
		}
	}
	text := w.head[:limit]
	if code {
		if at := codeBoundaryBefore(w.head, int(least), int(limit)); at >= 0 {
			return int64(at), nil
		}
	}
	if at := int64(bytes.LastIndex(text, paragraphEnd) + len(paragraphEnd)); at >= max(least, int64(len(paragraphEnd))) {
		return at, nil
	}
	if at := int64(bytes.LastIndexByte(text, '\n') + 1); at >= max(least, 1) {
		return at, nil
	}
	return limit - int64(unfinished(text)), nil
}

var paragraphEnd = []byte("\n\n")

// tailStart is where the tail begins, at least limit before the end.
func (w *window) tailStart(limit int64, code bool) (int64, *jsonCut) {
	least := w.total - limit
	most := least + limit/boundaryCost
	if w.json.whole() {
		for depth := 1; depth <= jsonDepth; depth++ {
			if c := w.json.from(least, depth); c != nil && c.at <= most {
				return c.at, c
			}
		}
	}
	base := w.tailAt()
	from, to := int(least-base), int(most-base)
	if code {
		if at := codeBoundaryFrom(w.tail, from, to); at >= 0 {
			return base + int64(at), nil
		}
	}
	for _, end := range [][]byte{paragraphEnd, paragraphEnd[:1]} {
		if at := endingFrom(w.tail, end, from); at >= 0 && at <= to {
			return base + int64(at), nil
		}
	}
	return base + int64(ceilRune(w.tail, from)), nil
}

// endingFrom is the first place at or after from that an ending stands before,
// or -1.
func endingFrom(text, ending []byte, from int) int {
	start := max(0, from-len(ending))
	at := bytes.Index(text[start:], ending)
	if at < 0 {
		return -1
	}
	return start + at + len(ending)
}
