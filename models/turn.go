package models

import "time"

// Turn is all that happens from one user message until the agent rests.
//
// The turns of a session are a tree. Those with the same parent are versions of
// each other, of which one is shown; the shown turns are the conversation.
type Turn struct {
	ID        string
	SessionID string
	OwnerID   string
	Model     string // that it asks, by its name in the configuration; empty before it began
	Seq       int64  // orders the turns of a session; a child's is above its parent's
	ParentID  string // the turn before it; empty of a first one
	Shown     bool   // it is part of the conversation as it is shown and sent
	Repeats   string // the turn whose question it asks again; empty where the question is its own
	ClientID  string
	// RequestID is the HTTP request that asked for it, as the log names it; empty
	// where none did.
	RequestID string
	State     State
	// Parked, of a turn that awaits approval: nothing of it runs, so that it goes
	// on after a restart of the server where it was.
	Parked        bool
	Error         string // a sentence; empty unless something went wrong
	ErrorCode     TurnErrorCode
	Continuations int
	Retries       int
	Usage         Usage
	// ContextTokens is about what the turn's last request and its reply took of
	// the model's window; 0 where nothing was sent yet.
	ContextTokens int64
	Footing       Footing
	CreatedAt     time.Time
	StartedAt     *time.Time
	EndedAt       *time.Time
}

// Footing is what the answer of a turn that is done rests on, for the figures.
type Footing struct {
	Answered bool // there is one
	// Unread: the model did not have all of the outputs before it that it rests on.
	Unread bool
	// Of those: GapNamed says so itself, or that something cannot be known; Doubted
	// says that something is absent, which may be in what was not read.
	GapNamed bool
	Doubted  bool
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

// NewTurn asks for a turn: a user's message to a session. It follows the last
// turn of the conversation, unless one of Replaces and Continues is set.
type NewTurn struct {
	SessionID string
	OwnerID   string
	Content   string
	// Attachments are the files that the message comes with. A version of
	// another turn comes with that one's.
	Attachments []Attachment
	// ClientID makes sending idempotent within the session; empty: it is not.
	ClientID string
	// RequestID is the HTTP request that asks; empty: none does.
	RequestID string
	Now       time.Time
	// Replaces is a turn of which this one becomes another version: it is shown
	// in its place, and what followed that one is not shown any more.
	Replaces string
	// Again asks what the replaced turn asks, whatever Content is.
	Again bool
	// Continues is the last turn of the conversation, which broke off: this one
	// goes on from there, by a Content that people do not see.
	Continues string
}

// Version is a turn as one of those with the same parent.
type Version struct {
	TurnID   string
	ParentID string
	Question string // the turn that asked first what this one asks; itself where that is its own
	Shown    bool
	GoesOn   bool // turns follow it
}
