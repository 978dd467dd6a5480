package retain

import "unicode/utf8"

// A plainLine is the line of a terminal while nothing went back in it.
type plainLine struct {
	text  []byte
	spans []lineSpan
	jump  bool // what is added next does not follow on what was before
}

type lineSpan struct {
	offset int64
	n      int
	jump   bool
}

func (l *plainLine) empty() bool { return len(l.text) == 0 }

func (l *plainLine) add(text []byte, offset int64) {
	if len(text) == 0 {
		return
	}
	l.text = append(l.text, text...)
	if n := len(l.spans); n > 0 && !l.jump && l.spans[n-1].offset+int64(l.spans[n-1].n) == offset {
		l.spans[n-1].n += len(text)
		return
	}
	l.spans = append(l.spans, lineSpan{offset, len(text), l.jump && len(l.spans) > 0})
	l.jump = false
}

func (l *plainLine) show(s screen) {
	at := 0
	for _, span := range l.spans {
		if span.jump {
			s.jump()
		}
		s.show(l.text[at:at+span.n], span.offset)
		at += span.n
	}
	if l.jump && at > 0 {
		s.jump()
	}
}

func (l *plainLine) reset() { *l = plainLine{text: l.text[:0], spans: l.spans[:0]} }

// A cellLine is the line of a terminal once something went back in it: one
// cell for each character.
type cellLine struct {
	used      bool
	collapsed bool // visible text was overwritten or erased
	cells     []cell
	col       int
}

type cell struct {
	offset int64
	char   rune
	size   int
}

func (l *cellLine) put(c rune, size int, offset int64) {
	at := cell{offset, c, size}
	if l.col == len(l.cells) {
		l.cells = append(l.cells, at)
	} else {
		if old := l.cells[l.col].char; old != c && visible(old) {
			l.collapsed = true
		}
		l.cells[l.col] = at
	}
	l.col++
}

// move puts the cursor at a column, within the line.
func (l *cellLine) move(col int) { l.col = max(0, min(col, len(l.cells))) }

// truncate erases from a column on.
func (l *cellLine) truncate(col int) {
	for _, c := range l.cells[col:] {
		l.collapsed = l.collapsed || visible(c.char)
	}
	l.cells = l.cells[:col]
	l.move(l.col)
}

func visible(c rune) bool { return c != ' ' && c != '\t' }

func (l *cellLine) text() []byte {
	var text []byte
	for _, c := range l.cells {
		text = utf8.AppendRune(text, c.char)
	}
	return text
}

// show shows the cells in stretches that are contiguous in the input; apart:
// the input had jumped within the line.
func (l *cellLine) show(s screen, apart bool) {
	for cells := l.cells; len(cells) > 0; {
		var text []byte
		next, n := cells[0].offset, 0
		for n < len(cells) && cells[n].offset == next {
			text = utf8.AppendRune(text, cells[n].char)
			next += int64(cells[n].size)
			n++
		}
		if apart {
			s.jump()
		}
		s.show(text, cells[0].offset)
		cells = cells[n:]
	}
	if apart {
		s.jump()
	}
}

func (l *cellLine) reset() { *l = cellLine{cells: l.cells[:0]} }
