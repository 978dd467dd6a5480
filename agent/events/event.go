// Package events carries live notices from whoever runs a turn to whoever
// watches its session. A notice that is lost costs nothing: the watcher reads
// the stored transcript again.
package events

import (
	"time"

	"offcut/models"
)

// Kind says what happened.
type Kind string

// The kinds of events, with the fields that each carries beside Seq,
// SessionID and TurnID.
const (
	// KindTurn: a turn changed its state (State, Error, ErrorCode; with a final
	// one also Usage).
	KindTurn Kind = "turn"
	// KindMessage: a message was stored or changed its state (MessageID, State;
	// CallID of a tool's result). A hidden message is not told. A reply that
	// goes on where one was cut off is no message of its own here: it changes
	// the first, under whose id its text and reasoning come, and the first is
	// told to be over when all of it is.
	KindMessage Kind = "message"
	// KindText: Text was appended to the running message MessageID.
	KindText Kind = "text"
	// KindReasoning: Text was appended to its reasoning.
	KindReasoning Kind = "reasoning"
	// KindSeal: the beginning of what streamed in was rendered. HTML is to be
	// appended to the sealed blocks of MessageID, and Text is what remains as
	// plain text after them. Bytes is how much of the text is rendered now.
	KindSeal Kind = "seal"
	// KindCall: the tool call CallID of message MessageID changed its state;
	// CallState is one of the card's states. The state in which it ended comes
	// three times: at once, when its result is stored, and when a reply to it
	// has come, before which nobody says that the model saw it.
	KindCall Kind = "call"
	// KindApproval: the calls of the turn that wait for somebody have changed;
	// State is the turn's.
	KindApproval Kind = "approval"
	// KindOutput: a running call printed Text; Bytes is how much it has
	// printed in all.
	KindOutput Kind = "output"
	// KindNested: a tool made a call within the running call CallID, or that ended
	// (Nested).
	KindNested Kind = "nested"
	// KindRetry: the model's server is asked again at Until (Attempt of Most). It
	// comes again where somebody ended the wait, and without an attempt where an
	// answer came of which nothing else tells.
	KindRetry Kind = "retry"
	// KindTitle: the session has the title Text.
	KindTitle Kind = "title"
	// KindModel: the session's model is the one named Text.
	KindModel Kind = "model"
	// KindLists: the lists of an owner's sessions changed. It comes in a stream of
	// the owner's own (ListsOf).
	KindLists Kind = "lists"
	// KindVersion: another version of a part of the conversation is shown, the one
	// with the turn TurnID. Who shows the conversation reads it anew.
	KindVersion Kind = "version"
	// KindUsage: the turn's tokens (Usage), and what its last request and reply
	// took of the model's window (ContextTokens).
	KindUsage Kind = "usage"
	// KindSummary: in what the model is sent, a summary stands now for the turn
	// UptoTurn and all before it.
	KindSummary Kind = "summary"
	// KindOutputDeleted: a kept output is gone (OutputID).
	KindOutputDeleted Kind = "output_deleted"
	// KindGone: the session was deleted, or the watcher may see it no longer;
	// Text is the sentence for people. Nothing follows.
	KindGone Kind = "gone"
)

// Event is one live notice.
type Event struct {
	// Seq grows by one with each event of a session. It begins at the time in
	// microseconds, so that it also grows over a restart of the program. A
	// watcher ignores what it has seen.
	Seq       int64
	SessionID string
	TurnID    string
	Kind      Kind
	MessageID string
	CallID    string
	OutputID  string
	CallState string
	Text      string
	HTML      string
	Bytes     int64
	State     models.State
	Error     string
	ErrorCode models.TurnErrorCode
	Usage     *models.Usage
	// ContextTokens and UptoTurn are those of usage and of a summary.
	ContextTokens int64
	UptoTurn      string
	Attempt       int
	Most          int
	Reason        string
	Until         time.Time
	Nested        *models.NestedCall
}

// ListsOf names the stream in which an owner's lists of sessions change, as if it
// were a session.
func ListsOf(ownerID string) string { return "lists of " + ownerID }

// Listed tells that an owner's lists of sessions changed.
func Listed(ownerID string) Event {
	return Event{SessionID: ListsOf(ownerID), Kind: KindLists}
}
