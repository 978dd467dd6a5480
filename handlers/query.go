package handlers

import (
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// query is the parameters of an address. A parameter that cannot be read is an
// error of kind models.ErrMalformed, never a default.
type query struct{ values url.Values }

func queryOf(c echo.Context) (query, error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return query{}, models.Errorf(models.ErrMalformed, "malformed_query", "the address's parameters cannot be read: a %% or ; is not escaped")
	}
	if !wellFormed(values) {
		return query{}, models.Errorf(models.ErrInvalid, "invalid_utf8", "the address's parameters hold bytes that are not valid UTF-8; send them as UTF-8 text")
	}
	return query{values}, nil
}

func (q query) text(name string) string { return q.values.Get(name) }

// maxSearchLength bounds what is looked for in a list, in characters: more than
// any title has, and far less than the database compares with.
const maxSearchLength = 1000

// search is the text that a list's entries are to hold; empty: any.
func (q query) search() (string, error) {
	text := q.text("q")
	if n := utf8.RuneCountInString(text); n > maxSearchLength {
		return "", models.Errorf(models.ErrInvalid, "search_too_long",
			"a search has at most %d characters; this one has %d", models.Arg("most", maxSearchLength), models.Arg("has", n))
	}
	return text, nil
}

func badParameter(name, want string) error {
	return models.Errorf(models.ErrMalformed, "malformed_parameter", "the parameter %q is to be %s", name, want).With("parameter", name)
}

// number is a whole number; absent where the parameter is missing or empty.
// One too large for 64 bits is the largest, so that the limit that it breaks
// is the one that is named.
func (q query) number(name string, absent int64) (int64, error) {
	text := q.text(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return n, nil
	}
	if err != nil {
		return 0, badParameter(name, "a whole number")
	}
	return n, nil
}

// bounded is number, clamped into an int.
func (q query) bounded(name string, absent, least, most int) (int, error) {
	n, err := q.number(name, int64(absent))
	return int(min(max(n, int64(least)), int64(most))), err
}

// flag is true or false; nil where the parameter is missing or empty.
func (q query) flag(name string) (*bool, error) {
	switch strings.ToLower(q.text(name)) {
	case "":
		return nil, nil
	case "true", "1":
		return models.Ptr(true), nil
	case "false", "0":
		return models.Ptr(false), nil
	}
	return nil, badParameter(name, "true or false")
}

// words are those of a list with commas between; one that is not known is an
// error.
func (q query) words(name string, known ...string) (map[string]bool, error) {
	found := map[string]bool{}
	if q.text(name) == "" {
		return found, nil
	}
	for word := range strings.SplitSeq(q.text(name), ",") {
		if !slices.Contains(known, word) {
			return nil, badParameter(name, strings.Join(known, " or ")+", or both with a comma between, or left out")
		}
		found[word] = true
	}
	return found, nil
}

// seconds is a time to wait, at most the given one.
func (q query) seconds(name string, most time.Duration) (time.Duration, error) {
	text := q.text(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if (err != nil && !errors.Is(err, strconv.ErrRange)) || math.IsNaN(n) || n < 0 {
		return 0, badParameter(name, "a number of seconds, 0 or more")
	}
	return time.Duration(min(n, most.Seconds()) * float64(time.Second)), nil
}

// day is midnight, in UTC, of a day such as 2026-11-30; the zero time where the
// parameter is missing or empty.
func (q query) day(name string) (time.Time, error) {
	text := q.text(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, badParameter(name, "a day such as 2026-11-30")
	}
	return at, nil
}

// page is which part of a list is asked for.
func (q query) page() (models.Page, error) {
	limit, err := q.bounded("limit", models.DefaultPageLimit, 1, models.MaxPageLimit)
	return models.Page{Cursor: q.text("cursor"), Limit: limit}, err
}
