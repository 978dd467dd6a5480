package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"offcut/agent"
)

//go:embed edit_file.md
var editFileDescription string

// maxPlaces bounds how many places an error names.
const maxPlaces = 10

type editFileArgs struct {
	Path       string `json:"path" jsonschema:"the file, relative to the workspace"`
	OldString  string `json:"old_string" jsonschema:"the text to replace, exactly as it stands in the file"`
	NewString  string `json:"new_string" jsonschema:"what to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every place where the text stands"`
}

type editFile struct{ folders folders }

func newEditFile(f folders) agent.Tool {
	t := editFile{f}
	return newTyped(agent.ToolSpec{Name: "edit_file", Description: editFileDescription, HasEffects: true, Deed: agent.DeedChange}, t.run,
		standard("replace_all", false))
}

func (t editFile) run(ctx context.Context, call agent.Call, args editFileArgs) (agent.ToolResult, error) {
	switch args.OldString {
	case "":
		return agent.ToolResult{}, refusef("old_string is empty. Use write_file to write a whole file.")
	case args.NewString:
		return agent.ToolResult{}, refusef("old_string and new_string are the same: nothing would change.")
	}
	raw, target, err := t.folders.readWhole(call, args.Path)
	if err != nil {
		return agent.ToolResult{}, err
	}
	if !target.exists {
		return agent.ToolResult{}, refusef("There is no %s. Use write_file to make it.", target.shown)
	}
	e := sniff([]byte(raw[:min(len(raw), sniffBytes)]))
	if e.binary {
		return agent.ToolResult{}, refusef("%s is a binary file, which cannot be edited as text.", target.shown)
	}
	text, _, replaced := e.decode([]byte(raw[e.bom:]), 2*len(raw)+4)
	if replaced > 0 {
		return agent.ToolResult{}, refusef("%s is not valid %s; editing it would damage it. Change it with a command.", target.shown, e.charset())
	}
	edited, err := replaceIn(text, args, e, target.shown)
	if err != nil {
		return agent.ToolResult{}, err
	}
	content := e.encode(edited)
	if len(content) > maxWriteBytes {
		return agent.ToolResult{}, refusef("The file would have %d bytes; at most %d can be written.", len(content), maxWriteBytes)
	}
	if err := target.checkRoom(ctx, call, len(content)); err != nil {
		return agent.ToolResult{}, err
	}
	if err := target.replace(content); err != nil {
		return agent.ToolResult{}, err
	}
	return changed("Edited", target.shown, text, edited), nil
}

// replaceIn makes the change, or says why there is none to make. In a file
// whose lines end with CRLF a text given with plain newlines is meant so too.
func replaceIn(text string, args editFileArgs, e encoding, shown string) (string, error) {
	old, now := args.OldString, args.NewString
	if e.crlf && !strings.Contains(text, old) && !strings.Contains(old, "\r") {
		old, now = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(now, "\n", "\r\n")
	}
	switch n := strings.Count(text, old); {
	case n == 0:
		return "", refusef("old_string does not stand in %s.%s", shown, nearly(text, args.OldString))
	case n > 1 && !args.ReplaceAll:
		return "", refusef("old_string stands %d times in %s, %s. Give more of the lines around it, or set replace_all.", n, shown, atLines(linesOf(text, old)))
	}
	return strings.ReplaceAll(text, old, now), nil
}

// linesOf are the numbers of the lines in which a text begins.
func linesOf(text, part string) []int {
	var found []int
	line, at := 1, 0
	for len(found) <= maxPlaces {
		i := strings.Index(text[at:], part)
		if i < 0 {
			break
		}
		line += strings.Count(text[at:at+i], "\n")
		found = append(found, line)
		line += strings.Count(part, "\n")
		at += i + len(part)
	}
	return found
}

func atLines(lines []int) string {
	word := "at line"
	if len(lines) > 1 {
		word = "at lines"
	}
	for i, n := range lines {
		switch {
		case i == maxPlaces:
			return word + " and further"
		case i > 0:
			word += ","
		}
		word += fmt.Sprintf(" %d", n)
	}
	return word
}

// nearly names the lines that begin like the text, but for the spaces around
// them: the usual reason why a text is not found.
func nearly(text, part string) string {
	first := ""
	for line := range strings.Lines(part) {
		if first = strings.TrimSpace(line); first != "" {
			break
		}
	}
	if first == "" {
		return ""
	}
	var found []int
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.TrimSpace(line) == first && len(found) <= maxPlaces {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return " Read the file to see what it holds."
	}
	return fmt.Sprintf(" Its first line stands %s, but the spaces or what follows differ: read the file there.", atLines(found))
}

// charset is the encoding's name, without what is said of its mark.
func (e encoding) charset() string {
	name, _, _ := strings.Cut(e.name, " ")
	if name == "" {
		return "UTF-8"
	}
	return name
}
