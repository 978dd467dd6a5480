package eval

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"offcut/models/absence"
)

var (
	// clauseEnd is where one thing that is said ends and another begins.
	clauseEnd = regexp.MustCompile(`(?i)[.!?]\s|[,;:\n。！？，；：—–]|\b(?:and|but|however|although|though|because|so)\b`)
	// noBefore is a no that what follows it is the object of.
	noBefore = regexp.MustCompile(`(?i)(?:\b(?:not|no|never|without|neither|nor)\b|n['’]t\b)(?:\W+\w+){0,3}?\W*$|(?:不是|没有|并非|不存在|不包含|未找到)[^\w]{0,12}$`)
	// limited is a no about something else.
	limited = regexp.MustCompile(`(?i)\b(?:other|else|except|besides|apart|than|only|just|doubt)\b|除|只|仅|其他|其它`)
)

// in reports whether an answer says it. A text that stands only where the answer
// says that it is not there is not said.
func (m Matcher) in(answer string) bool {
	switch {
	case m.Contains != "":
		return asserts(norm.NFKC.String(answer), norm.NFKC.String(m.Contains))
	case len(m.Any) > 0:
		return slices.ContainsFunc(m.Any, func(one Matcher) bool { return one.in(answer) })
	}
	return m.In(answer)
}

// asserts looks for a place of a text, in any case, that is not denied.
func asserts(answer, text string) bool {
	answer, text = strings.ToLower(answer), strings.ToLower(text)
	for from := 0; ; {
		at := strings.Index(answer[from:], text)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(text)
		if !denied(answer, at, from) {
			return true
		}
	}
}

// denied reports whether the clause around answer[from:to] says that it is not
// there, or is not it.
func denied(answer string, from, to int) bool {
	begin, end := 0, len(answer)
	if ends := clauseEnd.FindAllStringIndex(answer[:from], -1); len(ends) > 0 {
		begin = ends[len(ends)-1][1]
	}
	if next := clauseEnd.FindStringIndex(answer[to:]); next != nil {
		end = to + next[0]
	}
	around := answer[begin:from] + " it " + answer[to:end]
	if limited.MatchString(around) {
		return false
	}
	return noBefore.MatchString(answer[begin:from]) || len(absence.In(around)) > 0
}
