package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// readJSON decodes the object in the request's body into v. Members that v
// does not know are ignored.
//
// Text that is not Unicode is refused before it is decoded: encoding/json
// would put replacement characters in its place, and what is stored would not
// be what was sent.
func readJSON(c echo.Context, v any) error {
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return fmt.Errorf("read the request's body: %w", err)
	}
	return decodeJSON(body, v)
}

// readOptionalJSON is readJSON for calls whose members are all optional: an
// empty body is an empty object.
func readOptionalJSON(c echo.Context, v any) error {
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return fmt.Errorf("read the request's body: %w", err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	return decodeJSON(body, v)
}

func decodeJSON(body []byte, v any) error {
	if !utf8.Valid(body) {
		return errNotUTF8
	}
	if !json.Valid(body) {
		return describeSyntax(body)
	}
	if bytes.TrimSpace(body)[0] != '{' {
		return models.Errorf(models.ErrInvalid, "wrong_type", "the body is to be a JSON object")
	}
	if hasLoneSurrogate(body) {
		return errNotUTF8
	}
	err := json.Unmarshal(body, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return models.Errorf(models.ErrInvalid, "wrong_type", "%q has the wrong type: it %s", wrong.Field, models.WrongType(wrong)).With("member", wrong.Field)
	case err != nil:
		return err
	}
	return nil
}

var errNotUTF8 = models.Errorf(models.ErrInvalid, "invalid_utf8",
	"the request holds bytes or escapes that are not valid UTF-8; nothing was stored; send it as UTF-8 text")

// WellFormed lets only forms through that can be read and whose names and
// values are all valid UTF-8: what is stored of them is what was sent.
func WellFormed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if method := c.Request().Method; method == http.MethodGet || method == http.MethodHead {
			return next(c)
		}
		form, err := c.FormParams()
		var tooLong *http.MaxBytesError
		switch {
		case errors.As(err, &tooLong):
			return err
		case err != nil:
			return models.Errorf(models.ErrMalformed, "malformed_form", "the form cannot be read; send it once more")
		case !wellFormed(form):
			return errNotUTF8
		}
		return next(c)
	}
}

// wellFormed reports whether all names and values are valid UTF-8.
func wellFormed(values url.Values) bool {
	for name, all := range values {
		if !utf8.ValidString(name) || slices.ContainsFunc(all, func(v string) bool { return !utf8.ValidString(v) }) {
			return false
		}
	}
	return true
}

func describeSyntax(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return models.Errorf(models.ErrMalformed, "malformed_json", "the body is empty; it is to be a JSON object")
	}
	var any any
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &any); errors.As(err, &syntax) {
		return models.Errorf(models.ErrMalformed, "malformed_json", "the body is not valid JSON: %s at byte %d", syntax, syntax.Offset)
	}
	return models.Errorf(models.ErrMalformed, "malformed_json", "the body is not valid JSON")
}

// hasLoneSurrogate reports whether a string of the valid JSON in data holds an
// escape for half of a surrogate pair, such as \ud800.
func hasLoneSurrogate(data []byte) bool {
	for i := 0; i < len(data); {
		if data[i] != '\\' {
			i++
			continue
		}
		if data[i+1] != 'u' {
			i += 2
			continue
		}
		unit := hex4(data[i+2 : i+6])
		i += 6
		switch {
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true // the second half first
		case unit >= 0xd800 && unit <= 0xdbff:
			if !bytes.HasPrefix(data[i:], []byte(`\u`)) {
				return true
			}
			if low := hex4(data[i+2 : i+6]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 6
		}
	}
	return false
}

// hex4 is the number that four hexadecimal digits write.
func hex4(digits []byte) (n rune) {
	for _, d := range digits {
		n <<= 4
		switch {
		case d >= '0' && d <= '9':
			n |= rune(d - '0')
		case d >= 'a' && d <= 'f':
			n |= rune(d-'a') + 10
		case d >= 'A' && d <= 'F':
			n |= rune(d-'A') + 10
		}
	}
	return n
}

// given is a member of a PATCH that may be absent, and is not null.
type given[T any] struct{ Value *T }

// UnmarshalJSON refuses null: it could mean "leave it" as well as "clear it".
func (g *given[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return models.Errorf(models.ErrInvalid, "wrong_type", "a member is null; leave it out to keep it as it is")
	}
	return json.Unmarshal(data, &g.Value)
}
