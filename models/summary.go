package models

import "time"

// Summary stands for the oldest turns of a conversation in what a model is
// sent. What is stored of those turns, and shown of them, stays as it is.
type Summary struct {
	SessionID string
	// UptoTurn is the last turn that it covers, with all before it: it is true
	// of every path through the conversation that goes through that turn, and
	// of no other.
	UptoTurn string
	Content  string // as the model is sent it
	Messages int    // what people and the model said in the covered turns
	Outputs  int    // kept outputs that were made in them
	// TokensBefore and TokensAfter are about what the covered turns took of the
	// model's window, and what the summary takes.
	TokensBefore, TokensAfter int
	// Model wrote it; empty where no model could, and the program listed what
	// was asked.
	Model     string
	CreatedAt time.Time
}
