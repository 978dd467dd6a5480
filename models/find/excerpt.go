package find

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a stretch of an excerpt; Hit: it is what was looked for.
type Span struct {
	Text string
	Hit  bool
}

// Excerpt is the surroundings of the first of the folded words in text, as one
// line of about width characters with every hit in it marked, and dots where
// the text goes on. Without any hit it is nil.
func Excerpt(text string, words []string, width int) []Span {
	hits := findAll(text, words)
	if len(hits) == 0 {
		return nil
	}
	start := back(text, hits[0].start, width/3)
	end := forward(text, max(start, hits[0].end), width-width/3)
	var spans []Span
	if start > 0 {
		spans = append(spans, Span{Text: "… "})
	}
	at := start
	for _, hit := range hits {
		if hit.start >= end {
			break
		}
		stop := min(hit.end, end)
		spans = append(spans, Span{Text: oneLine(text[at:hit.start])}, Span{Text: oneLine(text[hit.start:stop]), Hit: true})
		at = stop
	}
	spans = append(spans, Span{Text: oneLine(text[at:end])})
	if end < len(text) {
		spans = append(spans, Span{Text: " …"})
	}
	return withoutEmpty(spans)
}

type hit struct{ start, end int }

// maxHits is how many hits of one word are looked at: more than an excerpt has
// room for.
const maxHits = 100

// findAll is where the words stand, in order and without overlaps.
func findAll(text string, words []string) []hit {
	folded, at := foldedWithOffsets(text)
	var all []hit
	for _, word := range words {
		for from, n := 0, 0; word != "" && n < maxHits; n++ {
			i := strings.Index(folded[from:], word)
			if i < 0 {
				break
			}
			all = append(all, hit{at(from + i), at(from + i + len(word))})
			from += i + len(word)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].start != all[j].start {
			return all[i].start < all[j].start
		}
		return all[i].end > all[j].end
	})
	apart := all[:0]
	for _, one := range all {
		if n := len(apart); n == 0 || one.start >= apart[n-1].end {
			apart = append(apart, one)
		}
	}
	return apart
}

// foldedWithOffsets is text folded, and where in text a place of it stands.
// Folding rarely changes how many bytes a character takes.
func foldedWithOffsets(text string) (string, func(int) int) {
	folded := Fold(text)
	same := len(folded) == len(text)
	for i := 0; same && i < len(text); {
		_, n := utf8.DecodeRuneInString(text[i:])
		_, m := utf8.DecodeRuneInString(folded[i:])
		same = n == m
		i += n
	}
	if same {
		return folded, func(i int) int { return i }
	}
	offsets := make([]int, 0, len(folded)+1)
	for i, r := range text {
		for range utf8.RuneLen(unicode.ToLower(r)) {
			offsets = append(offsets, i)
		}
	}
	offsets = append(offsets, len(text))
	return folded, func(i int) int { return offsets[min(i, len(offsets)-1)] }
}

// back is the place about n characters before i, at the start of a word where
// one begins on the way.
func back(text string, i, n int) int {
	start := i
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	if space := strings.IndexFunc(text[start:i], unicode.IsSpace); start > 0 && space >= 0 {
		start += space
	}
	return start
}

// forward is the place n characters after i, or the end.
func forward(text string, i, n int) int {
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return i
}

// oneLine has single spaces for white space, and none of the characters that
// are not to be seen or turn the direction of what follows.
func oneLine(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
		case !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			b.WriteRune(r)
			space = false
		}
	}
	return b.String()
}

func withoutEmpty(spans []Span) []Span {
	kept := spans[:0]
	for _, span := range spans {
		if span.Text != "" {
			kept = append(kept, span)
		}
	}
	return kept
}
