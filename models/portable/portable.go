// Package portable is the form in which a session leaves the program as a file
// and comes back: what it holds, and what is wrong with one that is refused.
//
// The file is one JSON object:
//
//	{"format": "offcut-session", "version": 1, "exported_at": …,
//	 "session": {"title", "model", "created_at", "updated_at"},
//	 "messages": [{"id", "turn_id", "role", "content", "reasoning", "is_meta",
//	               "tool_calls": [{"id", "name", "arguments"}], "tool_call_id",
//	               "metadata", "attachments": [{"path", "size", "type"}], "state",
//	               "finish_reason", "model", "created_at"}],
//	 "answers": [{"turn_id", "rests_on": […]}],
//	 "outputs": [{"id", "tool", "call_id", "total_bytes", "complete", "created_at"}]}
//
// Messages stand in their order, and those of one turn together. The answers tell
// what of kept outputs each rests on, of those that do. The outputs are a list of
// what was kept, for people: their bytes stay where they are, and so do those of the
// files that messages came with.
// Members that are not known are passed over, so that a later version may add
// some; one that changes the meaning of what is there gets another number.
package portable

import (
	"time"

	"offcut/models"
)

// What a file says it is.
const (
	Format  = "offcut-session"
	Version = 1
)

// Header is what the file begins with.
type Header struct {
	Format     string    `json:"format"`
	Version    int       `json:"version"`
	ExportedAt time.Time `json:"exported_at"`
	Session    Session   `json:"session"`
}

// Session is the session itself.
type Session struct {
	ID        string    `json:"id,omitempty"`
	Title     string    `json:"title"`
	Model     string    `json:"model"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Message is one message. Its ids join the messages of a file; whoever takes
// the file gives them others.
type Message struct {
	ID           string                 `json:"id"`
	TurnID       string                 `json:"turn_id"`
	Role         models.Role            `json:"role"`
	Content      string                 `json:"content"`
	Reasoning    string                 `json:"reasoning,omitempty"`
	IsMeta       bool                   `json:"is_meta,omitempty"`
	ToolCalls    []models.ToolCall      `json:"tool_calls,omitempty"`
	ToolCallID   string                 `json:"tool_call_id,omitempty"`
	Metadata     *models.ResultMetadata `json:"metadata,omitempty"`
	Attachments  []models.Attachment    `json:"attachments,omitempty"`
	State        models.State           `json:"state"`
	FinishReason models.FinishReason    `json:"finish_reason,omitempty"`
	Model        string                 `json:"model,omitempty"`
	CreatedAt    time.Time              `json:"created_at"`
}

// Answer tells what the answer of a turn rests on.
type Answer struct {
	TurnID  string          `json:"turn_id"`
	RestsOn []models.Ground `json:"rests_on"`
}

// Output is a kept output, without its bytes.
type Output struct {
	ID         string    `json:"id"`
	Tool       string    `json:"tool"`
	CallID     string    `json:"call_id"`
	TotalBytes int64     `json:"total_bytes"`
	Complete   bool      `json:"complete"`
	CreatedAt  time.Time `json:"created_at"`
}

// Of is a message as a file has it.
func Of(m models.Message) Message {
	return Message{
		ID: m.ID, TurnID: m.TurnID, Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, IsMeta: m.IsMeta,
		ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID, Metadata: m.Metadata, State: m.State,
		FinishReason: m.FinishReason, Model: m.Model, CreatedAt: m.CreatedAt, Attachments: m.Attachments,
	}
}

// Stored is the message as it is stored, without the ids of where it goes.
func (m Message) Stored() models.Message {
	return models.Message{
		Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, IsMeta: m.IsMeta, ToolCalls: m.ToolCalls,
		ToolCallID: m.ToolCallID, Metadata: m.Metadata, State: m.State, FinishReason: m.FinishReason,
		Model: m.Model, CreatedAt: m.CreatedAt, Attachments: m.Attachments,
	}
}

// OutputOf is an output as a file lists it.
func OutputOf(o models.RetainedOutput) Output {
	return Output{ID: o.ID, Tool: o.Tool, CallID: o.CallID, TotalBytes: o.TotalBytes, Complete: o.Complete, CreatedAt: o.CreatedAt}
}
