package eval

import (
	"regexp"

	"offcut/models/absence"
)

// How people and models say that something cannot be known, in English and Chinese.
// An answer is read by them as a whole: they tell kinds of answers apart, not
// single claims.
var (
	unsurePhrases = regexp.MustCompile(`(?i)` +
		`\b(?:can(?:not|'t|’t| not)|could(?: not|n't|n’t)|unable to|not (?:possible|able) to|impossible to|no way (?:to|of))\s+(?:\w+\s+){0,3}?(?:know|known|knowing|tell|telling|told|say|said|determine|determined|confirm|confirmed|verify|verified|rule|ruled|exclude|excluded|establish|established|conclude|concluded|check|checked|be sure|be certain|answer|answered)\b` +
		`|(?:\bnot|n't|n’t) (?:be |entirely |quite )?(?:sure|certain|known|knowable|conclusive)\b` +
		`|\b(?:uncertain|unclear|inconclusive|unknowable|undetermined|indeterminate|unverifiable)\b` +
		`|\b(?:do|does)(?: not|n't|n’t) (?:know|prove)\b|\b(?:insufficient|not enough) (?:evidence|information|data)\b` +
		`|\b(?:may|might|could)(?: well| still| also)? (?:have (?:been|existed|contained|appeared|occurred|happened|stood|had|held|included|gone)|exist|be (?:there|in|among|present|elsewhere|part))\b` +
		`|\b(?:is|remains) unknown\b|\bcomplete\W{1,4}false\b` +
		`|\b(?:output|copy|capture|log|result|export|evidence|data|it) (?:is|was|are|were) (?:\w+ ){0,2}incomplete\b|\bincomplete (?:copy|output|capture|log|result|evidence|data)\b` +
		`|(?:无法|不能|没法|难以|未能|不可能)[^。！？\n]{0,8}?(?:确定|确认|判断|得知|知道|排除|保证|核实|断定|断言|肯定|回答)` +
		`|不确定|不得而知|未知|不完整|可能(?:仍|还|也|已)?(?:会)?(?:存在|有|在|被|出现)`)

	// curtNo are answers, and counts, that deny without a sentence about it.
	curtNo = regexp.MustCompile(`(?i)\A\W*(?:no\b|none\b|没有|没|否|不存在)|\b(?:0|zero) (?:of|\w+ (?:has|have|had|contain|match|carry))\b`)
)

// unsure: the text says that something cannot be known.
func unsure(text string) bool { return unsurePhrases.MatchString(text) }

// denies: the text says that something is not there, as if that were known.
func denies(text string) bool {
	return (curtNo.MatchString(text) || len(absence.In(text)) > 0) && !unsure(text)
}
