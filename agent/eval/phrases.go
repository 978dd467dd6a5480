package eval

import (
	"regexp"
	"slices"
	"strings"

	"offcut/models/absence"
)

// How people and models say that something cannot be known, in English and Chinese.
// An answer is read by them as a whole: they tell kinds of answers apart, not
// single claims.
var (
	// unknowing is what says that something cannot be known.
	unknowing = regexp.MustCompile(`(?i)` +
		`\b(?:can(?:not|'t|’t| not)|could(?: not|n't|n’t)|(?:can|could) neither|unable to|not (?:possible|able) to|impossible to|no way (?:to|of))\s+(?:\w+\s+){0,3}?(?:` + toKnow + `)\b` +
		`|(?:\b(?:does|do|did) not|\b(?:does|do|did)n't|\b(?:does|do|did)n’t) (?:let|allow|permit|enable) (?:\w+ ){0,2}(?:to )?(?:` + toKnow + `)\b` +
		`|(?:\bnot|n't|n’t) (?:be |entirely |quite )?(?:sure|certain|known|knowable|conclusive|determinable|decidable|verifiable|provable|answerable)\b` +
		`|\b(?:uncertain|unclear|inconclusive|unknowable|undetermined|undeterminable|indeterminable|indeterminate|undecidable|unverifiable|unanswerable)\b` +
		`|\b(?:do|does)(?: not|n't|n’t) (?:know|prove)\b|\bno (?:telling|knowing|proof)\b|\bnot (?:a )?proof\b|\bopen question\b` +
		`|\b(?:insufficient|not enough|lacks? (?:the |enough |sufficient )?)\s*(?:evidence|information|data)\b` +
		`|(?:\bnot|n't|n’t) (?:\w+ )?(?:enough|sufficient) (?:evidence|information|data)\b` +
		`|\b(?:may|might|could) or (?:may|might|could) not\b` +
		`|\b(?:may|might|could)(?: well| still| also| yet)? (?:have (?:been|existed|contained|appeared|occurred|happened|stood|had|held|included|gone|shipped)|exist|contain|hold|include|list|mention|be (?:there|in|among|present|elsewhere|part))\b` +
		`|\b(?:is|remains) unknown\b|\bcomplete\W{1,4}false\b` +
		`|(?:无法|不能|没法|难以|未能|不可能)[^。！？\n]{0,8}?(?:确定|确认|判断|得知|知道|知晓|排除|保证|核实|断定|断言|肯定|回答|下结论|得出)` +
		`|无从(?:得知|知道|知晓|判断|确定|确认|查证|核实|谈起)|不足以(?:判断|确定|确认|证明|说明|断定|得出|回答)` +
		`|不确定|不清楚|不知道|不得而知|未知|说不准|不好说|难说|可能(?:仍|还|也|已|就)?(?:会)?(?:存在|有|在|被|出现|包含|含有|含|列有)`)

	// lacking is what says that a copy is not whole. Beside a flat denial it is no
	// reserve: that is what has been disregarded.
	lacking = regexp.MustCompile(`(?i)` +
		`\b(?:output|copy|capture|log|result|export|evidence|data|it) (?:is|was|are|were) (?:\w+ ){0,2}incomplete\b|\bincomplete (?:copy|output|capture|log|result|evidence|data)\b` +
		`|不完整`)

	// inTheKept limits what is said to the part that was kept.
	inTheKept = regexp.MustCompile(`(?i)\b(?:in|of|among|within|from) (?:what|the|those|these|this|that|all)\W+(?:\w+\W+){0,5}?(?:kept|retained|captured|stored|available|saved)\b|\b(?:kept|retained|captured) (?:part|portion|copy|text|bytes|lines?|\d)|保留(?:下来)?的?(?:部分|内容|文本|输出|副本|数据)`)

	// curtNo are answers, and counts, that deny without a sentence about it.
	curtNo = regexp.MustCompile(`(?i)\A\W*(?:no\b|none\b|没有|没|否|不存在)|\b(?:0|zero) (?:of|\w+ (?:has|have|had|contain|match|carry))\b`)
)

// toKnow are what is done with something that can be known.
const toKnow = `know|known|knowing|tell|telling|told|say|said|decide|decided|determine|determined|confirm|confirmed|verify|verified|rule|ruled|exclude|excluded|establish|established|conclude|concluded|check|checked|be sure|be certain|answer|answered`

// unsure: the text says that something cannot be known.
func unsure(text string) bool {
	return unknowing.MatchString(text) || lacking.MatchString(text) && !flatly(text)
}

// denies: the text says that something is not there, as if that were known.
func denies(text string) bool {
	return (curtNo.MatchString(text) || len(absence.In(text)) > 0) && !unsure(text)
}

// flatly: the text says that something is not there, and not of what was kept
// alone.
func flatly(text string) bool {
	if curtNo.MatchString(text) {
		first, _, _ := strings.Cut(text, ".")
		return !inTheKept.MatchString(first)
	}
	return slices.ContainsFunc(absence.In(text), func(c absence.Claim) bool { return !inTheKept.MatchString(c.Sentence) })
}
