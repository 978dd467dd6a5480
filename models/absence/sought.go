package absence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/models"
)

// SoughtBy reports whether what the claim says is absent was looked for: a part
// of it, for where the part is nowhere the whole is not either. The searches are
// such as have found every place of what they look for. A claim that names
// nothing, such as that nothing was found, is about them.
func (c Claim) SoughtBy(sought []models.Sought) bool { return newFinder().speaks(c, sought) }

func (f *finder) speaks(c Claim, sought []models.Sought) bool {
	some := func(does func(search) bool) bool {
		return slices.ContainsFunc(sought, func(s models.Sought) bool { return does(f.search(s)) })
	}
	switch {
	case len(c.Absent) > 0:
		return !slices.ContainsFunc(c.Absent, func(term string) bool {
			return !some(func(s search) bool { return s.finds(padded(term)) })
		})
	case c.Words == "":
		return some(search.counts)
	}
	return some(func(s search) bool { return s.tells(c.Words) })
}

// telling reports whether words name something, and not only a kind of things.
func telling(words string) bool {
	return strings.ContainsFunc(kinds.ReplaceAllString(words, " "), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// absentTerms are the terms that do not stand after a word of place.
func (s sentence) absentTerms() []string {
	var absent []string
	before := s.text
	for _, text := range s.taken {
		at := strings.IndexRune(before, mark)
		term := termOf(text)
		if term != "" && !places.MatchString(before[:at]) {
			absent = append(absent, term)
		}
		before = before[at+len(string(mark)):]
	}
	return absent
}

// words are the sentence without what every sentence about an absence has. The
// first one also stands with a small letter, which only the sentence made a
// capital one.
func (s sentence) words() string {
	text := strings.ReplaceAll(strings.ReplaceAll(s.text, "*", ""), string(mark), "\n")
	first, size := utf8.DecodeRuneInString(text)
	found := stretches(text)
	for _, small := range stretches(string(unicode.ToLower(first)) + text[size:]) {
		if !slices.Contains(found, small) {
			found = append(found, small)
		}
	}
	return strings.Join(found, "\n")
}

// stretches are what lies between the words of grammar. None stands at the start
// or the end of its line: what a search finds only there says less.
func stretches(text string) []string {
	var found []string
	for line := range strings.Lines(grammar.ReplaceAllString(text, "\n")) {
		if line = strings.TrimSpace(line); telling(line) {
			found = append(found, padded(line))
		}
	}
	return found
}

func padded(text string) string { return " " + text + " " }
