package tools

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"offcut/agent"
	"offcut/models"
)

//go:embed list_files.md
var listFilesDescription string

// maxListed bounds how many entries are listed.
const maxListed = 1000

type listFilesArgs struct {
	Path    string `json:"path,omitempty" jsonschema:"the folder, relative to the workspace"`
	Pattern string `json:"pattern,omitempty" jsonschema:"a glob for the path below the folder; ** stands for folders of any depth"`
}

type listFiles struct{ folders folders }

func newListFiles(f folders) agent.Tool {
	t := listFiles{f}
	return newTyped(agent.ToolSpec{Name: "list_files", Description: listFilesDescription}, t.run,
		standard("path", "."), standard("pattern", "*"))
}

func (t listFiles) run(ctx context.Context, call agent.Call, args listFilesArgs) (agent.ToolResult, error) {
	pattern, err := globPattern(args.Pattern)
	if err != nil {
		return agent.ToolResult{}, err
	}
	folder, info, place, err := t.folders.open(call, args.Path)
	if err != nil {
		return agent.ToolResult{}, err
	}
	_ = folder.Close()
	if !info.IsDir() {
		return agent.ToolResult{}, refusef("%s is a file, not a folder. read_file reads it.", place.shown)
	}

	w := walk{folders: t.folders, place: place}
	if !strings.Contains(pattern, "**") {
		w.depth = strings.Count(pattern, "/") + 1
	}
	list := bounded{entries: maxListed, bytes: pageBudget(call)}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	err = w.run(ctx, func(e entry) error {
		if doublestar.MatchUnvalidated(pattern, e.inside) {
			list.add(clean(nameOf(e)))
		}
		return nil
	})
	if err != nil {
		return agent.ToolResult{}, err
	}
	notes := w.leftOut()
	if list.total == 0 {
		notes = append([]string{"(nothing matches)"}, notes...)
	}
	if left := list.total - list.taken; left > 0 {
		notes = append(notes, fmt.Sprintf("(%s not shown; use a narrower pattern)", counted(left, "more entry is", "more entries are")))
	}
	return list.result(notes, w.unfinished != ""), nil
}

// nameOf is an entry as it can be given to the other tools. A line break in a
// name is shown so that one line stays one entry.
func nameOf(e entry) string {
	name := strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(e.place.shown)
	switch {
	case e.kind.IsDir():
		return name + "/"
	case e.kind&fs.ModeSymlink != 0:
		return name + " (a link)"
	case !e.kind.IsRegular():
		return name + " (a " + special(e.kind) + ")"
	}
	return name
}

// bounded collects lines up to a number and a size, and counts the rest.
type bounded struct {
	entries, bytes int
	taken, total   int64
	body           strings.Builder
}

// notesBytes is what a list leaves for the notes after it.
const notesBytes = 1 << 10

func (b *bounded) add(line string) (took bool) {
	b.total++
	if b.taken < b.total-1 || b.taken == int64(b.entries) || b.body.Len()+len(line)+1 > b.bytes-notesBytes {
		return false
	}
	b.taken++
	b.body.WriteString(line)
	b.body.WriteByte('\n')
	return true
}

// result is the list with its notes. It is cut where not all of it is there.
func (b *bounded) result(notes []string, cut bool) agent.ToolResult {
	meta := models.ResultMetadata{Truncated: cut || b.taken < b.total}
	switch {
	case b.taken < b.total && b.taken < int64(b.entries):
		meta.Reasons = []models.Reason{fullReason(b.bytes)}
	case meta.Truncated:
		meta.Reasons = []models.Reason{models.ReasonPreview}
	}
	for i, note := range notes {
		notes[i] = clean(note)
	}
	return agent.ToolResult{Content: strings.TrimSuffix(b.body.String(), "\n"), Notes: notes, Entries: &b.taken, Metadata: meta}
}
