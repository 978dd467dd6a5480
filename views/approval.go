package views

import (
	"context"
	"strings"

	"offcut/views/visible"
)

// AskUnconfined is the kind of a command that would run outside the sandbox.
const AskUnconfined = "unconfined"

// Ask is a call that waits for somebody.
type Ask struct {
	SessionID string
	TurnID    string
	CallID    string
	Tool      string
	// Kind is why it is asked about: unconfined, or command, change, script,
	// fetch or remote.
	Kind string
	// Folder is where it would run, on the server.
	Folder string
	Body   AskBody
}

// AskBody is what would be done.
type AskBody struct {
	SessionID string
	CallID    string
	// Path is the file that would be changed; empty: there is none.
	Path string
	// Text is the command, the script, or the arguments; Command says that it is
	// the first.
	Text    string
	Command bool
	// Removed and Added are what the file would lose and get.
	Removed, Added string
	// Rest is the other arguments as JSON; empty: there are none.
	Rest string
	// Lines is how many lines Text has in all, and End the last that says
	// something, where the box does not show all of them at once; else 0.
	Lines int64
	End   string
	// Bytes is how long the arguments are in all, where not all of them is shown;
	// else 0.
	Bytes int64
}

// Grant is a tool that runs in the session without asking.
type Grant struct{ Tool string }

func (v Ask) title(ctx context.Context) string { return t(ctx, "ask.title."+v.Kind) }

// doing says in a few words what is asked about, for those who only hear.
func (v Ask) doing(ctx context.Context) string {
	what := v.Body.Path
	if what == "" {
		what = v.Body.Text
	}
	return t(ctx, "ask.heard", "tool", v.Tool, "what", oneLine(what, 100))
}

func (v AskBody) label(ctx context.Context) string {
	if v.Command {
		return t(ctx, "ask.command")
	}
	return t(ctx, "card.arguments")
}

// rows are the lines of the change. Where they stand in the file is not known
// before it is made.
func (v AskBody) rows() (rows []diffRow) {
	for line := range strings.Lines(v.Removed) {
		rows = append(rows, diffRow{Class: "del", Sign: "−", Text: strings.TrimSuffix(line, "\n")})
	}
	for line := range strings.Lines(v.Added) {
		rows = append(rows, diffRow{Class: "add", Sign: "+", Text: strings.TrimSuffix(line, "\n")})
	}
	return rows
}

// plainly is text as HTML in which no character looks like another place or is
// not seen at all: who decides must see what runs.
func plainly(text string) string { return visible.Strictly(text) }

// waits reports whether something in the log waits for somebody.
func (v Log) waits() bool {
	for _, entry := range v.Entries {
		if entry.Answer != nil && len(entry.Answer.Asks) > 0 {
			return true
		}
	}
	return false
}

// attention is what a tab's title begins with.
func (v Chat) attention(ctx context.Context) string {
	switch {
	case v.Log.waits():
		return strings.TrimSpace(t(ctx, "js.asks")) + " "
	case v.RunningTurn != "":
		return "● "
	}
	return ""
}
