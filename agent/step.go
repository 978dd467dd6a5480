package agent

import (
	"cmp"
	"context"

	"offcut/models"
)

// step is one reply of the model, as it is stored, and what its calls need.
type step struct {
	reply   models.Message
	results []models.Message // of its first calls, where they were stored before
	calls   []prepared       // the other ones of the reply, in their order
	left    int              // tokens of the model's window that the request left free
}

// ask streams one reply and stores it as it ended. Its message has no id where
// nothing came that could be stored.
//
// A reply is as old as its request, and not as its first piece, which may come
// minutes later: what a window decides by the age of the calls stays the same.
func (l *Loop) ask(ctx context.Context, history []models.Message) (step, error) {
	keep := context.WithoutCancel(ctx)
	s := step{reply: l.message(models.RoleAssistant)}
	m := &s.reply
	reply, left, err := l.stream(ctx, history, func(d Delta) {
		l.Journal.Delta(m.ID, d)
	})
	s.left, err = left, replyError(ctx, reply, err)
	if err != nil && reply.empty() {
		return step{}, err
	}
	m.Content, m.Reasoning, m.FinishReason, m.Model = reply.Content, reply.Reasoning, reply.FinishReason, cmp.Or(reply.Model, l.ModelName)
	m.ReasoningData, m.State = reply.ReasoningData, Ending(err).State
	unique, idErr := l.uniqueCalls(keep, reply.ToolCalls)
	if idErr != nil {
		return step{}, idErr
	}
	for _, c := range unique {
		p := prepared{ToolCall: c}
		if err == nil { // the calls of a reply that broke off never run
			p = l.prepare(c, reply.FinishReason)
		}
		s.calls, m.ToolCalls = append(s.calls, p), append(m.ToolCalls, p.ToolCall)
	}
	if stored := l.Journal.Reply(keep, *m, reply.Usage); stored != nil {
		return step{}, stored
	}
	return s, err
}
