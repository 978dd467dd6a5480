package views

import (
	"context"
	"time"

	"github.com/a-h/templ"
)

// timeOfDay is shortened in templates.
type timeOfDay = time.Time

// stylesheets are those of every page, in the order in which they are read: a
// later one changes what an earlier one says.
var stylesheets = []string{"base.css", "chat.css", "pages.css", "parts.css", "screens.css", "content.css"}

// htmxConfig keeps htmx within a strict content policy and this program's
// ways: no style sheet of its own, no history of its own, and what is refused
// is not swapped in but said (see static/js/app.js).
const htmxConfig = `{"includeIndicatorCSS":false,"history":false,"prefix":"","noSwap":[204,304,"4xx","5xx"],"extensions":"ws"}`

// scriptWordKeys are the texts of scripts; each becomes data-NAME of #words.
var scriptWordKeys = []string{
	"copied", "copy-failed", "failed", "refused", "offline", "polling", "signed-out", "sign-in",
	"too-large", "limited", "new", "older", "before", "done", "stopped", "interrupted", "error",
	"so-far", "gone", "retry-in", "retry-asking", "notify-done", "notify-error", "notify-approval", "asks", "asked",
	"attach-folder", "attach-pasted", "attach-offer", "attach-many", "attach-large", "attach-remove", "attach-failed",
	"elapsed-s", "elapsed-m", "elapsed-h", "unsaved",
}

func scriptWords(ctx context.Context) templ.Attributes {
	attributes := templ.Attributes{}
	for _, key := range scriptWordKeys {
		attributes["data-"+key] = t(ctx, "js."+key, "count", "{count}")
	}
	return attributes
}

// shortcut is a line of the sheet of keys.
type shortcut struct {
	Text string // a key of the catalogue
	Keys []string
}

// shortcuts are those that static/js/keys.js knows.
var shortcuts = []shortcut{
	{"keys.send", []string{"Enter"}},
	{"keys.newline", []string{"Shift", "Enter"}},
	{"keys.edit", []string{"↑"}},
	{"keys.stop", []string{"Esc"}},
	{"keys.composer", []string{"Shift", "Esc"}},
	{"keys.between", []string{"F6"}},
	{"keys.search", []string{"Ctrl", "K"}},
	{"keys.new", []string{"Ctrl", "Shift", "O"}},
	{"keys.sidebar", []string{"Ctrl", "Shift", "S"}},
	{"keys.copycode", []string{"Ctrl", "Shift", ";"}},
	{"keys.approval", []string{"a"}},
	{"keys.next", []string{"j"}},
	{"keys.previous", []string{"k"}},
	{"keys.find", []string{"/"}},
	{"keys.sheet", []string{"?"}},
}
