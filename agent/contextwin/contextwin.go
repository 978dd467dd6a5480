// Package contextwin decides what of a session's history a model is sent. It
// works on copies: what is stored never changes.
package contextwin

import (
	"context"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Limits describe the window that a history has to fit.
type Limits struct {
	// ContextTokens is the size of the model's window; 0: not known.
	ContextTokens int
	// MaxOutputTokens is what the reply may take of it; 0: not known.
	MaxOutputTokens int
	Pruning         Pruning
}

// room is how many tokens a request may take. A reply's share that would leave
// it less than half of the window is not believed.
func (l Limits) room() int {
	return l.ContextTokens - min(l.MaxOutputTokens, l.ContextTokens/2)
}

// Window fits the requests of one turn to a model's window. It is an
// agent.Window, and is used by one loop at a time.
type Window struct {
	limits  Limits
	decided Decisions // what was shortened in this turn's requests
	sent    int       // about how many tokens the last request took
}

// New makes the window of a model.
func New(limits Limits) *Window { return &Window{limits: limits} }

// Fit makes the messages that are sent, well formed whatever happened in the
// session, and says about how many tokens are left free for results and the
// reply after them; -1 where the window is not known.
func (w *Window) Fit(_ context.Context, req agent.Request) ([]models.Message, int) {
	req.Messages = Pair(req.Messages)
	if w.limits.ContextTokens > 0 {
		req.Messages, w.decided = Prune(req, w.decided, w.limits, time.Now())
	}
	return w.finish(req)
}

// Shrink makes the messages anew after the provider refused those of Fit as too
// long, and shortens all that may be. It is false where that changes nothing.
// For the rest of the turn the window is taken to be no larger than what was
// refused.
func (w *Window) Shrink(_ context.Context, req agent.Request) ([]models.Message, int, bool) {
	req.Messages = Pair(req.Messages)
	req.Messages, w.decided = squeeze(req, w.decided, w.limits)
	if Estimate(req) >= w.sent {
		return nil, 0, false
	}
	if most := w.sent + w.limits.MaxOutputTokens; w.limits.ContextTokens == 0 || most < w.limits.ContextTokens {
		w.limits.ContextTokens = most
	}
	messages, left := w.finish(req)
	return messages, left, true
}

// finish pairs once more: it has the last word, whatever was left out before.
func (w *Window) finish(req agent.Request) ([]models.Message, int) {
	req.Messages = Pair(req.Messages)
	w.sent = Estimate(req)
	if w.limits.ContextTokens == 0 {
		return req.Messages, -1
	}
	return req.Messages, max(0, w.limits.ContextTokens-w.limits.MaxOutputTokens-w.sent)
}
