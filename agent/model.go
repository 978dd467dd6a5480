package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"offcut/models"
)

// Model is a chat model behind some provider.
type Model interface {
	// Stream sends one request and calls emit for each piece of the reply, in
	// order and from one goroutine. It returns the whole reply once the
	// provider has said why it ended.
	//
	// A reply that broke off is returned as far as it came, together with a
	// *ModelError. When ctx is cancelled Stream returns within a second, with
	// what had come and ctx's error.
	Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error)
}

// Request is what a model is sent.
type Request struct {
	// Model is the provider's name of the model; empty: the client's own.
	Model    string
	System   string
	Messages []models.Message
	Tools    []ToolSpec
	// OnRetry is told before each wait for another try; nil: nobody.
	OnRetry func(Retry)
}

// Retry announces a wait before a request is sent again.
type Retry struct {
	Attempt int // the try that comes, counted from 1
	Most    int
	Wait    time.Duration
	Reason  string // a short sentence for people
	// Unreached: there was no answer at all, and so not that the server is busy.
	Unreached bool
	// Now ends the wait: the request is sent again at once. It may be called at
	// any time, from any goroutine, and more than once. nil: the wait cannot be
	// ended.
	Now func()
	// Last is Now, and makes the try that comes the last one. nil: it cannot be
	// made so.
	Last func()
}

// Delta is a piece of a reply as it streams in.
type Delta struct {
	Text      string
	Reasoning string
	// Call announces a tool call whose name is known, or more of its
	// arguments; nil where the piece is text.
	Call *CallDelta
}

// CallDelta is a piece of a tool call that is still being written.
type CallDelta struct {
	Index     int
	Name      string
	Arguments string
}

// Reply is one whole answer of a model.
type Reply struct {
	Content   string
	Reasoning string
	// ReasoningData is stored with the reply and comes back with it; see
	// models.Message.
	ReasoningData string
	// ToolCalls have the provider's ids, which may be empty or used before;
	// the loop makes them unique.
	ToolCalls    []models.ToolCall
	FinishReason models.FinishReason
	Usage        models.Usage
	Model        string // as the provider names it
}

// empty: nothing came of the reply that could be stored.
func (r Reply) empty() bool { return r.Content == "" && r.Reasoning == "" && len(r.ToolCalls) == 0 }

// ModelError is a request to a provider that failed. Its message is a sentence
// for people, which quotes the provider's own words, bounded, without secrets.
type ModelError struct {
	Code    models.TurnErrorCode
	Status  int // the HTTP status; 0 where there was none
	Message string
	// Unreached: the request got no answer at all.
	Unreached bool
	// RetryAfter is the wait that the provider asked for; 0 where it did not.
	RetryAfter time.Duration
	// Answer is the body of an answer that refused the request, as it came and
	// bounded. It may hold secrets: it is for Dumps, which takes them out.
	Answer string
	// Broken: the reply had begun, and what had come of it is kept.
	Broken bool
	Err    error
}

func (e *ModelError) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// ToolSpec is a tool as a model is told of it, and what the loop has to know of
// it. Decorators of tools pass it on.
type ToolSpec struct {
	Name        string
	Description string
	// Parameters is a JSON schema of type object.
	Parameters json.RawMessage
	// HasEffects: running the tool can change something.
	HasEffects bool
	// Deed is what kind of thing the tool does; empty: it only looks at what the
	// session has. By it calls are chosen that somebody has to allow.
	Deed Deed
	// Beside makes the description where it depends on the tools that are offered
	// beside this one; nil: it does not.
	Beside func(others []ToolSpec) string `json:"-"`
	// UnsafeWhenCut: the tool must not run on a text that was cut, such as a
	// shell command.
	UnsafeWhenCut bool
	// Movable: what a call of the tool runs can go on in the background.
	Movable bool
	// Whole: the result is bounded by the tool itself, and is never shortened
	// or kept. True of the readers of kept outputs.
	Whole bool
	// Fits tells whether arguments, a JSON object, fit Parameters; its error
	// is for the model. Where it is nil the tool never runs on arguments that
	// were cut: whether enough of them came cannot be told.
	Fits func(arguments json.RawMessage) error `json:"-"`
}

