package views

import (
	"regexp"
	"strconv"
	"strings"
)

// maxDiffRows bounds a diff on the screen; the file itself has the rest.
const maxDiffRows = 2000

// diffRow is one line of a diff as it is shown.
type diffRow struct {
	// Class is add, del, hunk or empty for what stayed.
	Class string
	// Old and New are line numbers, empty where the line is not in that file.
	Old, New string
	Sign     string
	Text     string
}

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)`)

// diffRows reads a unified diff. It returns how many lines there are beyond
// maxDiffRows.
func diffRows(unified string) (rows []diffRow, more int) {
	before, after := 0, 0
	inHunk := false
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(line, "\n")
		if header := hunkHeader.FindStringSubmatch(line); header != nil {
			before, _ = strconv.Atoi(header[1])
			after, _ = strconv.Atoi(header[2])
			inHunk = true
		}
		row, shown := diffLine(line, inHunk, &before, &after)
		switch {
		case !shown:
		case len(rows) == maxDiffRows:
			more++
		default:
			rows = append(rows, row)
		}
	}
	return rows, more
}

// diffLine is one line of a diff; the lines before the first hunk name the
// file, which the card says already.
func diffLine(line string, inHunk bool, before, after *int) (diffRow, bool) {
	if !inHunk {
		return diffRow{}, false
	}
	if strings.HasPrefix(line, "@@ ") {
		return diffRow{Class: "hunk", Text: line}, true
	}
	sign, text := line, ""
	if line != "" {
		sign, text = line[:1], line[1:]
	}
	row := diffRow{Text: text}
	switch sign {
	case "+":
		row.Class, row.Sign, row.New = "add", "+", strconv.Itoa(*after)
		*after++
	case "-":
		row.Class, row.Sign, row.Old = "del", "−", strconv.Itoa(*before)
		*before++
	case `\`:
		return diffRow{Class: "hunk", Text: line}, true
	default:
		row.Old, row.New = strconv.Itoa(*before), strconv.Itoa(*after)
		*before++
		*after++
	}
	return row, true
}
