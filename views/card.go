package views

import "time"

// The states of a tool card.
const (
	CardWaiting     = "waiting"
	CardRunning     = "running"
	CardBackground  = "background"
	CardOK          = "ok"
	CardError       = "error"
	CardDenied      = "denied"
	CardStopped     = "stopped"
	CardInterrupted = "interrupted"
)

// ToolCard is one row of the ledger of tools, closed or open.
type ToolCard struct {
	SessionID string
	CallID    string
	Tool      string
	// State is one of the Card constants. A command that ran is ok or error by
	// its exit code too.
	State string
	// Failed: the tool could not do what it was asked for. A command that ran has
	// not failed, whatever its exit code.
	Failed bool
	// Unstarted: the turn ended before the call began, which had no effect.
	Unstarted bool
	// Subject is what the tool worked on: a command, a path, a pattern.
	Subject string
	// Took is how long it ran; negative where that is not known.
	Took time.Duration
	// StartedAt is set while it runs.
	StartedAt time.Time
	// Ended, of a command.
	Exit     *int
	Signal   string
	TimedOut bool
	// Fact stands where a command's exit code stands.
	Fact Fact
	// LeftOut is how many bytes are kept behind the preview; 0: no cut edge.
	LeftOut int64
	// Coverage is nil where the model saw the result whole.
	Coverage   *Coverage
	Incomplete bool
	// Open cards have their Body in the page; of closed ones it is fetched
	// when they are first opened.
	Open bool
	Body *CardBody
	Live *Live
	// Code is the program of a script that runs, as HTML, and Nested the calls
	// that it has made. Made is how many a script made; nil: it is none, or that
	// is not known.
	Code   string
	Nested []NestedCall
	Made   *int
	// Movable: it runs, and can go on in the background.
	Movable bool
}

// Fact is what a call came to, in a few words: "23 files", "+3 −1".
type Fact struct {
	// Kind is empty where there is nothing to say.
	Kind FactKind
	// N is the number that is told; of a change the lines that were added, of a
	// range its start. M is the lines that were removed, or the range's end.
	N, M int64
	// More: there are more than N.
	More bool
}

// FactKind says what a Fact counts; each has a text of its own.
type FactKind string

// The kinds of facts.
const (
	FactFiles   FactKind = "files"
	FactEntries FactKind = "entries"
	FactHits    FactKind = "hits"
	FactLines   FactKind = "lines"
	FactBytes   FactKind = "bytes"
	FactRange   FactKind = "range"
	FactChange  FactKind = "change"
	// FactReturned: a script came to its end.
	FactReturned FactKind = "returned"
)

// Live is the output of a running tool as far as it has come.
type Live struct {
	// Tail is the end of what it printed, with its escape sequences: at most
	// 64 KiB.
	Tail string
	// Bytes is how much it has printed in all.
	Bytes int64
}

// CardBody is an open card.
type CardBody struct {
	SessionID string
	CallID    string
	Tool      string
	Subject   string
	// File is the path, in the workspace, of the file that the call read or wrote;
	// empty: none is known.
	File string
	// Arguments is the call's arguments as indented JSON, for tools whose row
	// does not say them all; empty: not shown.
	Arguments string
	// Sandbox is nil where the tool runs no program. SandboxKind names it.
	Sandbox     *bool
	SandboxKind string
	Approved    *bool
	Truncated   bool
	Incomplete  bool
	TimedOut    bool
	// ArgumentsTruncated: the model's call had been cut and was recovered.
	ArgumentsTruncated bool
	ReplacedBytes      int64
	// Binary, with its hash, names an output that is no text.
	Binary bool
	SHA256 string

	// OutputID is the kept copy; empty where there is none.
	OutputID string
	// Seen and Total say how much of it the model was shown; of a result that
	// was not kept, what was shown of what there was.
	Seen  int64
	Total int64
	// Held is how many bytes of the preview the model's last request held, and
	// Taken how many were taken out of it: Seen is what it ever saw.
	Held, Taken int64
	// Coverage is nil where the model saw all of it.
	Coverage *Coverage
	// Pieces are the preview in order: text, cut edges, lost bytes.
	Pieces []PreviewPiece
	// Diff is what a write or an edit changed, as a unified diff; the pieces
	// then hold the sentence before it.
	Diff string
	// Code is the program of a script, as HTML, and Nested the calls that it made.
	Code   string
	Nested []NestedCall
	// Pager, where the card also holds a page of the kept copy.
	Pager *Pager
	// Unsaved: the result could not be kept; SaveError says why, where that is
	// known.
	Unsaved   bool
	SaveError string
	// Gone: there was a kept copy and is none here any more. DeletedAt is when
	// it was deleted; zero: it is with the session that this is a fork of.
	Gone      bool
	DeletedAt time.Time
	// Ended says how a call ended that did not end by itself, and of one that
	// has not: CardStopped, CardInterrupted, CardBackground or
	// CardWaiting.
	Ended string
	// Outcome is what the model was told of a call that has no result of its
	// own.
	Outcome string
}

// PieceKind says what a piece of a preview is.
type PieceKind string

// The kinds of pieces.
const (
	// PieceText is text that the model was shown.
	PieceText PieceKind = "text"
	// PieceCut is a stretch that is kept and was left out of the preview. It
	// always opens the copy at its start.
	PieceCut PieceKind = "cut"
	// PieceLost is a stretch that exists nowhere.
	PieceLost PieceKind = "lost"
)

// PreviewPiece is one piece of what a card shows of a result. Markers that the
// model was given as text are not among them: the cut edges say the same.
type PreviewPiece struct {
	Kind PieceKind
	// Text is what a tool printed, with its escape sequences where there are
	// any.
	Text string
	// Start and End are the bytes of the kept copy that the piece stands for.
	Start int64
	End   int64
	// Bytes is how many bytes a cut or lost piece stands for.
	Bytes int64
	// Stream is stdout or stderr where a text is of one of them alone: it is
	// then headed.
	Stream string
	// Whole: the text is all that the stream printed.
	Whole bool
}