// BytesPerToken is the usual estimate for text in Latin letters and code.
// Providers count differently; nothing that must be exact rests on it.
const BytesPerToken = 4

// ImageTokens is about what a picture takes of a model's window, at most: the
// providers scale larger ones down first.
const ImageTokens = 1600

// Tool does one thing for a model.
type Tool interface {
	Spec() ToolSpec
	// Run does what the call asks. What the model can mend (bad arguments, a
	// missing file) is a result with IsError; an error is for what it cannot,
	// and its text never reaches the model.
	Run(ctx context.Context, call Call) (ToolResult, error)
}

// Call is one tool call as a tool sees it.
type Call struct {
	ID        string
	SessionID string
	OwnerID   string
	TurnID    string
	Tool      string
	// Workspace is the session's folder on the server. No result names it.
	Workspace string
	// Arguments is a JSON object that fits the tool's schema.
	Arguments json.RawMessage
	// Budget is how many bytes of body the round leaves to this call; 0: no
	// bound but the tool's own.
	Budget int
	// Live is shown what a running tool prints, as valid UTF-8, while it runs.
	// printed is how many bytes it has printed by then: the text of a flood leaves
	// out most of them. It never blocks and is never nil.
	Live func(text string, printed int64)
	// Tools are those of the turn, for a tool that calls others.
	Tools Toolbox
	// Parent is the call within which a tool made this one; empty: the model did.
	// Such a call's result goes to that tool: it is whole, without a word of
	// Offcut's, and what is long of it is kept nevertheless.
	Parent string
	// Made is told of the calls that this one makes, each as it starts and as it
	// ends; never nil.
	Made func(models.NestedCall)
	// Gate is where the call, and those that it makes, are asked about; nil:
	// nobody can be asked.
	Gate Gate
	// Kept is told the output_id of the copy that a running tool's output goes
	// to, once that is stored. Where the tool is given up after a stop, its
	// result still leads there. nil: nobody wants to know.
	Kept func(outputID string)
	// Background lets the call's work go on after its result. nil: it ends with
	// the call, as that of a script's calls does.
	Background Background
}

// ToolResult is the answer to one tool call. A provider's package turns it
// into the provider's own format.
type ToolResult struct {
	ToolCallID string
	Content    string // the body
	// Notes say of the body what is no part of it, such as that there are more
	// matches: one line each, in brackets. A model reads them behind the body, and
	// a script, for which the body is data, has them beside it.
	Notes []string
	// Entries is how many a body has that is a list of them, one in each line; nil:
	// it is none.
	Entries  *int64
	IsError  bool
	Metadata models.ResultMetadata
	// Original is what Content was made of, where Content leaves something of it
	// out; nil: nothing. It is kept with the result, for download.
	Original *Original
}

// Said is the result as a model reads it: with its notes in the body.
func (r ToolResult) Said() ToolResult {
	if len(r.Notes) == 0 {
		return r
	}
	notes := strings.Join(r.Notes, "\n")
	if r.Content != "" {
		notes = strings.TrimSuffix(r.Content, "\n") + "\n" + notes
	}
	r.Content, r.Notes = notes, nil
	return r
}

// Original is bytes that a tool made a text of: a page of HTML, or text in
// another encoding than UTF-8.
type Original struct {
	MediaType string // as their sender has it; never empty
	Bytes     []byte
}

// ErrorResult is a result that tells the model what it can mend.
func ErrorResult(callID, format string, args ...any) ToolResult {
	return ToolResult{
		ToolCallID: callID,
		Content:    fmt.Sprintf(format, args...),
		IsError:    true,
		Metadata:   models.ResultMetadata{IsError: true, Retention: models.RetentionNotNeeded},
	}
}

// ToolText is a tool message as a model receives it: the metadata as one line
// of JSON, a newline, the body.
func ToolText(m models.Message) string {
	var meta models.ResultMetadata
	if m.Metadata != nil {
		meta = *m.Metadata
	}
	return meta.Line() + "\n" + m.Content
}
