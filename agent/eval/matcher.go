package eval

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"
)

// Matcher is something that a text may hold. Exactly one of its fields is set.
type Matcher struct {
	// Contains is found in any case.
	Contains string `yaml:"contains"`
	// Matches is a regular expression in RE2 syntax.
	Matches Pattern `yaml:"matches"`
	// Number is found in any usual spelling: 48213.5, 48,213.50, ４８２１３.５.
	Number *float64 `yaml:"number"`
	// Denies: the text says that something is not there, and does not say that
	// this cannot be known.
	Denies bool `yaml:"denies"`
	// Unsure: the text says that something cannot be known.
	Unsure bool `yaml:"unsure"`
	// Any holds where one of these does.
	Any []Matcher `yaml:"any"`
}

// Pattern is a regular expression in a scenario.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML compiles the expression.
func (p *Pattern) UnmarshalYAML(node *yaml.Node) error {
	compiled, err := regexp.Compile(node.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", node.Line, err)}}
	}
	p.Regexp = compiled
	return nil
}

// In reports whether the text holds it.
func (m Matcher) In(text string) bool {
	text = norm.NFKC.String(text)
	switch {
	case m.Contains != "":
		return strings.Contains(strings.ToLower(text), strings.ToLower(norm.NFKC.String(m.Contains)))
	case m.Matches.Regexp != nil:
		return m.Matches.MatchString(text)
	case m.Number != nil:
		return holdsNumber(text, *m.Number)
	case m.Denies:
		return denies(text)
	case m.Unsure:
		return unsure(text)
	}
	return anyIn(m.Any, text)
}

// String names what is looked for.
func (m Matcher) String() string {
	switch {
	case m.Contains != "":
		return fmt.Sprintf("the text %q", m.Contains)
	case m.Matches.Regexp != nil:
		return fmt.Sprintf("the pattern %s", m.Matches)
	case m.Number != nil:
		return "the number " + strconv.FormatFloat(*m.Number, 'f', -1, 64)
	case m.Denies:
		return "that it is not there"
	case m.Unsure:
		return "that it cannot be known"
	}
	names := make([]string, len(m.Any))
	for i, one := range m.Any {
		names[i] = one.String()
	}
	return strings.Join(names, " or ")
}

// set is how many of the fields are set.
func (m Matcher) set() int {
	n := 0
	for _, given := range []bool{m.Contains != "", m.Matches.Regexp != nil, m.Number != nil, m.Denies, m.Unsure, len(m.Any) > 0} {
		if given {
			n++
		}
	}
	return n
}

func anyIn(matchers []Matcher, text string) bool {
	for _, m := range matchers {
		if m.In(text) {
			return true
		}
	}
	return false
}

// missing is the first that the text does not hold; false: it holds all.
func missing(matchers []Matcher, text string) (Matcher, bool) {
	for _, m := range matchers {
		if !m.In(text) {
			return m, true
		}
	}
	return Matcher{}, false
}

var (
	// grouped are digits in groups of three, as English and Chinese write them,
	// and plain digits.
	grouped = regexp.MustCompile(`\d{1,3}(?:[,_ ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)
	// plainly are digits alone, where what looks like groups is a list.
	plainly  = regexp.MustCompile(`\d+(?:\.\d+)?`)
	ungroups = strings.NewReplacer(",", "", "_", "", " ", "")
)

// holdsNumber reports whether a number stands in the text; of a negative one the
// sign has to.
func holdsNumber(text string, want float64) bool {
	for _, spelling := range []*regexp.Regexp{grouped, plainly} {
		for _, at := range spelling.FindAllStringIndex(text, -1) {
			got, err := strconv.ParseFloat(ungroups.Replace(text[at[0]:at[1]]), 64)
			if err != nil {
				continue
			}
			if before := text[:at[0]]; strings.HasSuffix(before, "-") || strings.HasSuffix(before, "−") {
				if want < 0 {
					got = -got
				}
			}
			if math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) {
				return true
			}
		}
	}
	return false
}
