package models

import (
	"regexp"
	"regexp/syntax"
)

// Sought is what a search has looked for in all of an output that was all that
// its tool returned, and of which it showed every place.
type Sought struct {
	Pattern string `json:"pattern"`
	Regexp  bool   `json:"regexp"` // the pattern is an expression of RE2, in which ^ and $ match at lines
}

const (
	// MaxSought bounds the searches that are noted of one output for an answer.
	MaxSought = 16
	// MaxPatternBytes bounds what a search looks for.
	MaxPatternBytes = 1 << 10
	// MaxPatternSteps bounds a regular expression by the instructions that it
	// compiles to, with which the time for each character of a text grows.
	// Repetitions count as often as they repeat.
	MaxPatternSteps = 500
)

// Expression finds what the search would have found, and takes so many steps; nil
// where it is no expression, or one that no search takes: such a one is not
// compiled.
func (s Sought) Expression() (expr *regexp.Regexp, takes int) {
	if !s.Regexp || len(s.Pattern) > MaxPatternBytes {
		return nil, 0
	}
	pattern := "(?m)" + s.Pattern
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0
	}
	if takes = steps(tree); takes > MaxPatternSteps {
		return nil, takes
	}
	if expr, err = regexp.Compile(pattern); err != nil {
		return nil, takes
	}
	return expr, takes
}

// steps is about how many instructions an expression compiles to, told without
// compiling it. The parser bounds how deep it is nested, and all repetitions of
// one thing together.
func steps(re *syntax.Regexp) int {
	inner := 0
	for _, sub := range re.Sub {
		inner += steps(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return max(1, re.Min)*inner + 1
		}
		return re.Min*inner + (re.Max-re.Min)*(inner+1)
	case syntax.OpConcat:
		return inner
	case syntax.OpAlternate:
		return inner + len(re.Sub) - 1
	case syntax.OpCapture:
		return inner + 2
	}
	return inner + 1
}
