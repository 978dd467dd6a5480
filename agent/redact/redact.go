// Package redact takes secrets out of texts that people read, such as errors and
// dumps, in whatever form they were written.
package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// leastSecret is the least length of a secret, in bytes: what is shorter stands
// in any text. A word that a local server is given for a key, such as "ollama",
// is taken out too: better that than a short key that is left.
const leastSecret = 4

// Redactor takes secrets out. The zero value knows none.
type Redactor struct {
	pattern *regexp.Regexp
	mark    string
}

// New knows each secret as it is, with any of its bytes escaped as JSON
// (however often over), as an address or as HTML does, in hexadecimal, and in
// base64 wherever in a longer text it began. mark stands where one stood.
func New(mark string, secrets ...string) Redactor {
	var forms []string
	for _, secret := range secrets {
		if len(secret) < leastSecret {
			continue
		}
		forms = append(forms, escapedForms(secret), "(?i:"+hex.EncodeToString([]byte(secret))+")")
		forms = append(forms, base64Forms(secret)...)
	}
	if len(forms) == 0 {
		return Redactor{}
	}
	pattern := regexp.MustCompile(strings.Join(forms, "|"))
	// A secret that another one begins with must not leave the rest of it behind.
	pattern.Longest()
	return Redactor{pattern, mark}
}

// Text is s without secrets.
func (r Redactor) Text(s string) string {
	if r.pattern == nil {
		return s
	}
	return r.pattern.ReplaceAllLiteralString(s, r.mark)
}

// escapedForms matches a secret each of whose characters may be escaped.
func escapedForms(secret string) string {
	var b strings.Builder
	for _, c := range secret {
		plain := regexp.QuoteMeta(string(c))
		var percent strings.Builder
		for _, octet := range []byte(string(c)) {
			fmt.Fprintf(&percent, "%%%02x", octet)
		}
		forms := []string{plain, `\\+` + plain, "(?i:" + percent.String() + ")", fmt.Sprintf("&#0*%d;", c), fmt.Sprintf("(?i:&#x0*%x;)", c)}
		if c <= 0xFFFF {
			forms = append(forms, fmt.Sprintf(`(?i:\\+u%04x)`, c))
		}
		if short, ok := shortEscapes[c]; ok {
			forms = append(forms, short...)
		}
		b.WriteString("(?:" + strings.Join(forms, "|") + ")")
	}
	return b.String()
}

// shortEscapes are further ways to write single characters.
var shortEscapes = map[rune][]string{
	'&': {"&amp;"}, '<': {"&lt;"}, '>': {"&gt;"}, '"': {"&quot;"}, '\'': {"&apos;"}, ' ': {`\+`}, '\t': {`\\+t`},
}

// base64Forms are the texts that stand for a secret in base64, at each of the
// three places within a group of bytes where it can begin. The characters at
// the ends that its neighbours have a part in may be any.
func base64Forms(secret string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			from := (before*8 + 5) / 6
			to := (before + len(secret)) * 8 / 6
			form := "[A-Za-z0-9+/_-]?" + regexp.QuoteMeta(text[from:to]) + "[A-Za-z0-9+/_-]?={0,2}"
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}
