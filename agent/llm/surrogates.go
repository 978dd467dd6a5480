package llm

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// Servers that count in UTF-16 cut between the two halves of a character
// beyond U+FFFF, such as an emoji: one event ends with "\ud83c", the next one
// begins with "\udf89". encoding/json makes a replacement character of each.
// Here a half at either end of a string is kept, in the three bytes that UTF-8
// would give it if it allowed that, until Joiner has seen the next piece.

const replacement = "\uFFFD"

// KeepHalves puts the halves at the ends of the JSON string raw back into its
// decoded value.
func KeepHalves(raw, value string) string {
	if len(raw) < len(`""`) {
		return value
	}
	inner := raw[1 : len(raw)-1]
	const escape = len(`\ud83c`)
	if len(inner) < escape {
		return value
	}
	if half, ok := halfOf(inner[:escape]); ok && half >= lowMin && strings.HasPrefix(value, replacement) {
		value = threeBytes(half) + value[len(replacement):]
	}
	tail := inner[len(inner)-escape:]
	if half, ok := halfOf(tail); ok && half < lowMin && !escaped(inner[:len(inner)-escape]) && strings.HasSuffix(value, replacement) {
		value = value[:len(value)-len(replacement)] + threeBytes(half)
	}
	return value
}

const (
	highMin = 0xD800
	lowMin  = 0xDC00
	lowMax  = 0xDFFF
)

// halfOf reads one escape that names a half.
func halfOf(s string) (rune, bool) {
	digits, ok := strings.CutPrefix(s, `\u`)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 16)
	return rune(n), err == nil && n >= highMin && n <= lowMax
}

// escaped reports whether s ends with a backslash that escapes what follows.
func escaped(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

func threeBytes(half rune) string {
	return string([]byte{0xE0 | byte(half>>12), 0x80 | byte(half>>6)&0x3F, 0x80 | byte(half)&0x3F})
}

// leading is the half at the beginning of s; false: there is none.
func leading(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 {
		return 0, false
	}
	return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// Joiner joins the pieces of one text.
type Joiner struct{ high string }

// Add is what can be passed on of piece, as valid UTF-8.
func (j *Joiner) Add(piece string) string {
	if piece == "" {
		return ""
	}
	if high, held := leading(j.high); held {
		if low, ok := leading(piece); ok && low >= lowMin {
			piece = string(utf16.DecodeRune(high, low)) + piece[3:]
		} else {
			piece = replacement + piece
		}
		j.high = ""
	}
	if n := len(piece) - 3; n >= 0 {
		if half, ok := leading(piece[n:]); ok && half < lowMin {
			piece, j.high = piece[:n], piece[n:]
		}
	}
	return strings.ToValidUTF8(piece, replacement)
}

// Rest is what is left at the end: half a character is none.
func (j *Joiner) Rest() string {
	if j.high == "" {
		return ""
	}
	j.high = ""
	return replacement
}
