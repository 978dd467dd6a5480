package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/agent/redact"
)

// scrubber takes the secrets of a server out of texts, in whatever form they
// were written.
type scrubber struct{ redactor redact.Redactor }

// newScrubber knows the server's secrets, and what of its address may be one.
func newScrubber(s Server) scrubber {
	secrets := slices.Clone(s.Secrets)
	if u, err := url.Parse(s.URL); err == nil {
		secrets = append(append(secrets, u.RawQuery), SecretsIn(s.URL)...)
	}
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
// steers a terminal or turns the direction of writing. It is cut last, as of half
// a secret nobody knows that it is one.
func (s scrubber) line(text string, most int) string {
	return bounded(s.text(strings.Join(strings.Fields(legible(text)), " ")), most)
}

// schema is a schema without secrets, which may stand anywhere in it: as the
// default of an argument, say. What is no longer JSON then is no schema.
func (s scrubber) schema(sent any) (any, error) {
	written, err := plainJSON(sent)
	if err != nil {
		return nil, errors.New("its schema is no JSON")
	}
	if len(written) > 2*schemaBytes {
		return nil, fmt.Errorf("its schema has %d bytes, and at most %d are passed on", len(written), schemaBytes)
	}
	var clean any
	if json.Unmarshal([]byte(s.text(string(written))), &clean) != nil {
		return nil, errors.New("its schema is no JSON without a secret that stands in it")
	}
	return clean, nil
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
