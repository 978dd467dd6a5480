package markdown

import (
	"strconv"
	"strings"

	"offcut/views/visible"
)

// Terminal is what a terminal would show of text, as HTML with classes for
// colours: carriage returns and backspaces overwrite, sequences that erase or
// move within a line are followed, everything else that starts with an escape
// (titles, links, images, modes) is dropped. It cannot make an element other
// than a span.
func Terminal(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\b") {
		return visible.String(text)
	}
	s := &screen{}
	s.out.Grow(len(text))
	for text != "" {
		text = text[s.next(text):]
	}
	s.flush()
	return s.out.String()
}

// maxColumn bounds how far a sequence can move the cursor to the right, so
// that a short text cannot fill the page with blanks.
const maxColumn = 1000

// cell is one character with its looks.
type cell struct {
	char rune
	look look
}

// screen is the line that is being written.
type screen struct {
	out  strings.Builder
	line []cell
	col  int
	look look
}

// next takes one character or sequence from the start of text and returns its
// length.
func (s *screen) next(text string) int {
	switch text[0] {
	case '\n':
		s.flush()
		s.out.WriteByte('\n')
		return 1
	case '\r':
		s.col = 0
		return 1
	case '\b':
		s.col = max(s.col-1, 0)
		return 1
	case '\x1b':
		return s.escape(text)
	}
	for i, r := range text {
		if i > 0 && (r == '\n' || r == '\r' || r == '\b' || r == '\x1b') {
			return i
		}
		s.put(r)
	}
	return len(text)
}

func (s *screen) put(r rune) {
	for len(s.line) < s.col {
		s.line = append(s.line, cell{char: ' '})
	}
	if s.col == len(s.line) {
		s.line = append(s.line, cell{r, s.look})
	} else {
		s.line[s.col] = cell{r, s.look}
	}
	s.col++
}

// flush writes the line out, one span for each stretch that looks the same.
func (s *screen) flush() {
	for i := 0; i < len(s.line); {
		start := i
		var text strings.Builder
		for i < len(s.line) && s.line[i].look == s.line[start].look {
			text.WriteRune(s.line[i].char)
			i++
		}
		class := s.line[start].look.class()
		if class != "" {
			s.out.WriteString(`<span class="` + class + `">`)
		}
		visible.Write(&s.out, text.String())
		if class != "" {
			s.out.WriteString("</span>")
		}
	}
	s.line, s.col = s.line[:0], 0
}

// escape takes a sequence; one that is not finished is dropped with the rest.
func (s *screen) escape(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		return s.control(text)
	case ']', 'P', 'X', '^', '_': // strings: title, link, image, device control
		return stringEnd(text)
	case '(', ')', '*', '+', '#', '%', ' ': // one more character follows
		return min(3, len(text))
	}
	return 2
}

// stringEnd is the length of a string sequence: to BEL or to ESC \.
func stringEnd(text string) int {
	for i := 2; i < len(text); i++ {
		switch {
		case text[i] == '\a':
			return i + 1
		case text[i] == '\x1b' && i+1 < len(text) && text[i+1] == '\\':
			return i + 2
		}
	}
	return len(text)
}

// control takes a control sequence: parameters, then a final byte.
func (s *screen) control(text string) int {
	for i := 2; i < len(text); i++ {
		if c := text[i]; c >= 0x40 && c <= 0x7e {
			s.apply(text[2:i], c)
			return i + 1
		} else if c < 0x20 || c > 0x7e {
			return i // broken: what follows is text
		}
	}
	return len(text)
}

func (s *screen) apply(parameters string, final byte) {
	switch final {
	case 'm':
		s.look = s.look.with(numbers(parameters))
	case 'K':
		s.erase(first(parameters, 0))
	case 'C':
		s.col = min(s.col+first(parameters, 1), max(maxColumn, s.col))
	case 'D':
		s.col = max(s.col-first(parameters, 1), 0)
	case 'G':
		s.col = min(max(first(parameters, 1)-1, 0), max(maxColumn, s.col))
	}
}

// erase clears the line: 0 from the cursor on, 1 up to it, 2 all of it.
func (s *screen) erase(mode int) {
	from, to := 0, len(s.line)
	if mode == 0 {
		if s.col < len(s.line) {
			s.line = s.line[:s.col]
		}
		return
	}
	if mode == 1 {
		to = min(s.col+1, len(s.line))
	}
	for i := from; i < to; i++ {
		s.line[i] = cell{char: ' '}
	}
	if mode == 2 {
		s.line = s.line[:0]
	}
}

// numbers are the parameters of a sequence; what is no number is 0.
func numbers(parameters string) []int {
	fields := strings.FieldsFunc(parameters+";", func(r rune) bool { return r == ';' || r == ':' })
	if len(fields) == 0 {
		return []int{0}
	}
	all := make([]int, len(fields))
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err == nil {
			all[i] = n
		}
	}
	return all
}

// first is the first parameter, or other where there is none.
func first(parameters string, other int) int {
	field, _, _ := strings.Cut(parameters, ";")
	n, err := strconv.Atoi(field)
	if err != nil || n < 0 {
		return other
	}
	return min(n, 1<<16)
}
