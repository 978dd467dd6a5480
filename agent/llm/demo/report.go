package demo

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"offcut/models"
)

// result is a tool message taken apart.
type result struct {
	meta models.ResultMetadata
	body string
}

// parseResult splits the metadata line from the body.
func parseResult(content string) result {
	line, body, _ := strings.Cut(content, "\n")
	var r result
	if json.Unmarshal([]byte(line), &r.meta) != nil {
		return result{body: content} // not from us: all of it is body
	}
	r.body = body
	return r
}

// report says what a call returned, and what of it is missing.
func report(c call, r result, wishes []wish) string {
	var out []string
	switch {
	case r.meta.IsError:
		return fmt.Sprintf("The tool `%s` could not do it. It says:\n\n%s", c.Function.Name, block(excerpt(r.body, 20)))
	case c.Function.Name == "run_command":
		out = append(out, ran(c, r.meta), printed(c, r, wishes))
	case c.Function.Name == "run_script":
		out = append(out, scriptRan(r))
	case c.Function.Name == "read_file":
		out = append(out, fileRead(c, r))
	case c.Function.Name == "read_tool_output":
		out = append(out, pageRead(r))
	case c.Function.Name == "search_tool_output":
		out = append(out, fmt.Sprintf("The search for %s found this in the kept output:\n\n%s", inline(c.argument("pattern")), block(excerpt(r.body, 20))))
	default:
		out = append(out, fmt.Sprintf("`%s` says:\n\n%s", c.Function.Name, block(excerpt(r.body, 30))))
	}
	if gap := missing(r.meta); gap != "" {
		out = append(out, gap)
	}
	return strings.Join(out, "\n\n")
}

// scriptRan quotes what a script printed and returned, and counts what is kept
// of its calls.
func scriptRan(r result) string {
	said := "The script ran. It gave back:\n\n" + block(excerpt(r.body, 20))
	if n := len(r.meta.Nested); n > 0 {
		said += fmt.Sprintf("\n\nLong results of its calls are kept beside that: %d, which the rows of its card open.", n)
	}
	return said
}

// ran says how a command ended.
func ran(c call, m models.ResultMetadata) string {
	how := "ran"
	switch {
	case m.TimedOut:
		how = "was ended by its time limit"
	case m.Signal != "":
		how = "was ended by the signal " + m.Signal
	case m.ExitCode != nil:
		how = fmt.Sprintf("ended with exit code %d", *m.ExitCode)
	}
	if m.ExecutionMS != nil {
		how += fmt.Sprintf(" after %d ms", *m.ExecutionMS)
	}
	return inline(c.argument("command")) + " " + how + "."
}

// printed quotes what a command printed: the line that was asked for, or as
// much as is easily read.
func printed(c call, r result, wishes []wish) string {
	if r.body == "(no output)" {
		return "It printed nothing."
	}
	last, first := asked(c, wishes)
	lines := strings.Split(strings.TrimRight(r.body, "\n"), "\n")
	switch {
	case last && !tailShown(r.meta):
		return "I was not shown its last line: the end of the output is only in the kept copy."
	case last:
		return "The last line is:\n\n" + block(lines[len(lines)-1])
	case first:
		return "The first line is:\n\n" + block(lines[0])
	case len(lines) > 20 && !tailShown(r.meta):
		return "I was shown its beginning:\n\n" + block(strings.Join(lines[:5], "\n"))
	case len(lines) > 20:
		return "It ends so:\n\n" + block(strings.Join(lines[len(lines)-5:], "\n"))
	}
	return "It printed:\n\n" + block(excerpt(r.body, 20))
}

// asked reports whether the last or the first line of this command was asked
// for.
func asked(c call, wishes []wish) (last, first bool) {
	for _, w := range wishes {
		for _, command := range w.commands {
			if strings.TrimSpace(command) == c.argument("command") {
				last, first = last || w.last, first || w.first
			}
		}
	}
	return last, first
}

// tailShown reports whether the end of the kept copy stands in the body.
func tailShown(m models.ResultMetadata) bool {
	if m.OutputID == "" || m.TotalBytes == nil || len(m.Shown) == 0 {
		return true
	}
	return m.Shown[len(m.Shown)-1].End == *m.TotalBytes
}

func fileRead(c call, r result) string {
	if r.body == "" {
		return fmt.Sprintf("%s has nothing there.", inline(c.argument("path")))
	}
	said := fmt.Sprintf("%s from line %s on:\n\n%s", inline(c.argument("path")), c.argument("line"), block(excerpt(r.body, 10)))
	if r.meta.FileHasMore != nil && *r.meta.FileHasMore && r.meta.NextLine != nil {
		said += fmt.Sprintf("\n\nThe file goes on at line %d.", *r.meta.NextLine)
	}
	return said
}

func pageRead(r result) string {
	said := "The page reads:\n\n" + block(excerpt(r.body, 10))
	switch {
	case r.meta.HasMore == nil || r.meta.NextOffset == nil:
	case *r.meta.HasMore:
		said += fmt.Sprintf("\n\nThe kept text goes on at byte %d.", *r.meta.NextOffset)
	default:
		said += "\n\nThat is the end of the kept text."
	}
	return said
}

// missing names what of a result was not shown, and what was not kept.
func missing(m models.ResultMetadata) string {
	var out []string
	if m.Truncated && m.OutputID != "" && m.TotalBytes != nil {
		seen := int64(0)
		for _, r := range m.Shown {
			seen += r.Len()
		}
		out = append(out, fmt.Sprintf("I was shown %s of its %s bytes. All that was kept is in %s: ask me to find a text in the last kept output, or open it on the card.",
			grouped(seen), grouped(*m.TotalBytes), inline(m.OutputID)))
	}
	if m.Complete != nil && !*m.Complete {
		gap := "The kept copy is not all that the tool returned"
		if m.OmittedBytes != nil && *m.OmittedBytes > 0 {
			gap += fmt.Sprintf(": %s bytes are missing from it", grouped(*m.OmittedBytes))
		}
		out = append(out, gap+", so what is not in it may still have been there.")
	}
	if m.Retention == models.RetentionFailed {
		out = append(out, "The rest could not be kept and cannot be read later.")
	}
	return strings.Join(out, " ")
}

// excerpt is at most that many lines, and 2,000 bytes, of the beginning of s.
func excerpt(s string, lines int) string {
	const most = 2000
	s = strings.TrimRight(s, "\n")
	cut := false
	if split := strings.Split(s, "\n"); len(split) > lines {
		s, cut = strings.Join(split[:lines], "\n"), true
	}
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), true
	}
	if cut {
		s += "\n…"
	}
	return s
}

// block is s as a code block, whose fence is longer than any in s.
func block(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + s + "\n" + fence
}

// inline is s as code within a sentence, on one line.
func inline(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// grouped is n with commas between its thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
