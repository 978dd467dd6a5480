package script

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// A string of JavaScript may hold half of a character: one unit of the two by
// which UTF-16 writes it. No UTF-8 can say that. What a program prints has such
// a half as the three bytes that UTF-8 would have for its number, and forbids:
// whoever takes it sees bytes that are no UTF-8, and counts them.

// exact is a string with the halves that it holds.
func exact(v goja.Value) string {
	text := v.String()
	units, isString := v.(goja.String)
	if !isString || !strings.ContainsRune(text, utf8.RuneError) { // which stands for each half
		return text
	}
	var out strings.Builder
	for i := 0; i < units.Length(); i++ {
		one := rune(units.CharAt(i))
		if isHigh(one) && i+1 < units.Length() && isLow(rune(units.CharAt(i+1))) {
			i++
			one = (one-0xD800)<<10 + rune(units.CharAt(i)) - 0xDC00 + 0x10000
		}
		if isHigh(one) || isLow(one) {
			out.Write([]byte{0xE0 | byte(one>>12), 0x80 | byte(one>>6)&0x3F, 0x80 | byte(one)&0x3F})
			continue
		}
		out.WriteRune(one)
	}
	return out.String()
}

func isHigh(unit rune) bool { return 0xD800 <= unit && unit < 0xDC00 }

func isLow(unit rune) bool { return 0xDC00 <= unit && unit < 0xE000 }

// holdsHalf reports whether an escape in JSON stands for half of a character.
// JSON.stringify writes whole characters as they are: there is no other kind of
// such an escape.
func holdsHalf(text string) bool {
	const escape = len(`\ud83d`)
	if !strings.Contains(text, `\ud`) {
		return false
	}
	for at := 0; at < len(text); {
		switch {
		case text[at] != '\\':
			at++
		case at+escape > len(text) || text[at+1] != 'u':
			at += 2
		default:
			unit, err := strconv.ParseUint(text[at+2:at+escape], 16, 16)
			if err == nil && (isHigh(rune(unit)) || isLow(rune(unit))) {
				return true
			}
			at += escape
		}
	}
	return false
}
