package agent

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cut says where the end of a model's output fell in the arguments of a call.
type Cut string

// The places of a cut. Elsewhere (in a key or a literal, after a comma or a
// colon, in an array) nothing is recovered.
const (
	CutNone   Cut = ""       // the text was whole
	CutString Cut = "string" // in a string: its end is missing
	CutNumber Cut = "number" // behind a digit: 12 may have been 1200
	CutAfter  Cut = "after"  // behind a whole value, or an opening brace
)

// RecoverTruncatedJSON completes a JSON object whose end was cut off: it closes
// an open string and open objects, and says where the cut fell. A half escape
// or half character at the cut is dropped. It never closes an array, whose
// missing elements would change what is done, and never guesses at a key, a
// literal or a value; in these cases, and for what is not the beginning of an
// object, ok is false. What it returns parses, and begins with the text less a
// half escape or character.
func RecoverTruncatedJSON(text string) (recovered string, cut Cut, ok bool) {
	if !strings.HasPrefix(strings.TrimLeft(text, jsonSpace), "{") {
		return "", CutNone, false
	}
	if json.Valid([]byte(text)) {
		return text, CutNone, true
	}
	open := scanOpen(text)
	if open.array || !unfinished(text) {
		return "", CutNone, false
	}
	recovered, cut = text, CutAfter
	switch {
	case open.quoted:
		recovered, cut = dropHalf(text, open.quote)+`"`, CutString
	case endsInDigit(text):
		cut = CutNumber
	}
	recovered += strings.Repeat("}", open.objects)
	if !json.Valid([]byte(recovered)) {
		return "", CutNone, false
	}
	return recovered, cut, true
}

const jsonSpace = " \t\r\n"

// opened is what stands open at the end of a text.
type opened struct {
	objects int
	array   bool
	quoted  bool
	quote   int // where the last string began
}

// scanOpen follows strings and brackets; that the text is JSON otherwise is
// found out when it is parsed.
func scanOpen(text string) opened {
	var o opened
	var stack []byte
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case o.quoted && b == '\\':
			i++
		case b == '"':
			o.quoted, o.quote = !o.quoted, i
		case o.quoted:
		case b == '{' || b == '[':
			stack = append(stack, b)
		case (b == '}' || b == ']') && len(stack) > 0:
			stack = stack[:len(stack)-1]
		}
	}
	o.objects, o.array = len(stack), strings.IndexByte(string(stack), '[') >= 0
	return o
}

// dropHalf takes what a cut left of an escape, of a surrogate pair or of a
// UTF-8 character off the end of a text whose open string begins at quote.
func dropHalf(text string, quote int) string {
	at := quote + 1
	for at < len(text) {
		size := characterLen(text[at:])
		if at+size > len(text) {
			break
		}
		at += size
	}
	if at < len(text) {
		return text[:at]
	}
	return trimHalfRune(text)
}

// unicodeEscape is the length of an escape that names a UTF-16 unit.
const unicodeEscape = len(`\u0000`)

// characterLen is the length of the byte or escape at the start of s, were it
// whole. An escaped surrogate pair counts as one, also where the cut left only
// its first half.
func characterLen(s string) int {
	switch {
	case s[0] != '\\':
		return 1
	case len(s) == 1 || s[1] != 'u':
		return len(`\n`)
	case len(s) >= unicodeEscape && highSurrogate(s) && pairFollows(s[unicodeEscape:]):
		return 2 * unicodeEscape
	}
	return unicodeEscape
}

func highSurrogate(escape string) bool {
	unit, err := strconv.ParseUint(escape[len(`\u`):unicodeEscape], 16, 16)
	return err == nil && unit >= 0xD800 && unit < 0xDC00
}

// pairFollows: rest is, or could have become, another escape of that kind.
func pairFollows(rest string) bool {
	n := min(len(rest), len(`\u`))
	return rest[:n] == `\u`[:n]
}

// trimHalfRune drops the first bytes of a character whose last ones are missing.
func trimHalfRune(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if tail := s[len(s)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

func endsInDigit(text string) bool {
	last := text[len(text)-1]
	return last >= '0' && last <= '9'
}

// unfinished reports whether the text is the beginning of some JSON: it ended
// too early, whatever the provider says of it.
func unfinished(arguments string) bool {
	var v any
	return errors.Is(json.NewDecoder(strings.NewReader(arguments)).Decode(&v), io.ErrUnexpectedEOF)
}
