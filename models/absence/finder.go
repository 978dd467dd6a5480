package absence

import (
	"regexp"
	"strings"

	"offcut/models"
)

// The bounds of the work for one answer, which is done at each view of it. What
// was sought beyond them counts as not sought.
const (
	maxSearches = 256
	// maxCost bounds the expressions, of which a usual one costs some tens: the
	// bytes of their patterns, and the steps they take.
	maxCost = 4 << 10
)

// A finder finds in claims what was sought, as its search would have. Each search
// is made ready once, when it is first asked for.
type finder struct {
	searches map[models.Sought]search
	left     int // of maxCost
}

// A search is ready to find. One without either counts as none.
type search struct {
	text    string
	expr    *regexp.Regexp
	telling bool // of a text
}

func newFinder() *finder { return &finder{searches: map[models.Sought]search{}, left: maxCost} }

func (f *finder) search(of models.Sought) search {
	ready, known := f.searches[of]
	if known || len(f.searches) == maxSearches {
		return ready
	}
	switch {
	case of.Pattern == "" || len(of.Pattern) > models.MaxPatternBytes:
	case of.Regexp:
		ready.expr = f.expression(of)
	default:
		ready.text, ready.telling = of.Pattern, telling(of.Pattern)
	}
	f.searches[of] = ready
	return ready
}

// expression is nil where it is none, or costs more than is left.
func (f *finder) expression(of models.Sought) *regexp.Regexp {
	if f.left -= len(of.Pattern); f.left < 0 {
		return nil
	}
	expr, takes := of.Expression()
	if f.left -= takes; f.left < 0 {
		return nil
	}
	return expr
}

// counts reports whether it looks for anything.
func (s search) counts() bool { return s.text != "" || s.expr != nil }

// finds reports whether it finds something in a term.
func (s search) finds(term string) bool {
	if s.expr == nil {
		return s.text != "" && strings.Contains(term, s.text)
	}
	return s.expr.FindString(term) != ""
}

// tells reports whether it finds words that name something.
func (s search) tells(words string) bool {
	if s.expr == nil {
		return s.telling && strings.Contains(words, s.text)
	}
	for _, found := range s.expr.FindAllString(words, -1) {
		if telling(found) {
			return true
		}
	}
	return false
}
