package mcp

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/agent/redact"
)

// minSecret is the least length of a value that is looked for in texts: a
// shorter one stands in any text by chance.
const minSecret = 6

// scrubber takes the secrets of a server out of texts, in whatever form they
// were written.
type scrubber struct{ redactor redact.Redactor }

// newScrubber knows the server's secrets, and what of its address may be one.
func newScrubber(s Server) scrubber {
	secrets := slices.Clone(s.Secrets)
	if u, err := url.Parse(s.URL); err == nil {
		password, _ := u.User.Password()
		secrets = append(secrets, password, u.RawQuery)
	}
	secrets = slices.DeleteFunc(secrets, func(secret string) bool { return len(secret) < minSecret })
	return scrubber{redact.New("[redacted]", secrets...)}
}

func (s scrubber) text(text string) string { return s.redactor.Text(text) }

// bytes is a file without secrets, where it is a text.
func (s scrubber) bytes(data []byte) []byte {
	if !utf8.Valid(data) {
		return data
	}
	return []byte(s.text(string(data)))
}

// line is a text of a server as one line of at most most bytes, without what
// steers a terminal or turns the direction of writing.
func line(text string, most int) string {
	return bounded(strings.Join(strings.Fields(legible(text)), " "), most)
}

// legible leaves out what is no character, what steers something, and what is
// not seen: a text of a server is to say to a model what it says to a person.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, text)
}

// bounded cuts a text between characters and says so with an ellipsis.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
