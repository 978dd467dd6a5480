package views

import (
	"context"
	"strings"
	"time"
)

// ModelView is a conversation as people see it, beside what a model was sent of
// it.
type ModelView struct {
	SessionID string
	Title     string
	Sidebar   Sidebar
	// Request is nil where nothing was sent, or written down.
	Request *ModelRequest
	// Requests are those that one can choose from, newest first: those around it.
	Requests []ModelRequest
	Frame    []ModelRow // the instructions and the tools
	Rows     []ModelRow
	// Earlier is how many messages of the request stand before the rows.
	Earlier int
	// Past: the rows end before the request does.
	Past bool
	// After is what came after the request.
	After []ModelRow
}

// ModelRequest is one request to a model.
type ModelRequest struct {
	Number   int64
	At       time.Time
	Model    string
	Messages int
	Tokens   int64
	// Counted: the provider said how many tokens it took; else it is an estimate.
	Counted bool
	Pruned  int
	Hidden  int
	Last    bool // of the conversation that is shown
	Shown   bool // it belongs to that conversation, and not to another version
	Summary bool // it asks for a summary, and is no part of the conversation
}

// ModelRow is what people see of one message, beside what the model was sent.
type ModelRow struct {
	SessionID string
	Request   int64
	Place     string // in the request, as addresses have it
	Seen      Seen
	// Sent is nil where the request does not hold it; Unsent says why.
	Sent   *Sent
	Unsent Unsent
}

// Unsent says why a message is not in the request.
type Unsent string

// The reasons.
const (
	UnsentYet     Unsent = "yet"     // the next request will hold it
	UnsentWriting Unsent = "writing" // the model is writing it
	UnsentWritten Unsent = "written" // it is the model's answer to the request
	UnsentQueued  Unsent = "queued"  // its turn has not come
)

// SeenKind says what people see of a message.
type SeenKind string

// The kinds.
const (
	SeenNothing    SeenKind = "nothing"
	SeenQuestion   SeenKind = "question"
	SeenAnswer     SeenKind = "answer"
	SeenPart       SeenKind = "part"       // it is a part of the answer above
	SeenCalls      SeenKind = "calls"      // its tool calls alone, below
	SeenCard       SeenKind = "card"       // a tool call and its result
	SeenSummarised SeenKind = "summarised" // all that a summary stands for
)

// Seen is what people see of a message.
type Seen struct {
	Kind      SeenKind
	MessageID string
	At        time.Time
	Text      string
	HTML      string
	// Bytes is the length of the whole text, where Text is its beginning.
	Bytes int64
	// Joined: it was written in several replies, and stands as one.
	Joined bool
	Files  []string
	Card   *ToolCard
	// Preview, Kept and Lost are the bytes of a result that its card shows, that
	// are kept, and that exist nowhere.
	Preview, Kept, Lost int64
	Messages            int // that a summary stands for
}

// Sent is a message as the model was sent it.
type Sent struct {
	Role    string
	Tool    string
	Offered int // tools, of the row of the tools
	Finish  string
	Hidden  bool // people do not see it
	Made    bool // it was made for the request, such as a summary
	Pruned  bool // it was cut to its ends
	Cleared bool
	Tokens  int64 // about
	Meta    string
	Body    string
	// Gap is how many bytes were pruned between Body and Tail.
	Gap      int64
	Tail     string
	CallID   string // of a pruned result
	OutputID string // of its kept copy
	// LeftOut is how many bytes of it the page does not show.
	LeftOut   int64
	Reasoning string
	Calls     []SentCall
	Pictures  []SentPicture
}

// SentCall is a tool call in a reply as it is sent back.
type SentCall struct{ ID, Name, Arguments string }

// SentPicture is a picture that went along.
type SentPicture struct {
	Type  string
	Bytes int64
}

func (v ModelView) address(parts ...string) string {
	return "/s/" + v.SessionID + "/model" + strings.Join(parts, "")
}

func (v ModelView) number() string { return itoa(v.Request.Number) }

func (v ModelView) pageTitle(ctx context.Context) string {
	return t(ctx, "modelview.page", "title", Chat{Title: v.Title}.title(ctx))
}

func (v ModelRow) address() string {
	return "/s/" + v.SessionID + "/model/places/" + v.Place + "?request=" + itoa(v.Request)
}

// facts say of a request what one looks for first.
func (v ModelRequest) facts(ctx context.Context) string {
	key := "modelview.tokens.about"
	if v.Counted {
		key = "modelview.tokens.counted"
	}
	facts := []string{t(ctx, key, "n", v.Tokens, "count", exact(v.Tokens), "model", v.Model)}
	if v.Pruned > 0 {
		facts = append(facts, t(ctx, "modelview.pruned", "n", v.Pruned, "count", exact(v.Pruned)))
	}
	if v.Hidden > 0 {
		facts = append(facts, t(ctx, "modelview.hidden", "n", v.Hidden, "count", exact(v.Hidden)))
	}
	return strings.Join(facts, " · ")
}

// name is a request in the list of them.
func (v ModelRequest) name(ctx context.Context) string {
	name := t(ctx, "modelview.request", "number", itoa(v.Number), "at", tick(ctx, v.At))
	switch {
	case v.Summary:
		return name + t(ctx, "modelview.request.summary")
	case !v.Shown:
		return name + t(ctx, "modelview.request.version")
	case v.Last:
		return name + t(ctx, "modelview.request.last")
	}
	return name
}

// next is the number of the request that came after it; 0: none did.
func (v ModelView) next() int64 {
	if len(v.Requests) > 0 && v.Requests[0].Number > v.Request.Number {
		return v.Request.Number + 1
	}
	return 0
}

func (v Seen) preview(ctx context.Context) string {
	switch {
	case v.Lost > 0:
		return t(ctx, "modelview.preview.lost", "preview", exact(v.Preview), "kept", exact(v.Kept), "lost", exact(v.Lost))
	case v.Kept > 0:
		return t(ctx, "modelview.preview.kept", "n", v.Preview, "preview", exact(v.Preview), "kept", exact(v.Kept))
	}
	return t(ctx, "modelview.preview", "n", v.Preview, "count", exact(v.Preview))
}
