package models

import "encoding/json"

// Range is a half-open byte range [Start, End); in JSON it is [start, end].
type Range struct{ Start, End int64 }

// Len is the number of bytes in r.
func (r Range) Len() int64 { return r.End - r.Start }

// MarshalJSON writes [start, end].
func (r Range) MarshalJSON() ([]byte, error) { return json.Marshal([2]int64{r.Start, r.End}) }

// UnmarshalJSON reads [start, end].
func (r *Range) UnmarshalJSON(data []byte) error {
	var pair [2]int64
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	r.Start, r.End = pair[0], pair[1]
	return nil
}

// Retention says what became of the copy of a tool result.
type Retention string

// The outcomes of retention.
const (
	RetentionKept      Retention = "kept"
	RetentionFailed    Retention = "failed"
	RetentionNotNeeded Retention = "not_needed"
)

// Reason names a layer that cut a result.
type Reason string

// The layers that cut.
const (
	ReasonCapture   Reason = "capture"   // one stream of a command was over its limit
	ReasonRetention Reason = "retention" // the kept copy was over its limit
	ReasonPreview   Reason = "preview"   // the tool's own budget
	ReasonWindow    Reason = "window"    // the round's share of the context window
	ReasonPruning   Reason = "pruning"   // shortened later, in what is sent
)

// ResultMetadata is the metadata of a tool result. It is stored with the
// result, served by the API, and sent to the model as the first line of the
// tool message, so that truncation is data and never only a phrase. A key is
// absent where it does not apply.
type ResultMetadata struct {
	// IsError: the tool could not do what was asked. A command that ran is no
	// error, whatever its exit code.
	IsError   bool `json:"is_error"`
	Truncated bool `json:"truncated"`

	ExecutionMS *int64 `json:"execution_ms,omitempty"`
	Sandbox     *bool  `json:"sandbox,omitempty"`
	SandboxKind string `json:"sandbox_kind,omitempty"`
	Approved    *bool  `json:"approved,omitempty"`

	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	// Background: the command went on after its call.
	Background Background `json:"background,omitempty"`

	OutputID string `json:"output_id,omitempty"`
	// TotalBytes is the length of the kept copy, its own gap markers and
	// replacement characters included.
	TotalBytes *int64 `json:"total_bytes,omitempty"`
	// Complete: the kept copy is all that the tool returned.
	Complete *bool `json:"complete,omitempty"`
	// Shown are the byte ranges of the kept copy that stand in the body, at
	// most 32.
	Shown []Range `json:"shown,omitempty"`

	// CapturedBytes is what the tool produced, before replacement;
	// OmittedBytes is what of it is not in the copy; nil where there is none.
	CapturedBytes *int64 `json:"captured_bytes,omitempty"`
	OmittedBytes  *int64 `json:"omitted_bytes,omitempty"`

	Reasons        []Reason  `json:"reasons,omitempty"`
	Retention      Retention `json:"retention,omitempty"`
	RetentionError string    `json:"retention_error,omitempty"`

	ReplacedBytes      int64  `json:"replaced_bytes,omitempty"`
	ArgumentsTruncated bool   `json:"arguments_truncated,omitempty"`
	Tool               string `json:"tool,omitempty"` // of a pruned result

	// Nested are the kept copies of what a script's calls returned.
	Nested []NestedOutput `json:"nested,omitempty"`
	// Calls are all calls that a script made, for people: the model is not told
	// of them again.
	Calls []NestedCall `json:"calls,omitempty"`

	Binary bool   `json:"binary,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of a binary result's bytes

	// Of a page of a kept output. Its complete is Complete above.
	Offset     *int64 `json:"offset,omitempty"`
	NextOffset *int64 `json:"nextOffset,omitempty"`
	PageTotal  *int64 `json:"totalBytes,omitempty"`
	HasMore    *bool  `json:"hasMore,omitempty"`

	// Of a page of a file.
	NextLine       *int64 `json:"next_line,omitempty"`
	NextByteOffset *int64 `json:"next_byte_offset,omitempty"`
	FileHasMore    *bool  `json:"has_more,omitempty"`
	FileBytes      *int64 `json:"file_bytes,omitempty"`
	// Encoding names a file's encoding where it is not plain UTF-8, such as
	// "UTF-16LE" or "UTF-8 with BOM"; Newline is "CRLF" or "CR" where lines
	// end so.
	Encoding string `json:"encoding,omitempty"`
	Newline  string `json:"newline,omitempty"`

	// What follows is for the figures: neither the model nor a person reads it,
	// and it is not stored here.

	// Passage is what the layers let through until here, where whoever made the
	// result counted; see PassageOf.
	Passage *Passage `json:"-"`
	// UnknownTool: the model made the tool's name up.
	UnknownTool bool `json:"-"`
	// ArgumentsRefused: the arguments had been cut, and the tool did not run.
	ArgumentsRefused bool `json:"-"`
}

// Line is the metadata as one line of JSON, without the newline, as a model is
// told them.
func (m ResultMetadata) Line() string {
	m.Calls = nil
	line, err := json.Marshal(m)
	if err != nil {
		// Every field is a plain value: this does not happen.
		return `{"is_error":true,"truncated":false}`
	}
	return string(line)
}

// Ptr is a pointer to v, for the optional fields above.
func Ptr[T any](v T) *T { return &v }
