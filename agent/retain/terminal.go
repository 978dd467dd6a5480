package retain

import (
	"bytes"
	"unicode/utf8"
)

// A terminal turns what a command printed into what a terminal would show:
// escape sequences go, carriage returns and backspaces overwrite, other
// control characters but tab and newline go. It tells its screen, piece by
// piece, which bytes of the input stand in the output.
//
// Work and memory per byte are bounded: a line longer than maxLine is shown
// as it wraps, and nothing goes back behind that.
type terminal struct {
	screen screen
	// collapsed: visible text was overwritten or erased somewhere.
	collapsed bool

	next   int64 // the offset at which the input goes on
	jumped bool  // it did not go on there within this line
	cr     bool  // a carriage return that may yet be half of a newline
	escape escape
	line   plainLine
	cells  cellLine
}

// A screen takes what a terminal shows.
type screen interface {
	// show takes text that is the input's bytes from offset on.
	show(text []byte, offset int64)
	// hide takes text that is what remained of overwritten lines.
	hide(text []byte)
	// jump says that what is shown next does not follow on what was before.
	jump()
}

// maxLine is how far back a carriage return reaches, in bytes or characters.
const maxLine = 16 << 10

// write takes the input's text from offset on: whole characters of valid UTF-8.
func (t *terminal) write(text []byte, offset int64) {
	if offset != t.next {
		t.jump()
	}
	t.next = offset + int64(len(text))
	for len(text) > 0 {
		n := 0
		switch {
		case t.escape.state != ground:
			n = t.sequence(text)
		default:
			if n = plainRun(text); n > 0 {
				t.text(text[:n], offset)
			} else {
				n = t.control(text)
			}
		}
		text, offset = text[n:], offset+int64(n)
	}
}

// close ends the input: what has no newline yet is shown.
func (t *terminal) close() {
	t.cr = false
	t.endLine(nil, 0)
}

// jump keeps what comes apart from what came.
func (t *terminal) jump() {
	t.line.jump = true
	t.jumped = true
	if t.line.empty() && !t.cells.used {
		t.screen.jump()
	}
}

var special = func() (table [256]bool) {
	for b := range 0x20 {
		table[b] = b != '\t' && b != '\n'
	}
	table[0x7f] = true
	table[c1Lead] = true // perhaps; see plainRun
	return table
}()

// c1Lead begins the C1 control characters U+0080 to U+009F in UTF-8.
const c1Lead = 0xc2

func isC1(text []byte) bool {
	return len(text) > 1 && text[0] == c1Lead && text[1] < 0xa0
}

// plainRun is how many bytes from the start are text, tabs and newlines.
func plainRun(text []byte) int {
	for i, b := range text {
		if special[b] && (b != c1Lead || isC1(text[i:])) {
			return i
		}
	}
	return len(text)
}

// control does what the control character at the start of text asks, and
// returns its length.
func (t *terminal) control(text []byte) int {
	if t.cr {
		t.carriageReturn()
	}
	if isC1(text) {
		t.escape.introduce(text[1] - 0x40) // the two-byte form of the same
		return 2
	}
	switch text[0] {
	case '\r':
		t.cr = true
	case '\b':
		t.toCells()
		t.cells.move(t.cells.col - 1)
	case 0x1b:
		t.escape.begin()
	}
	return 1
}

// text takes a run without control characters other than tab and newline.
func (t *terminal) text(text []byte, offset int64) {
	if t.cr && text[0] != '\n' {
		t.carriageReturn()
	}
	t.cr = false
	if t.cells.used {
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			t.put(text, offset)
			return
		}
		t.put(text[:n], offset)
		t.endLine(text[n:n+1], offset+int64(n))
		text, offset = text[n+1:], offset+int64(n)+1
	}
	if n := bytes.LastIndexByte(text, '\n') + 1; n > 0 {
		t.endLine(text[:n], offset)
		text, offset = text[n:], offset+int64(n)
	}
	t.line.add(text, offset)
	if len(t.line.text) > maxLine {
		t.endLine(nil, 0)
	}
}

func (t *terminal) put(text []byte, offset int64) {
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		t.cells.put(c, size, offset)
		text, offset = text[size:], offset+int64(size)
		if len(t.cells.cells) >= maxLine {
			t.endLine(nil, 0)
			t.toCells()
		}
	}
}

// endLine shows the line as it stands, and after it text that ends it.
func (t *terminal) endLine(text []byte, offset int64) {
	if t.cells.used {
		if t.cells.collapsed {
			t.collapsed = true
			t.screen.hide(append(t.cells.text(), text...))
		} else {
			t.cells.show(t.screen, t.jumped)
			t.show(text, offset)
		}
		t.cells.reset()
	} else {
		t.line.show(t.screen)
		t.show(text, offset)
	}
	t.line.reset()
	t.jumped = false
}

func (t *terminal) show(text []byte, offset int64) {
	if len(text) > 0 {
		t.screen.show(text, offset)
	}
}

func (t *terminal) carriageReturn() {
	t.cr = false
	if !t.line.empty() {
		t.toCells()
	}
	t.cells.move(0)
}

// toCells makes the line one that can be overwritten.
func (t *terminal) toCells() {
	if t.cells.used {
		return
	}
	t.cells.used = true
	at := 0
	for _, s := range t.line.spans {
		for offset, text := s.offset, t.line.text[at:at+s.n]; len(text) > 0; {
			c, size := utf8.DecodeRune(text)
			t.cells.put(c, size, offset)
			text, offset = text[size:], offset+int64(size)
		}
		at += s.n
	}
	t.line.reset()
}

// sequence takes bytes of an escape sequence, and does what the few that move
// within the line or erase it ask.
func (t *terminal) sequence(text []byte) int {
	taken, final := t.escape.step(text[0])
	if final != 0 {
		t.perform(final)
	}
	if !taken {
		return 0
	}
	return 1
}

func (t *terminal) perform(final byte) {
	n, plain := t.escape.parameter()
	if !plain {
		return
	}
	switch final {
	case 'K':
		t.erase(n)
	case 'J':
		// Of a screen that is cleared the lines stay, as in a scroll-back; what
		// is below the cursor goes with the line.
		if n == 0 {
			t.erase(0)
		}
	case 'G', '`':
		t.toCells()
		t.cells.move(max(1, n) - 1)
	case 'D':
		t.toCells()
		t.cells.move(t.cells.col - max(1, n))
	case 'C':
		if t.cells.used {
			t.cells.move(t.cells.col + max(1, n))
		}
	}
}

// erase clears from the cursor to the end of the line (0) or all of it (2).
func (t *terminal) erase(what int) {
	switch what {
	case 0:
		if t.cells.used {
			t.cells.truncate(t.cells.col)
		}
	case 2:
		t.toCells()
		t.cells.truncate(0)
	}
}
