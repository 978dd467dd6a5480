package models

import (
	"encoding/json"
	"time"
)

// SentRequest is a request as a model was sent it, without its messages.
type SentRequest struct {
	SessionID string
	Number    int64 // counted from 1 in its session
	TurnID    string
	Model     string // by its name in the configuration
	System    string // the instructions
	Tools     []SentTool
	// Reasoning: the reasoning of earlier replies went along, as far as the
	// model's provider takes it back.
	Reasoning bool
	Messages  int
	Pruned    int // results that were shortened
	Hidden    int // messages that people do not see
	// Estimate is about how many tokens it took; Tokens is how many the provider
	// counted, 0 where it did not say.
	Estimate, Tokens int64
	// Summary: it asks for a summary of older messages, and is no part of the
	// conversation.
	Summary bool
	At      time.Time
	Shown   bool // its turn is; filled by the store
}

// SentTool is a tool as a model was told of it.
type SentTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// SentPart is one message of a request on its way into the store: as the session
// has it, by its id, or Own, where it was shortened or made for the request.
type SentPart struct {
	MessageID string
	Own       *Message
}

// SentMessage is one message of a request, as the model was sent it.
type SentMessage struct {
	Message
	Place int // counted from 0
	// Stored: the session has the message just so. Else it was shortened, or has
	// lines about attached files, and ID is the message that it stands for; empty
	// where it was made for the request, such as a summary.
	Stored   bool
	Pictures []SentPicture
}

// SentPicture is a picture that went along with a message.
type SentPicture struct {
	Type  string `json:"type"` // its media type
	Bytes int64  `json:"bytes"`
}
