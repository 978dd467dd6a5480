package models

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxUserNameLength bounds a user's name, in characters.
const MaxUserNameLength = 64

// ValidateUserName refuses names that are empty, longer than 64 characters or
// hold other than letters, digits, dot, dash, underscore and at sign, and those
// that may be taken for other names: with marks that are not seen, with letters
// of two scripts, or with letters that are only shapes of others.
func ValidateUserName(name string) error {
	for _, r := range name {
		if unicode.Is(unicode.Cf, r) {
			return Errorf(ErrInvalid, "name_unseen",
				"a user name has no invisible characters or marks of direction; %q holds %s", name, Arg("mark", fmt.Sprintf("%U", r)))
		}
	}
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxUserNameLength || !beginsWithLetter(name) || strings.ContainsFunc(name, noNameCharacter) {
		return Errorf(ErrInvalid, "invalid_name",
			"a user name has 1 to 64 letters, digits, dots, dashes, underscores or at signs and begins with a letter or digit; %q is not one", name)
	}
	if one, other := scriptsOf(name); other != "" {
		return Errorf(ErrInvalid, "name_mixes_scripts",
			"a user name is written in one script, so that it cannot be taken for another name; %q mixes %s and %s",
			name, Arg("one", one), Arg("other", other))
	}
	return nil
}

func beginsWithLetter(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLetter(first) || unicode.IsNumber(first)
}

// noNameCharacter reports whether a name cannot hold r. Letters of no script,
// such as mathematical ones, and wide or raised forms of letters and digits look
// like others.
func noNameCharacter(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._@-", r)
	case r == longVowel:
		return false
	case r >= 0xFF00 && r <= 0xFFEF, unicode.Is(unicode.Lm, r): // wide forms; raised letters
		return true
	}
	return unicode.Is(unicode.Common, r) || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// longVowel lengthens a vowel in Hiragana and Katakana, and belongs to neither.
const longVowel = 'ー'

// scriptsOf are the script of a name and another that does not belong with it;
// empty where there is none. What Chinese, Japanese and Korean are written with
// counts as one script, and Latin letters may stand beside it: "highly
// restrictive" in UTS #39, section 5.2.
func scriptsOf(name string) (one, other string) {
	for _, r := range name {
		script := scriptOf(r)
		switch {
		case script == "" || script == one:
		case one == "":
			one = script
		case one == eastAsian && script == "Latin":
		case one == "Latin" && script == eastAsian:
			one = eastAsian
		default:
			return one, script
		}
	}
	return one, ""
}

const eastAsian = "Han"

// scriptOf is the script of a letter; empty of what belongs to none.
func scriptOf(r rune) string {
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == longVowel || unicode.Is(unicode.Common, r) {
		return ""
	}
	if unicode.In(r, unicode.Latin) {
		return "Latin"
	}
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul) {
		return eastAsian
	}
	for script, letters := range unicode.Scripts {
		if unicode.Is(letters, r) {
			return script
		}
	}
	return ""
}

// NameShape is what a name looks like: two names of one shape are taken for
// each other. Letters of other scripts that are drawn as Latin ones count as
// those; so "аnn" of a Cyrillic and "ann" of Latin letters alone have one shape.
// The pairs are those of Unicode's confusables.txt that fonts commonly draw
// alike, of the scripts that have whole words of them.
func NameShape(name string) string { return strings.ToLower(lookalikes.Replace(name)) }

var lookalikes = strings.NewReplacer(
	// Cyrillic
	"а", "a", "с", "c", "ԁ", "d", "е", "e", "һ", "h", "і", "i", "ј", "j", "ӏ", "l", "о", "o", "р", "p", "ԛ", "q", "г", "r", "ѕ", "s", "ѵ", "v",
	"ԝ", "w", "х", "x", "у", "y", "А", "A", "В", "B", "С", "C", "Е", "E", "Н", "H", "І", "I", "Ј", "J", "К", "K", "к", "k", "М", "M", "О", "O",
	"Р", "P", "Ѕ", "S", "Т", "T", "Ѵ", "V", "Ԝ", "W", "Х", "X", "У", "Y", "Ү", "Y", "Ӏ", "l", "п", "n", "ё", "ë", "ї", "ï",
	// Greek
	"α", "a", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "η", "n", "ϲ", "c", "ϳ", "j",
	"Α", "A", "Β", "B", "Ε", "E", "Ζ", "Z", "Η", "H", "Ι", "I", "Κ", "K", "Μ", "M", "Ν", "N", "Ο", "O", "Ρ", "P", "Τ", "T", "Υ", "Y", "Χ", "X",
	// Armenian
	"ո", "n", "ս", "u", "հ", "h", "օ", "o", "զ", "q", "ց", "g", "յ", "j", "Տ", "S", "Օ", "O", "Ս", "U",
)
