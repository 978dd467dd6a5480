package tools

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// sniffBytes is how much of a file says what it is.
const sniffBytes = 8 << 10

// encoding is how the text of a file is written in bytes.
type encoding struct {
	name string // empty: plain UTF-8
	bom  int    // bytes at the start of the file that are no text
	unit int    // bytes of the smallest unit: 1, or 2 of UTF-16
	big  bool   // UTF-16 with the high byte first
	cr   bool   // lines end with a lone carriage return
	crlf bool
	// binary: it is no text at all.
	binary bool
}

// sniff tells the encoding from the start of a file.
func sniff(start []byte) encoding {
	e := encoding{unit: 1}
	switch {
	case bytes.HasPrefix(start, []byte{0xEF, 0xBB, 0xBF}):
		e.name, e.bom = "UTF-8 with BOM", 3
	case bytes.HasPrefix(start, []byte{0xFF, 0xFE}) && !bytes.HasPrefix(start, []byte{0xFF, 0xFE, 0, 0}):
		e.name, e.bom, e.unit = "UTF-16LE", 2, 2
	case bytes.HasPrefix(start, []byte{0xFE, 0xFF}):
		e.name, e.bom, e.unit, e.big = "UTF-16BE", 2, 2, true
	case bytes.IndexByte(start, 0) >= 0:
		e.sniffWide(start)
	default:
		e.binary = mostlyControl(start)
	}
	e.sniffNewline(start)
	return e
}

// sniffWide tells UTF-16 without a mark from binary data: in text of any
// western language every second byte is zero, none of the others is, and no
// byte is left over.
func (e *encoding) sniffWide(start []byte) {
	var zeros [2]int
	for i, b := range start {
		if b == 0 {
			zeros[i%2]++
		}
	}
	most := len(start) / 2
	switch {
	case len(start)%2 != 0:
		e.binary = true
	case zeros[0] == 0 && zeros[1] > most*7/10:
		e.name, e.unit = "UTF-16LE", 2
	case zeros[1] == 0 && zeros[0] > most*7/10:
		e.name, e.unit, e.big = "UTF-16BE", 2, true
	default:
		e.binary = true
	}
}

// mostlyControl reports whether more than a tenth of the bytes are control
// characters that text does not hold. Escape is one that terminals' text does.
func mostlyControl(start []byte) bool {
	n := 0
	for _, b := range start {
		if b < 0x20 && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b || b == 0x7f {
			n++
		}
	}
	return n*10 > len(start)
}

func (e *encoding) sniffNewline(start []byte) {
	text := start[min(e.bom, len(start)):]
	if e.unit == 2 {
		decoded, _, _ := e.decode(text, len(text)*2)
		text = []byte(decoded)
	}
	lf := bytes.IndexByte(text, '\n')
	if lf < 0 {
		// A carriage return as the last of a long start may belong to a newline.
		cr := bytes.IndexByte(text, '\r')
		e.cr = cr >= 0 && (cr < len(text)-1 || len(start) < sniffBytes)
		return
	}
	e.crlf = lf > 0 && text[lf-1] == '\r'
}

// newline names what ends a line; empty: a line feed.
func (e encoding) newline() string {
	switch {
	case e.cr:
		return "CR"
	case e.crlf:
		return "CRLF"
	}
	return ""
}

// ends is the character that ends a line. Of a CRLF it is the second.
func (e encoding) ends() byte {
	if e.cr {
		return '\r'
	}
	return '\n'
}

// count is the number of line ends in a block.
func (e encoding) count(block []byte) int64 {
	if e.unit == 1 {
		return int64(bytes.Count(block, []byte{e.ends()}))
	}
	var n int64
	for i := e.next(block, 0); i >= 0; i = e.next(block, i) {
		n++
	}
	return n
}

// next is where the text goes on after the first line end from a position;
// -1: the block has none.
func (e encoding) next(block []byte, from int) int {
	if e.unit == 1 {
		if i := bytes.IndexByte(block[from:], e.ends()); i >= 0 {
			return from + i + 1
		}
		return -1
	}
	low, high := 0, 1
	if e.big {
		low, high = 1, 0
	}
	for i := from; i+1 < len(block); i += 2 {
		if block[i+low] == e.ends() && block[i+high] == 0 {
			return i + 2
		}
	}
	return -1
}

// decode turns bytes of a file into at most a number of bytes of UTF-8. It
// says how many bytes of the file these are, and how many of them were no
// text and were replaced.
func (e encoding) decode(raw []byte, most int) (text string, used int, replaced int64) {
	if e.unit == 2 {
		return e.decodeWide(raw, most)
	}
	if len(raw) <= most && utf8.Valid(raw) {
		return string(raw), len(raw), 0
	}
	out := make([]byte, 0, min(most, len(raw)+len(raw)/8))
	for used < len(raw) {
		r, size := utf8.DecodeRune(raw[used:])
		if len(out)+utf8.RuneLen(r) > most {
			break
		}
		if r == utf8.RuneError && size == 1 {
			replaced++
		}
		out = utf8.AppendRune(out, r)
		used += size
	}
	return string(out), used, replaced
}

func (e encoding) decodeWide(raw []byte, most int) (text string, used int, replaced int64) {
	var order binary.ByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	out := make([]byte, 0, min(most, len(raw)))
	for used < len(raw) {
		r, size := rune(utf8.RuneError), min(2, len(raw)-used)
		if size == 2 {
			r = rune(order.Uint16(raw[used:]))
		}
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if used+4 <= len(raw) {
				pair = utf16.DecodeRune(r, rune(order.Uint16(raw[used+2:])))
			}
			if r = pair; r != utf8.RuneError {
				size = 4
			}
		}
		if len(out)+utf8.RuneLen(r) > most {
			break
		}
		if r == utf8.RuneError {
			replaced += int64(size)
		}
		out = utf8.AppendRune(out, r)
		used += size
	}
	return string(out), used, replaced
}

// encode is the text as this encoding writes it, its mark included.
func (e encoding) encode(text string) []byte {
	if e.unit == 1 {
		if e.bom > 0 {
			return append([]byte{0xEF, 0xBB, 0xBF}, text...)
		}
		return []byte(text)
	}
	var order binary.AppendByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	out := make([]byte, 0, 2*len(text)+2)
	if e.bom > 0 {
		out = order.AppendUint16(out, 0xFEFF)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// begun is how many bytes at the end of raw are the beginning of a character
// that goes on after it.
func (e encoding) begun(raw []byte) int {
	if e.unit == 2 {
		n := len(raw) % 2
		if whole := raw[:len(raw)-n]; len(whole) >= 2 && e.highSurrogate(whole[len(whole)-2:]) {
			n += 2
		}
		return n
	}
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		if b := raw[len(raw)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(raw[len(raw)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

func (e encoding) highSurrogate(unit []byte) bool {
	high := unit[1]
	if e.big {
		high = unit[0]
	}
	return high >= 0xD8 && high < 0xDC
}

// around is how far a position in raw is from the start and from the end of
// the character that it is inside of; zeros: it is inside of none.
func (e encoding) around(raw []byte, at int) (before, after int) {
	if e.unit == 2 {
		switch {
		case at%2 == 1:
			return 1, 1
		case at >= 2 && at < len(raw) && e.highSurrogate(raw[at-2:]):
			return 2, 2
		}
		return 0, 0
	}
	for n := 1; n < utf8.UTFMax && n <= at; n++ {
		if _, size := utf8.DecodeRune(raw[at-n:]); size > n {
			return n, size - n
		}
	}
	return 0, 0
}
