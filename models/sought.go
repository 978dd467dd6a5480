package models

import "regexp"

// Sought is what a search has looked for in all of an output that was all that
// its tool returned, and of which it showed every place.
type Sought struct {
	Pattern string `json:"pattern"`
	Regexp  bool   `json:"regexp"` // the pattern is an expression of RE2, in which ^ and $ match at lines
}

// MaxSought bounds the searches that are noted of one output for an answer.
const MaxSought = 16

// Expression finds what the search would have found; nil where that is not plain.
func (s Sought) Expression() *regexp.Regexp {
	pattern := "(?m)" + s.Pattern
	if !s.Regexp {
		pattern = regexp.QuoteMeta(s.Pattern)
	}
	expr, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return expr
}
