package agent

import (
	"context"

	"offcut/models"
)

// results are those of a step's calls, in their order.
type results struct {
	loop     *Loop
	calls    []prepared
	same     *repeats
	messages []models.Message
	stored   int // so many of them
}

// store stores those of the first n calls that are not stored yet.
func (r *results) store(ctx context.Context, n int) error {
	fresh := r.messages[r.stored:n]
	if len(fresh) == 0 {
		return nil
	}
	for i := range fresh {
		r.same.check(r.calls[r.stored+i].ToolCall, &fresh[i])
	}
	r.stored = n
	return r.loop.Journal.Results(ctx, fresh)
}

// leftOpen parts a history from its last reply, where that reply is of this
// turn and has calls without a result: those wait for somebody since before
// the program began. None of them was started.
func (l *Loop) leftOpen(ctx context.Context, history []models.Message) ([]models.Message, step) {
	at := len(history) - 1
	for at >= 0 && history[at].Role == models.RoleTool {
		at--
	}
	if at < 0 || history[at].Role != models.RoleAssistant || history[at].TurnID != l.Turn.ID {
		return history, step{}
	}
	s := step{reply: history[at], results: history[at+1:]}
	answered := map[string]bool{}
	for _, m := range s.results {
		answered[m.ToolCallID] = true
	}
	for _, c := range s.reply.ToolCalls {
		if !answered[c.ID] {
			s.calls = append(s.calls, l.prepare(c, s.reply.FinishReason))
		}
	}
	if len(s.calls) == 0 {
		return history, step{}
	}
	before := history[:at:at]
	_, s.left = l.Window.Fit(ctx, Request{Model: l.ModelName, System: l.System, Messages: before, Tools: l.Tools.Specs()})
	return before, s
}
