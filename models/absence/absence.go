// Package absence finds where a text says that something is not there. Whoever
// says so of something that they have read in part may be wrong in a way that
// nobody can see; so such a text is worth a second look where not all was read.
//
// It goes by phrases, in English and Chinese, sentence by sentence. What stands in
// code, quotations and quotation marks is somebody else's and says nothing;
// neither does a question, a condition or what is said of a part alone. It would
// rather miss one than see one where there is none.
package absence

import (
	"strings"
	"unicode/utf8"
)

// Claim is a sentence that says that something is absent.
type Claim struct {
	// Sentence is how it reads, without its Markdown and of at most MaxSentence
	// characters.
	Sentence string
	// Terms are what it names in code or quotation marks, in their order: one of
	// them may be what is absent, and can be searched for.
	Terms []string
	// Absent are those of the terms that stand for what is absent, and not for
	// where; Words are those of the sentence, in stretches of one line each, where
	// it has none.
	Absent []string
	Words  string
}

// MaxSentence bounds, in characters, how much of a sentence is quoted.
const MaxSentence = 200

// maxText bounds, in bytes, how much of a text is looked at: an answer is shorter,
// and what goes beyond is a listing.
const maxText = 64 << 10

// maxClaims bounds how many claims are taken of a text: one with more is a
// listing, too.
const maxClaims = 256

// In are the claims of a text in Markdown, in their order: the first maxClaims.
func In(markdown string) []Claim {
	var claims []Claim
	for _, s := range sentences(markdown) {
		if len(claims) == maxClaims {
			break
		}
		if s.absent() {
			claims = append(claims, Claim{Sentence: clipped(plain(s.restored())), Terms: s.terms(), Absent: s.absentTerms(), Words: s.words()})
		}
	}
	return claims
}

// NamesGap reports whether a text says itself that not all was read, or that
// something cannot be known.
func NamesGap(markdown string) bool {
	for _, s := range sentences(markdown) {
		if gaps.MatchString(simplified(s.text)) {
			return true
		}
	}
	return false
}

// absent reports whether the sentence says without reserve that something is not
// there.
func (s sentence) absent() bool {
	text := idioms.ReplaceAllString(simplified(bare.Replace(s.text)), " ")
	return !s.asks() && absences.MatchString(text) && !reserves.MatchString(text)
}

func (s sentence) asks() bool {
	end := strings.TrimRight(s.text, " \t*_)）”\"")
	return strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？")
}

func clipped(text string) string {
	if utf8.RuneCountInString(text) <= MaxSentence {
		return text
	}
	return string([]rune(text)[:MaxSentence]) + "…"
}
