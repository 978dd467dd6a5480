// Package contextwin decides what of a session's history a model is sent. It
// works on copies: what is stored never changes.
package contextwin

import (
	"offcut/agent"
	"offcut/models"
)

// Limits describe the window that a history has to fit.
type Limits struct {
	// ContextTokens is the size of the model's window; 0: not known.
	ContextTokens int
	// MaxOutputTokens is what the reply may take of it; 0: not known.
	MaxOutputTokens int
}

// Window fits requests to a model's window. It is an agent.Window.
type Window struct{ limits Limits }

// New makes the window of a model.
func New(limits Limits) Window { return Window{limits: limits} }

// Fit makes the messages that are sent and says about how many tokens are left
// free for results and the reply after them; -1 where the window is not known.
func (w Window) Fit(req agent.Request) ([]models.Message, int) {
	messages := Prepare(req.Messages, w.limits)
	if w.limits.ContextTokens == 0 {
		return messages, -1
	}
	req.Messages = messages
	return messages, max(0, w.limits.ContextTokens-w.limits.MaxOutputTokens-Estimate(req))
}

// Prepare makes what is sent out of a history: well formed, whatever happened
// in the session. The shortening of old results and the summaries of old turns
// take their place here, before the pairing, which has the last word.
func Prepare(history []models.Message, _ Limits) []models.Message {
	return Pair(history)
}
