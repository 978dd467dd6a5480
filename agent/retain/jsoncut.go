package retain

import "fmt"

// A jsonScan follows a text as one JSON document and notes where its elements
// and members begin, so that a cut can fall between them. It tells documents
// from other text; it does not validate them to the last rule.
type jsonScan struct {
	at     int64
	failed bool // the text is no JSON document
	ended  bool // its outermost value is closed
	quoted bool
	escape bool
	stack  []jsonLevel
	opened int32 // containers so far

	head  []jsonCut
	tail  []jsonCut
	last  [jsonDepth]int64 // position of the last cut noted, by depth
	ready *jsonCut         // a comma was read; the cut is after it and its line end
}

// jsonDepth is how deep cuts are noted. Deeper elements are found as lines.
const jsonDepth = 6

// jsonSpacing is the least distance of two noted cuts, in bytes: it bounds the
// memory for an array of digits, and costs no cut anything that shows.
const jsonSpacing = 16

// maxJSONNesting is where a text is no longer taken for JSON.
const maxJSONNesting = 1000

type jsonLevel struct {
	container int32
	elements  int32 // that ended, each with its comma
	object    bool
}

// A jsonCut is a place between two elements.
type jsonCut struct {
	at        int64
	depth     int
	container int32
	elements  int32 // elements of the container before it
	object    bool
}

// scan takes more of the text. limit is how much of each end may be cut in.
func (j *jsonScan) scan(text []byte, limit int64) {
	for i := 0; i < len(text) && !j.failed; i++ {
		j.take(text[i], limit)
		j.at++
	}
	if j.failed {
		j.stack, j.head, j.tail = nil, nil, nil
	}
}

// whole: the text was one JSON array or object.
func (j *jsonScan) whole() bool { return j.ended && !j.failed }

func (j *jsonScan) take(b byte, limit int64) {
	if j.quoted {
		j.inString(b)
		return
	}
	if j.ready != nil && !j.lineEnd(b, limit) {
		return
	}
	switch b {
	case ' ', '\t', '\n', '\r':
		return
	}
	if len(j.stack) == 0 && (j.ended || (b != '[' && b != '{')) {
		j.failed = true
		return
	}
	switch b {
	case '"':
		j.quoted = true
	case '[', '{':
		j.open(b == '{')
	case ']', '}':
		j.close(b == '}')
	case ',':
		j.comma()
	case ':':
		j.failed = !j.stack[len(j.stack)-1].object
	default:
		j.failed = !bareByte(b)
	}
}

func (j *jsonScan) inString(b byte) {
	switch {
	case j.escape:
		j.escape = false
	case b == '\\':
		j.escape = true
	case b == '"':
		j.quoted = false
	case b < 0x20:
		j.failed = true
	}
}

func (j *jsonScan) open(object bool) {
	if len(j.stack) == maxJSONNesting {
		j.failed = true
		return
	}
	j.opened++
	j.stack = append(j.stack, jsonLevel{container: j.opened, object: object})
}

func (j *jsonScan) close(object bool) {
	last := len(j.stack) - 1
	if j.stack[last].object != object {
		j.failed = true
		return
	}
	j.stack = j.stack[:last]
	j.ended = last == 0
}

func (j *jsonScan) comma() {
	level := &j.stack[len(j.stack)-1]
	level.elements++
	if depth := len(j.stack); depth <= jsonDepth {
		j.ready = &jsonCut{depth: depth, container: level.container, elements: level.elements, object: level.object}
	}
}

// lineEnd notes the cut after a comma: behind the newline where one follows,
// so that the next element keeps its indentation, else at the next element. It
// returns true where b is not the newline, and is still to be taken.
func (j *jsonScan) lineEnd(b byte, limit int64) bool {
	if b == ' ' || b == '\r' || b == '\t' {
		return true
	}
	j.ready.at = j.at
	if b == '\n' {
		j.ready.at++
	}
	j.note(*j.ready, limit)
	j.ready = nil
	return b != '\n'
}

func (j *jsonScan) note(c jsonCut, limit int64) {
	last := &j.last[c.depth-1]
	if *last > 0 && c.at-*last < jsonSpacing {
		return
	}
	*last = c.at
	if c.at <= limit {
		j.head = append(j.head, c)
	}
	j.tail = append(j.tail, c)
	if n := len(j.tail); n > 1024 && j.tail[n/2].at < c.at-limit {
		j.tail = j.tail[:copy(j.tail, j.tail[n/2:])]
	}
}

// bareByte: b can stand in a number or in true, false or null.
func bareByte(b byte) bool {
	switch b {
	case '-', '+', '.', 'E', 'e', 't', 'r', 'u', 'f', 'a', 'l', 's', 'n':
		return true
	}
	return b >= '0' && b <= '9'
}

// before is the last cut of a depth at or before a position of the head, or
// nil.
func (j *jsonScan) before(position int64, depth int) *jsonCut {
	for i := len(j.head) - 1; i >= 0; i-- {
		if c := &j.head[i]; c.at <= position && c.depth == depth {
			return c
		}
	}
	return nil
}

// from is the first cut of a depth at or after a position of the tail, or nil.
func (j *jsonScan) from(position int64, depth int) *jsonCut {
	for i := range j.tail {
		if c := &j.tail[i]; c.at >= position && c.depth == depth {
			return c
		}
	}
	return nil
}

// leftOut names the elements between two cuts of the same container.
func leftOut(from, to *jsonCut) string {
	if from == nil || to == nil || from.container != to.container {
		return ""
	}
	noun := "element"
	if from.object {
		noun = "member"
	}
	n := to.elements - from.elements
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
