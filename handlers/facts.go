package handlers

import (
	"strings"

	"offcut/models"
	"offcut/views"
)

// factOf is what a call came to, which stands in its row where a command's exit
// code stands. It is counted in the stored body, which is bounded.
func factOf(tool string, meta models.ResultMetadata, body string) views.Fact {
	if meta.IsError {
		return views.Fact{}
	}
	switch tool {
	case "write_file", "edit_file":
		c := changesOf(tool, body)
		if c.added+c.removed > 0 {
			return views.Fact{Kind: views.FactChange, N: int64(c.added), M: int64(c.removed)}
		}
	case scriptTool:
		return views.Fact{Kind: views.FactReturned}
	case "list_files":
		return entriesIn(body, meta.Truncated)
	case "search_files":
		return views.Fact{Kind: views.FactHits, N: int64(len(listed(body))), More: meta.Truncated}
	case "search_tool_output":
		return views.Fact{Kind: views.FactHits, N: int64(len(listed(body)))}
	case "read_tool_output":
		if meta.Offset != nil && meta.NextOffset != nil {
			return views.Fact{Kind: views.FactRange, N: *meta.Offset, M: *meta.NextOffset}
		}
	case "read_file":
		return linesIn(body)
	}
	return views.Fact{}
}

// listed are the lines of a list, without the notes in parentheses after it.
func listed(body string) []string {
	lines := strings.Split(body, "\n")
	for n := len(lines); n > 0; n-- {
		last := lines[n-1]
		note := strings.HasPrefix(last, "(") && strings.HasSuffix(last, ")")
		if last != "" && !note {
			return lines[:n]
		}
	}
	return nil
}

// entriesIn counts the entries of a folder: as files, where all of them are.
func entriesIn(body string, more bool) views.Fact {
	lines := listed(body)
	fact := views.Fact{Kind: views.FactFiles, N: int64(len(lines)), More: more}
	for _, line := range lines {
		if strings.HasSuffix(line, "/") {
			fact.Kind = views.FactEntries
		}
	}
	return fact
}

// linesIn counts the lines of a page of a file; of one that is a piece of a
// line, the bytes.
func linesIn(body string) views.Fact {
	n := int64(strings.Count(body, "\n"))
	switch {
	case n == 0 && body != "":
		return views.Fact{Kind: views.FactBytes, N: int64(len(body))}
	case !strings.HasSuffix(body, "\n") && body != "":
		n++
	}
	return views.Fact{Kind: views.FactLines, N: n}
}
