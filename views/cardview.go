package views

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"offcut/views/i18n"
	"offcut/views/markdown"
	"offcut/views/visible"
)

// toolIcons are the icons of the tools that have one of their own.
var toolIcons = map[string]string{
	"run_command":        "terminal",
	"read_file":          "file",
	"write_file":         "pencil",
	"edit_file":          "pencil",
	"list_files":         "folder",
	"search_files":       "find",
	"read_tool_output":   "page",
	"search_tool_output": "find",
	"query_tool_output":  "filter",
	"run_script":         "script",
	"fetch_url":          "globe",
	"load_skill":         "page",
}

func toolIcon(tool string) string {
	if name, ok := toolIcons[tool]; ok {
		return name
	}
	return "gear"
}

// opens reports whether the card is open when it is first shown: because of what
// it is, or because the user wants to see lines of every output. Its body is then
// fetched when it comes into sight.
func (v ToolCard) opens(ctx context.Context) bool {
	return v.Open || (frame(ctx).Lines > 0 && v.State != CardWaiting && v.State != CardRunning)
}

// verb says what the tool did, does, was to do, or could not do.
func (v ToolCard) verb(ctx context.Context) string {
	tense := "did"
	switch {
	case v.State == CardRunning, v.State == CardBackground:
		tense = "does"
	case v.State == CardWaiting, v.State == CardDenied, v.Unstarted:
		tense = "will"
	case v.State == CardError && v.Failed:
		tense = "not"
	}
	if _, known := toolIcons[v.Tool]; !known {
		return t(ctx, "tool.other."+tense, "tool", v.Tool)
	}
	return t(ctx, "tool."+v.Tool+"."+tense)
}

// outcome is what stands in the row where a command's exit code stands.
func (v ToolCard) outcome(ctx context.Context) string {
	switch {
	case v.Unstarted:
		return t(ctx, "card.unstarted")
	case v.State == CardDenied, v.State == CardStopped, v.State == CardInterrupted, v.State == CardWaiting:
		return t(ctx, "card."+v.State)
	case v.TimedOut:
		return t(ctx, "card.timedout")
	case v.Signal != "":
		return v.Signal
	case v.Exit != nil:
		return t(ctx, "card.exit", "code", *v.Exit)
	case v.Fact.Kind == "" && v.State == CardError:
		return t(ctx, "card.failed")
	}
	return v.Fact.text(ctx)
}

func (f Fact) text(ctx context.Context) string {
	count := exact(f.N)
	switch f.Kind {
	case "":
		return ""
	case FactRange:
		return t(ctx, "fact.range", "start", count, "end", exact(f.M))
	case FactChange:
		return t(ctx, "fact.change", "added", count, "removed", exact(f.M))
	}
	if f.More {
		count += "+"
	}
	return t(ctx, "fact."+string(f.Kind), "n", f.N, "count", count)
}

// outcome is the sentence about a call that did not end by itself.
func (v CardBody) outcome(ctx context.Context) string {
	if v.Outcome != "" {
		return v.Outcome
	}
	return t(ctx, "ended."+v.Ended)
}

func (v CardBody) saveError(ctx context.Context) string {
	return sentence(i18n.Error(ctx, "unsaved", cmp.Or(v.SaveError, t(ctx, "card.unsaved.why")), nil))
}

// unread reports whether the model saw nothing of what there is. It may be about
// to: a page asks again for such a body.
func (v CardBody) unread() bool { return v.Seen == 0 && v.Total > 0 }

func (v CardBody) multiline() bool { return strings.Contains(v.Subject, "\n") }

// badged reports whether there is a badge to show.
func (v CardBody) badged() bool {
	return v.Sandbox != nil || v.Approved != nil || v.TimedOut || v.Truncated || v.Binary ||
		v.ReplacedBytes > 0 || v.ArgumentsTruncated || v.Incomplete
}

func (v CardBody) sawText(ctx context.Context) string {
	switch {
	case v.Seen >= v.Total && v.Coverage == nil:
		return rich(ctx, "saw.whole", "n", v.Total, "count", exact(v.Total))
	case v.unread():
		return rich(ctx, "saw.none", "total", exact(v.Total))
	case v.Incomplete && v.OutputID != "":
		return rich(ctx, "saw.ofkept", "seen", exact(v.Seen), "total", exact(v.Total))
	}
	return rich(ctx, "saw.of", "seen", exact(v.Seen), "total", exact(v.Total))
}

// pieceLabel names a text of the preview for those who do not see where it
// stands.
func (v CardBody) pieceLabel(ctx context.Context, i int) string {
	piece := v.Pieces[i]
	subject := oneLine(v.Subject, 60)
	switch {
	case piece.Stream == "stderr":
		return t(ctx, "preview.stderr", "subject", subject)
	case len(v.Pieces) == 1:
		return t(ctx, "preview.whole", "subject", subject)
	case piece.End <= piece.Start:
		return t(ctx, "preview.part", "n", i+1)
	case piece.Start == 0:
		return t(ctx, "preview.start", "start", exact(piece.Start), "end", exact(piece.End))
	case piece.End == v.Total:
		return t(ctx, "preview.end", "start", exact(piece.Start), "end", exact(piece.End))
	}
	return t(ctx, "preview.range", "start", exact(piece.Start), "end", exact(piece.End))
}

func streamText(ctx context.Context, piece PreviewPiece) string {
	key := "stream.part"
	if piece.Whole {
		key = "stream.whole"
	}
	n := int64(len(piece.Text))
	if piece.Bytes > 0 {
		n = piece.Bytes
	}
	return t(ctx, key, "stream", piece.Stream, "n", n, "count", exact(n))
}

// lostText says why bytes are not to be had: of a kept copy, because it was
// full.
func (v CardBody) lostText(ctx context.Context, piece PreviewPiece) string {
	if v.Gone && v.DeletedAt.IsZero() {
		return t(ctx, "lost.elsewhere", "n", piece.Bytes)
	}
	if v.Gone {
		return t(ctx, "lost.deleted", "n", piece.Bytes)
	}
	if v.OutputID != "" {
		return t(ctx, "lost.limit", "n", piece.Bytes)
	}
	return t(ctx, "lost.plain", "n", piece.Bytes)
}

func approvedKey(approved bool) string {
	if approved {
		return "badge.approved"
	}
	return "badge.denied"
}

// terminalHTML shows what a tool printed, with its colours.
func terminalHTML(text string) string { return markdown.Terminal(text) }

// shown is text as HTML in which no character is invisible.
func shown(text string) string { return visible.String(text) }

// jsonText carries text through an attribute unchanged: HTML itself would
// change carriage returns and drop NUL.
func jsonText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // a string always has a JSON form
	}
	return string(quoted)
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
