package models

import "time"

// Turn is all that happens from one user message until the agent rests.
type Turn struct {
	ID            string
	SessionID     string
	OwnerID       string
	Seq           int64 // orders the turns of a session
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

// Usage counts tokens as the provider reports them.
type Usage struct {
	InputTokens     int64   `json:"input_tokens"`
	OutputTokens    int64   `json:"output_tokens"`
	ReasoningTokens int64   `json:"reasoning_tokens"`
	CachedTokens    int64   `json:"cached_tokens"`
	Cost            float64 `json:"cost"`
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:     u.InputTokens + v.InputTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens,
		ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		CachedTokens:    u.CachedTokens + v.CachedTokens,
		Cost:            u.Cost + v.Cost,
	}
}

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
