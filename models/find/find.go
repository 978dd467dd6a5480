// Package find says what it means that a text holds the words of a search, and
// cuts the excerpt that shows it. The database and the pages ask it alike, so
// that what is found is what is marked.
package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/models"
)

// MaxWords bounds the words of one search: each is a question of its own to the
// index.
const MaxWords = 12

// Words takes a search apart. Words stand between white space and are looked
// for as they are: no character of them is an operator. What stands between
// double quotes is one word, spaces included. They come folded (see Fold), each
// once. More than MaxWords are models.ErrInvalid.
func Words(query string) ([]string, error) {
	var words []string
	seen := map[string]bool{}
	for rest := strings.TrimSpace(query); rest != ""; rest = strings.TrimSpace(rest) {
		var word string
		word, rest = nextWord(rest)
		if word = Fold(word); seen[word] {
			continue
		}
		if len(words) == MaxWords {
			return nil, models.Errorf(models.ErrInvalid, "search_too_many_words", "a search has at most %d different words; leave some out", models.Arg("most", MaxWords))
		}
		seen[word] = true
		words = append(words, word)
	}
	return words, nil
}

// nextWord is the first word of a text that begins with one, and what follows.
// Quotes that do not enclose anything stand for themselves.
func nextWord(text string) (word, rest string) {
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		if end := closingQuote(inner); end > 0 && strings.TrimSpace(inner[:end]) != "" {
			return inner[:end], inner[end+1:]
		}
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// closingQuote is where the first quote stands that white space or the end
// follows; -1: nowhere. Another one, as in {"a": 1}, is a character of a word.
func closingQuote(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+1:])
		if i+1 == len(text) || unicode.IsSpace(next) {
			return i
		}
	}
	return -1
}

// Fold is text without the difference of upper and lower case.
func Fold(text string) string { return strings.Map(unicode.ToLower, text) }

// Holds reports whether a folded word stands in text, in whatever case.
func Holds(text, word string) bool {
	return strings.Contains(text, word) || strings.Contains(Fold(text), word)
}
