package demo

import (
	"regexp"
	"strings"
)

// How people ask for a file to be written.
var (
	writeLines = regexp.MustCompile(`(?is)^(?:write|create|save|make)\s+(?:a\s+|the\s+)?(?:file\s+)?(?:named\s+|called\s+)?(\S+?)\s+(?:with|of)\s+(?:the\s+)?lines\s*:?\s*([^\n]+)$`)
	writeWith  = regexp.MustCompile(`(?is)^(?:write|create|save|make)\s+(?:a\s+|the\s+)?(?:file\s+)?(?:named\s+|called\s+)?(\S+?)\s*(?::|\s(?:with|containing|saying)\s+(?:the\s+)?(?:text|content|contents|lines?)?\s*:?)\s*(.+)$`)
	writeTo    = regexp.MustCompile(`(?is)^(?:write|save|put)\s+(.+)\s+(?:to|into)\s+(?:a\s+|the\s+)?(?:file\s+)?(?:named\s+|called\s+)?(\S+?)[.]?$`)
	writeBare  = regexp.MustCompile(`(?i)^(?:write|create|make)\s+(?:a\s+|the\s+)?(?:file\s+)?(?:named\s+|called\s+)?(\S+?)[.,]?$`)
)

func asWrite(text string) (wish, bool) {
	if m := writeLines.FindStringSubmatch(text); m != nil {
		return wish{verb: verbWrite, path: fileName(m[1]), text: linesOf(m[2])}, true
	}
	if m := writeWith.FindStringSubmatch(text); m != nil {
		return wish{verb: verbWrite, path: fileName(m[1]), text: unquoted(m[2])}, true
	}
	if m := writeTo.FindStringSubmatch(text); m != nil {
		return wish{verb: verbWrite, path: fileName(m[2]), text: unquoted(m[1])}, true
	}
	if m := writeBare.FindStringSubmatch(text); m != nil {
		return wish{verb: verbWrite, path: fileName(m[1])}, true
	}
	return wish{}, false
}

// fileName is a path as it was written, or one of our own where there is none.

// enumerated is what stands between the parts of "one, two and three".
var enumerated = regexp.MustCompile(`,\s+and\s+|,\s*|\s+and\s+`)

// linesOf are the parts of an enumeration, each on a line of its own.
func linesOf(enumeration string) string {
	lines := enumerated.Split(strings.TrimRight(enumeration, ". "), -1)
	for i, line := range lines {
		lines[i] = unquoted(line)
	}
	return strings.Join(lines, "\n") + "\n"
}
