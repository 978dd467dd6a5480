package models

import "time"

// Turn is all that happens from one user message until the agent rests.
type Turn struct {
	ID            string
	SessionID     string
	OwnerID       string
	Model         string // that it asks, by its name in the configuration; empty before it began
	Seq           int64  // orders the turns of a session
	ClientID      string
	State         State
	Error         string // a sentence; empty unless something went wrong
	ErrorCode     TurnErrorCode
	Continuations int
	Retries       int
	Usage         Usage
	// ContextTokens is about what the turn's last request and its reply took of
	// the model's window; 0 where nothing was sent yet.
	ContextTokens int64
	CreatedAt     time.Time
	StartedAt     *time.Time
	EndedAt       *time.Time
}

// TurnErrorCode says for programs what ended a turn.
type TurnErrorCode string

// The codes of a turn's error.
const (
	CodeOutputLimit     TurnErrorCode = "output_limit"
	CodeTurnLimit       TurnErrorCode = "turn_limit"
	CodeRateLimited     TurnErrorCode = "rate_limited"
	CodeProviderError   TurnErrorCode = "provider_error"
	CodeProviderRefused TurnErrorCode = "provider_refused"
	CodeContextOverflow TurnErrorCode = "context_overflow"
	CodeStreamBroken    TurnErrorCode = "stream_broken"
	CodeStorage         TurnErrorCode = "storage"
	CodeInternal        TurnErrorCode = "internal"
)

// MaxClientIDLength bounds, in bytes, the id by which a client makes sending
// idempotent.
const MaxClientIDLength = 128

// NewTurn asks for a turn: a user's message to a session.
type NewTurn struct {
	SessionID string
	OwnerID   string
	Content   string
	// ClientID makes sending idempotent within the session; empty: it is not.
	ClientID string
	Now      time.Time
}
