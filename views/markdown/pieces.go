package markdown

import "strings"

// pieceBytes is from how many bytes on a piece of a long text ends with the
// block that it is in. A block that is twice as long is torn.
const pieceBytes = 8 << 10

// Piece is a stretch of a long text that is rendered by itself, so that what is
// shown of the text costs what is shown.
type Piece struct {
	// Start is where it begins in the text, in bytes.
	Start int

	text          string
	before, after string // the fences around a piece of a listing
	raw           bool   // it began where nobody can tell what it belongs to
}

// HTML is the piece as safe HTML.
func (p Piece) HTML() string {
	if p.raw {
		return plain(p.text)
	}
	return render(p.before + p.text + p.after)
}

// Pieces takes a long text apart: where blocks end, and long blocks at the ends
// of lines, or else of characters. A listing that is torn is one on each side.
// The pieces joined are the text. What refers to another piece, as a link by its
// name does, does not find it.
func Pieces(md string) []Piece {
	c := cutter{md: md}
	for at := 0; at < len(md); {
		end := strings.IndexByte(md[at:], '\n') + 1
		if end == 0 {
			end = len(md) - at
		}
		c.line(at, at+end)
		at += end
	}
	c.cut(len(md))
	return c.pieces
}

// cutter follows a text line by line.
type cutter struct {
	md     string
	pieces []Piece
	begun  int    // where the piece begins that is not cut yet
	safe   int    // the last place in it where a block has ended
	at     block  // in which block the next line stands
	opener string // the line that opened the fence, if the next line stands in one
	inside string // the opener of the fence that the piece begins in
	raw    bool   // the piece begins where nobody can tell
}

func (c *cutter) line(start, end int) {
	if end-start > 2*pieceBytes {
		c.tear(start, end)
	}
	fenced := c.at.fence != ""
	before, after := c.at.line(strings.TrimSuffix(strings.TrimSuffix(c.md[start:end], "\n"), "\r"))
	switch {
	case c.at.fence == "" || c.at.inner:
		c.opener = ""
	case !fenced:
		c.opener = c.md[start:end]
	}
	if before {
		c.ends(start)
	}
	if after {
		c.ends(end)
	}
	switch long := end - c.begun; {
	case long < 2*pieceBytes, c.listed() && long < 4*pieceBytes:
	case c.safe > c.begun:
		c.cut(c.safe)
	default:
		c.cutWithin(end)
	}
}

// listed reports whether the next line stands in a listing of a list, which
// cannot be taken up again.
func (c *cutter) listed() bool { return c.at.fence != "" && c.at.inner }

// cutWithin ends the piece in the middle of a block.
func (c *cutter) cutWithin(at int) {
	c.cut(at)
	c.inside, c.raw = c.opener, c.at.unsure || c.listed()
}

// ends notes that a block has ended.
func (c *cutter) ends(at int) {
	c.safe = at
	if at-c.begun >= pieceBytes {
		c.cut(at)
	}
}

// tear cuts a line that is too long for one piece.
func (c *cutter) tear(start, end int) {
	if start > c.begun {
		c.cutWithin(start)
	}
	for end-c.begun > pieceBytes {
		c.cutWithin(c.begun + wholeRunes(c.md[c.begun:c.begun+pieceBytes]))
	}
}

// cut ends the piece. What follows begins with a block of its own, unless who
// cuts says otherwise.
func (c *cutter) cut(at int) {
	if at == c.begun {
		return
	}
	p := Piece{Start: c.begun, text: c.md[c.begun:at], before: c.inside, raw: c.raw}
	if c.opener != "" && at != c.safe {
		p.after = "\n" + c.at.fence
	}
	c.pieces = append(c.pieces, p)
	c.begun, c.inside, c.raw = at, "", false
}
