package retain

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"offcut/models"
)

// compile makes an expression of a pattern. Its errors are models.ErrInvalid.
func compile(pattern string, isRegexp bool) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, models.Errorf(models.ErrInvalid, "empty_pattern", "the pattern is empty; say what to look for")
	case len(pattern) > MaxPatternBytes:
		return nil, models.Errorf(models.ErrInvalid, "pattern_too_long", "a pattern has at most %d bytes; this one has %d", models.Arg("most", MaxPatternBytes), models.Arg("has", len(pattern)))
	case !utf8.ValidString(pattern):
		return nil, models.Errorf(models.ErrInvalid, "invalid_utf8", "the pattern is not valid UTF-8")
	}
	if !isRegexp {
		return regexp.Compile(regexp.QuoteMeta(pattern))
	}
	// Alone first, so that the error quotes the pattern as it was given.
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, models.Errorf(models.ErrInvalid, "invalid_pattern", "the pattern is no regular expression of RE2: %s", models.Arg("why", err))
	}
	pattern = "(?m)" + pattern
	expr, err := regexp.Compile(pattern)
	if err != nil {
		return nil, models.Errorf(models.ErrInvalid, "invalid_pattern", "the pattern is no regular expression of RE2: %s", models.Arg("why", err))
	}
	return expr, checkCost(pattern)
}

// checkCost refuses a valid expression that would cost too much, or that could
// find nothing but empty texts.
func checkCost(pattern string) error {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return err
	}
	program, err := syntax.Compile(tree.Simplify())
	switch {
	case err != nil:
		return err
	case len(program.Inst) > models.MaxPatternSteps:
		return models.Errorf(models.ErrInvalid, "pattern_too_costly",
			"the regular expression is too costly: it takes %d steps, and at most %d are possible; let it repeat less, or look for plain text", len(program.Inst), models.MaxPatternSteps)
	case canBeEmpty(tree):
		return models.Errorf(models.ErrInvalid, "empty_pattern",
			"the regular expression also matches an empty text, which is everywhere; let it match at least one character")
	}
	return nil
}

// canBeEmpty: the expression matches a text without a character.
func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpNoMatch, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return canBeEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || canBeEmpty(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, canBeEmpty)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !canBeEmpty(sub) })
	}
	return true // what repeats from zero times on, and what only looks around
}
