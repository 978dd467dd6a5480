package models

import "time"

// RetainedOutput is the kept copy of a tool result.
type RetainedOutput struct {
	ID        string
	SessionID string
	TurnID    string
	CallID    string
	Tool      string
	Title     string // what made it, for people: the command or the path
	Running   bool
	// TotalBytes is the length of the copy as it is paged: of a binary output
	// the length of its hex dump. While it runs it is what can be paged.
	TotalBytes    int64
	Complete      bool
	CapturedBytes int64
	OmittedBytes  int64
	ReplacedBytes int64
	Binary        bool
	SHA256        string
	// RawBytes is the length of the original bytes that were kept. It differs
	// from TotalBytes where bytes were replaced, in a binary output, and where
	// Original is set.
	RawBytes int64
	// Original is the media type of the original bytes, where the text was made
	// of something else, such as a page of HTML; empty: the text is theirs.
	Original  string
	Gaps      []Gap
	CreatedAt time.Time
	EndedAt   *time.Time
	// Background: the command went on after its call; End is how it ended then,
	// nil before and of all other outputs.
	Background bool
	End        *CommandEnd
	// DeletedAt is set when a user deleted this one output: its bytes are gone
	// and the row says when.
	DeletedAt *time.Time
	Coverage  []Range // what the model was shown, merged; filled by reads
}

// Gap is a place in a kept copy where bytes are missing.
type Gap struct {
	// At is the byte offset of the marker line in the copy.
	At int64 `json:"at"`
	// MarkerBytes is the length of the marker line, its newline included.
	MarkerBytes int64 `json:"marker_bytes"`
	// Omitted is how many of the captured bytes are missing there.
	Omitted int64  `json:"omitted"`
	Stream  string `json:"stream,omitempty"` // stdout or stderr; empty elsewhere
}

// The bounds of a page of a kept output, in bytes, and of the hits of a search
// in one.
const (
	// MinPageBytes is the smallest page: the longest UTF-8 character, so that a
	// page always gets on.
	MinPageBytes = 4
	// MaxPageBytes is what a page has at most: 4 KiB.
	MaxPageBytes = 4096

	DefaultMatches = 20
	MaxMatches     = 200
)

// OwnRaw: the original bytes are stored beside, or instead of, the text.
func (o RetainedOutput) OwnRaw() bool { return o.Binary || o.ReplacedBytes > 0 || o.Original != "" }

// OutputPage is one bounded read of a kept output.
type OutputPage struct {
	Offset     int64  `json:"offset"`
	Text       string `json:"text"`
	NextOffset int64  `json:"nextOffset"`
	TotalBytes int64  `json:"totalBytes"`
	// HasMore: the kept text goes on after this page.
	HasMore bool `json:"hasMore"`
	// Complete: the kept text is all that the tool returned.
	Complete bool `json:"complete"`
	// Background and End tell of a command that went on after its call, and so
	// is not told of by the call's result.
	Background Background  `json:"-"`
	End        *CommandEnd `json:"-"`
}

// Match is a hit of a search in a kept output.
type Match struct {
	Offset int64  `json:"offset"` // of the hit, in bytes, on a character boundary
	Line   int64  `json:"line"`   // counted from 1
	Text   string `json:"text"`   // the line around the hit, bounded
	// Shown is the range of the copy that Text is.
	Shown Range `json:"-"`
}

// ReadKind says how the model came to see bytes of a kept output.
type ReadKind string

// The ways in which the model is shown bytes.
const (
	ReadPreview ReadKind = "preview"
	ReadPage    ReadKind = "page"
	ReadSearch  ReadKind = "search"
	// ReadQuery is a filter's answer. Its values are made out of the copy and
	// are no ranges of it: it is noted with an empty one, and covers nothing.
	ReadQuery ReadKind = "query"
)

// OutputRead records that the model was shown a range of a kept output.
type OutputRead struct {
	OutputID string
	TurnID   string // of the call
	CallID   string // the call whose result showed it
	Kind     ReadKind
	Range    Range
	At       time.Time // of the reply by which it is known
	// Sought is what a search looked for that has shown every place of it in a
	// copy that is complete; nil of other reads. It is not stored with the read.
	Sought *Sought
}

// OutputStream names one of the byte streams that are stored of an output.
type OutputStream string

// The streams. Text is the copy that is paged and searched. Raw holds the
// original bytes, only where they differ from the text: of a binary output
// (whose text, a hex dump, is made on reading and not stored), where bytes
// were replaced, and where the text was made of something else. Spill is what a running command printed beyond its growing
// head, from which a crash is recovered.
const (
	StreamText  OutputStream = "text"
	StreamRaw   OutputStream = "raw"
	StreamSpill OutputStream = "spill"
)

// OutputWrite is one write to a kept output: everything in it is stored
// together or not at all.
type OutputWrite struct {
	Text  []byte // appended to the text
	Raw   []byte // appended to the original bytes
	Spill []byte // replaces the spill where SetSpill is true
	// SetSpill: an empty Spill drops it.
	SetSpill bool
}
