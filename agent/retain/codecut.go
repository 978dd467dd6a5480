package retain

import (
	"bytes"
	"path"
	"strings"
)

// sourceExtensions are the file names that are taken for source code, in which
// a cut falls between the outermost declarations.
var sourceExtensions = func() map[string]bool {
	known := map[string]bool{}
	for ext := range strings.FieldsSeq(`.bash .c .cc .cpp .cs .css .cxx .dart .ex .exs .go .groovy .h .hh .hpp .hs .java
		.jl .js .jsx .kt .kts .less .lua .m .mjs .ml .mm .php .pl .pm .ps1 .py .pyi .r .rb .rs .scala .scss .sh .sol .sql
		.svelte .swift .tf .ts .tsx .vue .zig`) {
		known[ext] = true
	}
	return known
}()

// isSource reports whether a file's name is that of source code.
func isSource(name string) bool {
	return sourceExtensions[strings.ToLower(path.Ext(name))]
}

// codeBoundaryBefore is the last line within [from, to] of the text at which
// an outermost declaration begins, or -1.
func codeBoundaryBefore(text []byte, from, to int) int {
	outermost := indentation(text)
	for at := to; at >= from; at-- {
		if declares(text, at, outermost) {
			return at
		}
	}
	return -1
}

// codeBoundaryFrom is the first such line within [from, to], or -1.
func codeBoundaryFrom(text []byte, from, to int) int {
	outermost := indentation(text)
	for at := from; at <= to; at++ {
		if declares(text, at, outermost) {
			return at
		}
	}
	return -1
}

// declares reports whether an outermost declaration, or the comment before it,
// begins at a place: a line begins there, at the outermost indentation and not
// with a closing bracket, and the line before is blank, deeper or closes
// something.
func declares(text []byte, at, outermost int) bool {
	if at <= 0 || at >= len(text) || text[at-1] != '\n' {
		return false
	}
	line := lineAt(text, at)
	if blank(line) || indent(line) != outermost || closes(line) {
		return false
	}
	before := text[:at-1]
	previous := before[bytes.LastIndexByte(before, '\n')+1:]
	return blank(previous) || indent(previous) > outermost || closes(previous)
}

func lineAt(text []byte, at int) []byte {
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	return line
}

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

func closes(line []byte) bool {
	trimmed := bytes.TrimLeft(line, " \t")
	return len(trimmed) > 0 && strings.IndexByte("})]", trimmed[0]) >= 0
}

// indent is the number of spaces and tabs that a line begins with.
func indent(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }

// indentation is the least indentation of the whole lines of a text.
func indentation(text []byte) int {
	_, text, _ = bytes.Cut(text, []byte("\n")) // the first line may be cut
	least := -1
	for line := range bytes.Lines(text) {
		if n := indent(line); !blank(line) && (least < 0 || n < least) {
			least = n
		}
	}
	return max(0, least)
}
