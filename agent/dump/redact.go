package dump

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// redactor takes secrets out of texts, in whatever form they were written.
type redactor struct{ pattern *regexp.Regexp }

// newRedactor knows each secret as it is, with any of its bytes escaped as JSON
// (however often over), as an address or as HTML does, in hexadecimal, and in
// base64 wherever in a longer text it began.
func newRedactor(secrets []string) redactor {
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		forms = append(forms, escapedForms(secret), "(?i:"+hex.EncodeToString([]byte(secret))+")")
		forms = append(forms, base64Forms(secret)...)
	}
	if len(forms) == 0 {
		return redactor{}
	}
	// The longest first: a form that another one begins with must not leave
	// the rest of it behind.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return redactor{regexp.MustCompile(strings.Join(forms, "|"))}
}

// text is s without secrets.
func (r redactor) text(s string) string {
	if r.pattern == nil {
		return s
	}
	return r.pattern.ReplaceAllLiteralString(s, redacted)
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
// the ends that its neighbours have a part in are left out.
func base64Forms(secret string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			from := (before*8 + 5) / 6
			to := (before + len(secret)) * 8 / 6
			if to-from < minBase64 {
				continue
			}
			form := regexp.QuoteMeta(text[from:to])
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// minBase64 is the least length of a base64 form that is taken for a secret's:
// shorter ones stand in any text.
const minBase64 = 4
