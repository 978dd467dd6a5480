package models

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Role is who speaks in a message.
type Role string

// The roles of messages. System is never stored: instructions are made anew
// for each request.
const (
	RoleSystem    Role = "system"
	RolePerson    Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// State is where a turn, or the message of one, stands.
type State string

// The states. A message is never awaiting_approval: its turn is.
const (
	StateQueued           State = "queued"
	StateRunning          State = "running"
	StateAwaitingApproval State = "awaiting_approval"
	StateDone             State = "done"
	StateStopped          State = "stopped"
	StateInterrupted      State = "interrupted"
	StateError            State = "error"
)

// Final reports whether nothing more will come.
func (s State) Final() bool {
	return s == StateDone || s == StateStopped || s == StateInterrupted || s == StateError
}

// Message is one stored entry of a session.
type Message struct {
	ID        string
	SessionID string
	TurnID    string
	Seq       int64 // orders the messages of a session; see the store
	Role      Role
	Content   string // of a tool message: the body, without its metadata line
	Reasoning string
	// ReasoningData is what the provider of an assistant message wants back with
	// it, such as the signature of its reasoning. Only that provider's client
	// reads it, and nobody is shown it; empty: nothing.
	ReasoningData string
	// IsMeta marks a message that the program wrote for the model, such as a
	// continuation; people do not see it.
	IsMeta      bool
	ToolCalls   []ToolCall      // of an assistant message
	ToolCallID  string          // of a tool message
	Metadata    *ResultMetadata // of a tool message
	Attachments []Attachment    // of a user message
	// Images are the pictures among the attachments, of a message that is sent
	// to a model that takes some; they are never stored with it.
	Images       []Image
	State        State
	FinishReason FinishReason // of an assistant message
	Model        string       // of an assistant message
	Shown        bool         // its turn is; filled by the store
	CreatedAt    time.Time
}

// FinishReason is why the model ended a reply, as the field writes it.
type FinishReason string

// The finish reasons that the loop tells apart.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishToolCalls     FinishReason = "tool_calls"
	FinishContentFilter FinishReason = "content_filter"
)

// ToolCall is the model's request to run a tool. Its id is unique within the
// session; it joins the call with its result.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is what the model wrote, or what ran where that was recovered
	// from a cut. It is kept as text because it may not be valid JSON.
	Arguments string `json:"arguments"`
	// Completed: what the model wrote was cut, and Arguments is what was made
	// of it.
	Completed bool `json:"completed,omitempty"`
}

// ArgumentsOrEmpty is the arguments, or {} where they are not a JSON object:
// strict servers refuse a history that holds anything else.
func (c ToolCall) ArgumentsOrEmpty() string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil {
		return "{}"
	}
	return c.Arguments
}

// MaxMessageBytes bounds the content of a user's message: 1 MiB.
const MaxMessageBytes = 1 << 20

// ValidateContent refuses a user's message that is empty, too long or not valid
// UTF-8. It is refused and not repaired: what is stored
// is what was sent.
func ValidateContent(content string) error {
	switch {
	case len(content) > MaxMessageBytes:
		return Errorf(ErrTooLarge, "message_too_large", "a message has at most %d bytes; this one has %d", Arg("most", MaxMessageBytes), Arg("has", len(content)))
	case !utf8.ValidString(content):
		return Errorf(ErrInvalid, "invalid_utf8", "the message is not valid UTF-8; send it as UTF-8 text")
	case strings.TrimSpace(content) == "":
		return Errorf(ErrInvalid, "empty_content", "the message is empty; write something to send")
	}
	return nil
}

// ValidateMessage is ValidateContent of a message that comes with files: where
// there are some it needs no text.
func ValidateMessage(content string, files int) error {
	if files > MaxAttachments {
		return Errorf(ErrInvalid, "too_many_attachments", "a message comes with at most %d files; this one has %d", Arg("most", MaxAttachments), Arg("has", files))
	}
	if files > 0 && strings.TrimSpace(content) == "" && len(content) <= MaxMessageBytes {
		return nil
	}
	return ValidateContent(content)
}

// MessageQuery asks for a page of a session's messages: of those that are
// shown.
type MessageQuery struct {
	SessionID     string
	IncludeHidden bool // also those that the program wrote for the model
	// IncludeVersions asks for the messages of all versions, in the order of
	// their turns.
	IncludeVersions bool
	// Newest reads backward from the newest message, or from the cursor; the
	// page itself is always oldest first.
	Newest bool
	Page
}
