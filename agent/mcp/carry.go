package mcp

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// What is no Unicode in an answer, bytes that are no UTF-8 and halves of pairs
// of UTF-16, is lost without a word where JSON is decoded. So it is carried
// through that as characters, and is what it was again in the text that comes of
// the answer: whoever keeps that counts it, and keeps it.

const (
	// mark stands before each character that stands for a byte, and before itself
	// where an answer has it. It is the last one for private use, which next to
	// nobody does use.
	mark = '\U0010FFFD'
	// carriers begin the characters that stand for bytes: each is above the last
	// byte, so that no text without a mark has one of them behind one.
	carriers = 0x100
)

// carried is JSON in which all is Unicode. escapes says that what is escaped is
// carried too; else it stays as it is written.
func carried(text []byte, escapes bool) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		switch {
		case c == '\\' && len(text) > 1:
			var half [3]byte
			if c, size = escaped(text); !escapes {
				out = append(out, text[:size]...)
			} else if c < 0 && utf16.IsSurrogate(unit(text)) {
				out = appendCarried(out, appendHalf(half[:0], unit(text))...)
			} else if c == mark {
				out = append(out, string(mark)+string(mark)...)
			} else {
				out = append(out, text[:size]...)
			}
		case c == utf8.RuneError && size == 1:
			out = appendCarried(out, text[0])
		case c == mark:
			out = append(out, string(mark)+string(mark)...)
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

func appendCarried(out []byte, bad ...byte) []byte {
	for _, b := range bad {
		out = utf8.AppendRune(utf8.AppendRune(out, mark), carriers+rune(b))
	}
	return out
}

// appendHalf adds half of a pair as the three bytes that UTF-8 would have for
// its number, and forbids.
func appendHalf(out []byte, half rune) []byte {
	return append(out, 0xE0|byte(half>>12), 0x80|byte(half>>6)&0x3F, 0x80|byte(half)&0x3F)
}

// restored is a text that came out of carried JSON, with what was no Unicode.
func restored(text string) string {
	if !strings.ContainsRune(text, mark) {
		return text
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, string(mark))
		out.WriteString(before)
		if !found {
			return out.String()
		}
		c, size := utf8.DecodeRuneInString(rest)
		if c >= carriers && c < 2*carriers {
			out.WriteByte(byte(c - carriers))
		} else {
			out.WriteRune(mark)
			if c != mark { // it was cut from what it stood before
				size = 0
			}
		}
		text = rest[size:]
	}
}

// carries reports whether JSON holds what is no Unicode.
func carries(text []byte, escapes bool) bool {
	return !utf8.Valid(text) || escapes && holdsHalf(text)
}

// holdsHalf reports whether some JSON escapes half of a pair of UTF-16 alone.
func holdsHalf(text []byte) bool {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return false
		}
		text = text[at:]
		c, size := escaped(text)
		if c < 0 && utf16.IsSurrogate(unit(text)) {
			return true
		}
		text = text[size:]
	}
}
