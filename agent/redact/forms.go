package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// A form is a way to write one secret.
type form interface {
	// begins are the bytes that a match can begin with.
	begins() []byte
	// match is the stretch of s, around or from at on, that is the secret; end
	// is 0 where there is none. It begins at least or later.
	match(s string, at, least int) (begin, end int)
}

// hexadecimal is a secret in hexadecimal digits, small here.
type hexadecimal string

func hexForm(secret string) form { return hexadecimal(hex.EncodeToString([]byte(secret))) }

func (h hexadecimal) begins() []byte { return bothCases(h[0]) }

func (h hexadecimal) match(s string, at, _ int) (int, int) {
	if end := at + len(h); end <= len(s) && strings.EqualFold(s[at:end], string(h)) {
		return at, end
	}
	return 0, 0
}

func bothCases(b byte) []byte {
	upper := strings.ToUpper(string(b))
	if upper[0] == b {
		return []byte{b}
	}
	return []byte{b, upper[0]}
}

// inBase64 is what of a secret in base64 depends on nothing around it. The
// characters at its ends that its neighbours have a part in may be any.
type inBase64 string

// base64Forms are those for each of the three places within a group of bytes
// where a secret can begin.
func base64Forms(secret string) []form {
	var forms []form
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			f := inBase64(text[(before*8+5)/6 : (before+len(secret))*8/6])
			if !slices.Contains(forms, form(f)) {
				forms = append(forms, f)
			}
		}
	}
	return forms
}

func (b inBase64) begins() []byte { return []byte{b[0]} }

func (b inBase64) match(s string, at, least int) (int, int) {
	if !strings.HasPrefix(s[at:], string(b)) {
		return 0, 0
	}
	end := at + len(b)
	if at > least && isBase64(s[at-1]) {
		at--
	}
	if end < len(s) && isBase64(s[end]) {
		end++
	}
	for range 2 {
		if end < len(s) && s[end] == '=' {
			end++
		}
	}
	return at, end
}

func isBase64(b byte) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '+', b == '/', b == '-', b == '_':
		return true
	}
	return false
}

// escaped is a secret each of whose characters may be escaped.
type escaped []character

// character is one of a secret, with the ways to write it. Of a backslash there
// is only how many of them stand before the next character: each may be one, or
// escape another, or what comes behind them.
type character struct {
	slashes int
	plain   string // empty: the secret ends with its backslashes
	percent string // in small letters
	decimal string // of its number
	hex     string
	entity  string // a name of HTML, or what else stands for it; empty: none
	letter  string // behind backslashes; empty: none
}

func escapedForm(secret string) form {
	var out escaped
	slashes := 0
	for _, c := range secret {
		if c == '\\' {
			slashes++
			continue
		}
		one := character{slashes: slashes, plain: string(c), decimal: strconv.Itoa(int(c)), hex: strconv.FormatInt(int64(c), 16), entity: entities[c]}
		for _, octet := range []byte(string(c)) {
			one.percent += "%" + hex.EncodeToString([]byte{octet})
		}
		if c == '\t' {
			one.letter = "t"
		}
		slashes = 0
		out = append(out, one)
	}
	if slashes > 0 {
		out = append(out, character{slashes: slashes})
	}
	return out
}

// entities are further ways to write single characters.
var entities = map[rune]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\'': "&apos;", ' ': "+"}

func (e escaped) begins() []byte {
	firsts := []byte{'\\', '%', '&'}
	for _, text := range []string{e[0].plain, e[0].entity} {
		if text != "" {
			firsts = append(firsts, text[0])
		}
	}
	slices.Sort(firsts)
	return slices.Compact(firsts)
}

// match follows all ways to read s at once: a percent sign may be a character,
// or begin one.
func (e escaped) match(s string, at, _ int) (int, int) {
	var one, other [8]int // nearly always enough
	ends, next := append(one[:0], at), other[:0]
	for _, c := range e {
		next = next[:0]
		for _, from := range ends {
			next = c.ends(s, from, next)
		}
		if len(next) == 0 {
			return 0, 0
		}
		slices.Sort(next)
		ends, next = slices.Compact(next), ends
	}
	return at, ends[len(ends)-1]
}

// ends adds to a list where the character can end that begins at from.
func (c character) ends(s string, from int, to []int) []int {
	run, at := backslashes(s, from)
	rest := s[at:]
	switch {
	case run < c.slashes:
		return to
	case c.plain == "":
		return append(to, at)
	}
	for _, n := range [...]int{prefix(rest, c.plain), prefix(rest, c.entity), prefix(rest, c.percent), c.reference(rest)} {
		if n > 0 {
			to = append(to, at+n)
		}
	}
	if run > 0 {
		if n := max(prefix(rest, c.letter), c.unit(rest)); n > 0 {
			to = append(to, at+n)
		}
	}
	return to
}

// mostBackslashes is how many are looked at together: what was escaped four times
// over has fifteen.
const mostBackslashes = 16

// backslashes is how many there are from a position on, in whatever form, and
// where they end.
func backslashes(s string, from int) (n, end int) {
	for end = from; n < mostBackslashes; n++ {
		rest := s[end:]
		length := max(prefix(rest, `\`), prefix(rest, "%5c"), backslash.reference(rest))
		if length == 0 {
			break
		}
		end += length
	}
	return n, end
}

var backslash = character{decimal: "92", hex: "5c"}

// prefix is the length of a text at the beginning of s, in small letters or
// large ones behind a percent sign; 0: it is not there.
func prefix(s, text string) int {
	switch {
	case text == "" || len(s) < len(text):
	case s[:len(text)] == text, text[0] == '%' && len(text) > 1 && strings.EqualFold(s[:len(text)], text):
		return len(text)
	}
	return 0
}

// reference is the length of the character as a number of HTML at the beginning
// of s, such as &#0038; or &#x26;; 0: it is none.
func (c character) reference(s string) int {
	rest, ok := strings.CutPrefix(s, "&#")
	if !ok {
		return 0
	}
	digits := c.decimal
	if rest != "" && (rest[0] == 'x' || rest[0] == 'X') {
		rest, digits = rest[1:], c.hex
	}
	rest = rest[leadingZeros(rest):]
	if n := len(digits); len(rest) > n && strings.EqualFold(rest[:n], digits) && rest[n] == ';' {
		return len(s) - len(rest) + n + 1
	}
	return 0
}

// leadingZeros are those of a number, as many as somebody writes.
func leadingZeros(s string) int {
	const most = 8
	n := 0
	for n < min(most, len(s)) && s[n] == '0' {
		n++
	}
	return n
}

// unit is the length of the character as a unit of UTF-16, such as u0026, at the
// beginning of s; 0: it is none.
func (c character) unit(s string) int {
	const length = len("u0000")
	if len(c.hex) < length && len(s) >= length && s[0] == 'u' && strings.EqualFold(s[1:length], strings.Repeat("0", length-1-len(c.hex))+c.hex) {
		return length
	}
	return 0
}
