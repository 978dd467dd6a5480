package absence

import (
	"regexp"
	"strings"
	"unicode"
)

// sentence is one of a text, with a mark in the place of each stretch of it that
// is somebody else's.
type sentence struct {
	text  string
	taken []string // what the marks stand for, in their order, as it was written
}

// mark stands for a stretch that was taken out. It is no letter, and nobody
// writes it: Unicode leaves it to private use.
const mark = '\uE0F2'

// foreign are inline code, links' addresses, and what stands in quotation marks.
var foreign = regexp.MustCompile("``[^\n]+?``|`[^`\n]+`|\\]\\([^)\n]*\\)|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|『[^』\n]{1,300}』|《[^》\n]{1,300}》")

// sentences takes a text in Markdown apart. Fenced code and quotations are left
// out.
func sentences(markdown string) []sentence {
	var all []sentence
	markdown = strings.ToValidUTF8(markdown[:min(len(markdown), maxText)], "")
	for _, p := range paragraphs(markdown) {
		s := sentence{}
		s.text = foreign.ReplaceAllStringFunc(strings.ReplaceAll(p, string(mark), ""), func(found string) string {
			s.taken = append(s.taken, found)
			return string(mark)
		})
		all = append(all, s.split()...)
	}
	return all
}

// paragraphs are the stretches of a text within which sentences go on over line
// breaks: paragraphs, items of lists, headings and rows.
func paragraphs(markdown string) []string {
	var list []string
	var open strings.Builder
	end := func() {
		if open.Len() > 0 {
			list = append(list, open.String())
			open.Reset()
		}
	}
	fence := ""
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			end()
			fence = line[:3]
		case line == "", strings.HasPrefix(line, ">"):
			end()
		default:
			if begins.MatchString(line) {
				end()
				line = begins.ReplaceAllString(line, "")
			}
			if open.Len() > 0 {
				open.WriteByte(' ')
			}
			open.WriteString(line)
		}
	}
	end()
	return list
}

// begins is how a line starts that does not go on with the one before.
var begins = regexp.MustCompile(`^(?:[-*+]\s|\d+[.)]\s|#+\s|\|)\s*`)

// split takes a paragraph apart at the ends of its sentences. A full stop ends
// one only before white space: file names and numbers have some too.
func (s sentence) split() []sentence {
	var all []sentence
	rest := s.taken
	add := func(text string) {
		n := strings.Count(text, string(mark))
		if strings.TrimSpace(text) != "" {
			all = append(all, sentence{strings.TrimSpace(text), rest[:n]})
		}
		rest = rest[n:]
	}
	runes, from := []rune(s.text), 0
	for i, r := range runes {
		stop := strings.ContainsRune("。！？；", r)
		if strings.ContainsRune(".!?;", r) {
			stop = i+1 == len(runes) || unicode.IsSpace(runes[i+1])
		}
		if stop {
			add(string(runes[from : i+1]))
			from = i + 1
		}
	}
	add(string(runes[from:]))
	return all
}

// restored is the sentence as it was written.
func (s sentence) restored() string {
	var b strings.Builder
	next := 0
	for _, r := range s.text {
		if r == mark {
			b.WriteString(s.taken[next])
			next++
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// maxTerm bounds what can be a term, in bytes: a longer stretch is no name.
const maxTerm = 200

// terms are what the sentence has in code or quotation marks.
func (s sentence) terms() []string {
	var terms []string
	for _, text := range s.taken {
		if term := termOf(text); term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}

// termOf is what stands in code or quotation marks; empty of what is no term.
func termOf(text string) string {
	if strings.HasPrefix(text, "](") {
		return "" // the address of a link
	}
	term := strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("`\"“”「」『』《》", r) })
	if len(term) > maxTerm {
		return ""
	}
	return term
}
