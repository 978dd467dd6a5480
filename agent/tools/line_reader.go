package tools

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxSearchedLine bounds the memory that one line costs, in bytes: longer
	// ones are searched in pieces.
	maxSearchedLine = 1 << 20
	// shownAround is how much of a long line is shown on each side of a match.
	shownAround = 120
	// maxShownMatch is how much of the match itself is.
	maxShownMatch = 240
)

// lineReader gives the lines of a text file, one after the other, in bounded
// memory.
type lineReader struct {
	in   *bufio.Reader
	ends byte
	wide bool // the file itself is UTF-16

	text     []byte // the line, or a piece of it, without its end
	line     int64
	start    int64 // of text, in bytes of UTF-8 from the start of the line
	pieces   int64
	inPieces bool
	err      error
	going    bool // text was a piece and the line goes on
	long     []byte
}

// newLineReader reads a file as UTF-8; false: it is not text.
func newLineReader(file *os.File) (*lineReader, bool) {
	in := bufio.NewReaderSize(file, 64<<10)
	start, _ := in.Peek(sniffBytes)
	e := sniff(start)
	if e.binary {
		return nil, false
	}
	_, _ = in.Discard(e.bom)
	if e.unit == 2 {
		order := unicode.LittleEndian
		if e.big {
			order = unicode.BigEndian
		}
		in = bufio.NewReaderSize(transform.NewReader(in, unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()), 64<<10)
	}
	return &lineReader{in: in, ends: e.ends(), wide: e.unit == 2}, true
}

func (r *lineReader) next() bool {
	if r.err != nil {
		return false
	}
	if r.going {
		r.start += int64(len(r.text))
	} else {
		r.line, r.start = r.line+1, 0
	}
	r.pieces++
	text, err := r.in.ReadSlice(r.ends)
	if errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.readLong(text)
	}
	r.going = errors.Is(err, bufio.ErrBufferFull)
	r.inPieces = r.inPieces || r.going
	if err != nil && !r.going {
		if !errors.Is(err, io.EOF) {
			r.err = err
			return false
		}
		if len(text) == 0 {
			return false
		}
	}
	text = bytes.TrimSuffix(text, []byte{r.ends})
	if !r.going {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	r.text = text
	return true
}

// readLong goes on reading a line that is longer than the buffer.
func (r *lineReader) readLong(begun []byte) ([]byte, error) {
	r.long = append(r.long[:0], begun...)
	for {
		more, err := r.in.ReadSlice(r.ends)
		r.long = append(r.long, more...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(r.long) >= maxSearchedLine {
			return r.long, err
		}
	}
}

// show is a match as one line of the result. A long line is shortened, and
// says so.
func (r *lineReader) show(name string, where []int) string {
	from, to := max(0, where[0]-shownAround), min(len(r.text), min(where[1], where[0]+maxShownMatch)+shownAround)
	head := fmt.Sprintf("%s:%d: ", name, r.line)
	if from == 0 && to == len(r.text) && r.start == 0 && !r.going {
		return clean(head + string(r.text))
	}
	shortened := fmt.Sprintf("%s…%s… (shortened", head, r.text[from:to])
	if !r.wide { // there offsets count other bytes than these
		shortened += fmt.Sprintf("; the match is at byte_offset %d", r.start+int64(where[0]))
	}
	return clean(shortened + ")")
}
