package markdown

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxOpen is how much text may wait for the end of its block, in bytes. A
// longer block is shown as plain text until the whole message is rendered.
const maxOpen = 16 << 10

// Stream renders a message while it streams in. What is sealed is rendered
// once and never again, so the cost grows with the message and not with its
// square. The sealed parts and what Finish returns make what Render makes of
// the whole, except where blocks refer to one another (link references), where
// a list is continued in an unusual way, or where a block was longer than
// maxOpen: the final rendering of the whole message replaces them.
type Stream struct {
	// open is the text that is not sealed, and looked how much of it has been
	// looked at, in whole lines.
	open   strings.Builder
	looked int
	at     block
	// asText: the open block began as plain text and must end as such.
	asText bool
}

// NewStream begins a message.
func NewStream() *Stream { return &Stream{} }

// Push adds text. Where that completes blocks, sealed is true, html is their
// rendering, to be appended to what was sealed before, and rest is the text
// after them.
func (s *Stream) Push(text string) (html, rest string, sealed bool) {
	s.open.WriteString(text)
	all := s.open.String()
	cut := 0
	for {
		end := strings.IndexByte(all[s.looked:], '\n')
		if end < 0 {
			break
		}
		line := strings.TrimSuffix(all[s.looked:s.looked+end], "\r")
		before, after := s.at.line(line)
		if before && s.looked > cut {
			html += s.seal(all[cut:s.looked])
			cut = s.looked
		}
		s.looked += end + 1
		if after {
			html += s.seal(all[cut:s.looked])
			cut = s.looked
		}
	}
	if len(all)-cut > maxOpen {
		flush := wholeRunes(all[cut:])
		html += plain(all[cut : cut+flush])
		cut += flush
		s.looked = max(s.looked, cut)
		s.asText = true
	}
	if cut == 0 {
		return "", "", false
	}
	s.keep(all[cut:], cut)
	return html, all[cut:], true
}

// Finish renders what is left.
func (s *Stream) Finish() string {
	rest := s.open.String()
	s.open.Reset()
	if rest == "" {
		return ""
	}
	return s.seal(rest)
}

func (s *Stream) seal(md string) string {
	if s.asText {
		s.asText = false
		return plain(md)
	}
	return Render(md)
}

func (s *Stream) keep(rest string, cut int) {
	s.open.Reset()
	s.open.WriteString(rest)
	s.looked -= cut
}

// wholeRunes is how much of text ends on a whole character and, where there is
// one not far from the end, on a whole line.
func wholeRunes(text string) int {
	if end := strings.LastIndexByte(text, '\n') + 1; end > len(text)/2 {
		return end
	}
	end := len(text)
	for end > 0 && len(text)-end < utf8.UTFMax {
		if r, size := utf8.DecodeLastRuneInString(text[:end]); r != utf8.RuneError || size != 1 {
			break
		}
		end--
	}
	return end
}

// block follows the blocks of a document line by line, just closely enough to
// know where one ends for certain. Where it cannot know, nothing is sealed any
// more.
type block struct {
	fence   string // the marker of an open code fence; empty: none
	inner   bool   // that fence stands in a list's item, if that is an item
	list    bool   // there may be a list since the last cut
	content int    // the column at which the text of its last item begins
	blank   bool   // the line before was blank
	begun   bool   // there was text since the last cut
	unsure  bool   // a line can be read in two ways that end differently
}

var (
	fenceLine = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")
	itemLine  = regexp.MustCompile(`^( {0,3})([-+*]|\d{1,9}[.)])([ \t]+|$)`)
)

// line takes the next line. before: what came before it can be sealed. after:
// what came up to its end can be.
func (b *block) line(line string) (before, after bool) {
	blank := strings.TrimLeft(line, " \t") == ""
	switch {
	case b.unsure:
		return false, false
	case b.fence != "":
		b.unsure = b.inner && !blank && !b.inItem(line)
		return false, !b.unsure && b.closed(line)
	case blank:
		b.blank = true
		return false, false
	}
	item := itemLine.FindStringSubmatch(line)
	if b.blank && b.begun && line[0] != ' ' && line[0] != '\t' && (item == nil || !b.list) {
		*b = block{}
		before = true
	}
	b.blank, b.begun = false, true
	inItem := b.inItem(line)
	if fence := fenceLine.FindStringSubmatch(line); fence != nil && opensFence(fence) {
		b.fence, b.inner = fence[1], inItem
	} else if item != nil && !inItem {
		b.list, b.content = true, itemColumn(item)
	}
	return before, false
}

// closed takes a line of a code fence; true where it ends one that is a block
// of its own.
func (b *block) closed(line string) bool {
	fence := fenceLine.FindStringSubmatch(line)
	if fence == nil || fence[1][0] != b.fence[0] || len(fence[1]) < len(b.fence) || strings.TrimSpace(fence[2]) != "" {
		return false
	}
	if b.inner {
		b.fence, b.inner = "", false
		return false
	}
	*b = block{}
	return true
}

// inItem reports whether a line is indented into the text of a list's item.
func (b *block) inItem(line string) bool {
	return b.list && len(line)-len(strings.TrimLeft(line, " ")) >= b.content
}

// opensFence: the info string of a backtick fence holds no backtick.
func opensFence(fence []string) bool {
	return fence[1][0] != '`' || !strings.Contains(fence[2], "`")
}

func itemColumn(item []string) int {
	column := len(item[1]) + len(item[2])
	if spaces := len(item[3]); spaces >= 1 && spaces <= 4 {
		return column + spaces
	}
	return column + 1
}
