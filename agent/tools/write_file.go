package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"offcut/agent"
	"offcut/models"
)

//go:embed write_file.md
var writeFileDescription string

// maxWriteBytes bounds a file that a tool writes, and one that is edited: what
// is larger is made by a command.
const maxWriteBytes = 8 << 20

type writeFileArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the workspace"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

type writeFile struct{ folders folders }

func newWriteFile(f folders) agent.Tool {
	t := writeFile{f}
	return newTyped(agent.ToolSpec{Name: "write_file", Description: writeFileDescription, HasEffects: true, Deed: agent.DeedChange}, t.run)
}

func (t writeFile) run(ctx context.Context, call agent.Call, args writeFileArgs) (agent.ToolResult, error) {
	if len(args.Content) > maxWriteBytes {
		return agent.ToolResult{}, refusef("The content has %d bytes; at most %d can be written at once.", len(args.Content), maxWriteBytes)
	}
	old, target, err := t.folders.readWhole(call, args.Path)
	unseen := errors.As(err, new(tooLarge))
	if err != nil && !unseen {
		return agent.ToolResult{}, err
	}
	if err := target.checkRoom(ctx, call, len(args.Content)); err != nil {
		return agent.ToolResult{}, err
	}
	if err := target.replace([]byte(args.Content)); err != nil {
		return agent.ToolResult{}, err
	}
	if unseen {
		return answered(wrote("Replaced", target.shown, args.Content) + " It had " + counted(target.size, "byte", "bytes") + ", too many to show what changed."), nil
	}
	if !target.exists {
		return changed("Made", target.shown, old, args.Content), nil
	}
	if old == args.Content {
		return answered(clean(target.shown) + " has this content already."), nil
	}
	return changed("Wrote", target.shown, old, args.Content), nil
}

// readWhole reads a file that is to be written, up to the bound above; one
// that is not there yet is empty.
func (f folders) readWhole(call agent.Call, named string) (content string, t target, err error) {
	t, err = f.target(call, named)
	if err != nil || !t.exists {
		return "", t, err
	}
	file, info, err := f.openPlace(t.place)
	if err != nil {
		return "", t, err
	}
	defer func() { _ = file.Close() }()
	if info.IsDir() {
		return "", t, refusef("%s is a folder.", t.shown)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxWriteBytes+1))
	if err != nil {
		return "", t, told(t.shown, err)
	}
	if len(data) > maxWriteBytes {
		return "", t, tooLarge{refusal(fmt.Sprintf("%s has more than %d bytes; change it with a command.", t.shown, maxWriteBytes))}
	}
	return string(data), t, nil
}

// tooLarge is the refusal of a file that has too many bytes to be edited. To
// be replaced as a whole it need not be read.
type tooLarge struct{ refusal }

// Unwrap lets it be told like any refusal.
func (l tooLarge) Unwrap() error { return l.refusal }

// changed is the result of a change: a sentence, and what changed.
func changed(verb, shown, old, now string) agent.ToolResult {
	body := wrote(verb, shown, now)
	if diff := diffOf(shown, old, now); diff != "" {
		body += "\n\n" + diff
	}
	return answered(body)
}

func wrote(verb, shown, now string) string {
	return verb + " " + clean(shown) + ", " + counted(int64(len(now)), "byte", "bytes") + "."
}

// answered is the result of a change, of which the file itself is what is kept.
func answered(body string) agent.ToolResult {
	return agent.ToolResult{Content: body, Metadata: models.ResultMetadata{Retention: models.RetentionNotNeeded}}
}
