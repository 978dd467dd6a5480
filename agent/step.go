package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"offcut/models"
)

// step is one reply of the model, as it is stored, and what its calls need.
type step struct {
	reply models.Message
	calls []prepared // those of the reply, in their order
	left  int        // tokens of the model's window that the request left free
}

// ask streams one reply and stores it as it ended. Its message has no id where
// nothing came that could be stored.
//
// A reply is as old as its first piece, whether it is read from the store or is
// still at hand: what a window decides by the age of the calls stays the same.
func (l *Loop) ask(ctx context.Context, history []models.Message) (step, error) {
	keep := context.WithoutCancel(ctx)
	s := step{reply: l.message(models.RoleAssistant)}
	m := &s.reply
	begun := false
	reply, left, err := l.stream(ctx, history, func(d Delta) {
		if !begun && (d.Text != "" || d.Reasoning != "") {
			m.CreatedAt, begun = time.Now(), true
		}
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

// stream sends a history and returns the reply, with the tokens that the
// request left free. Where the provider finds it too long before anything of a
// reply has come, it is shortened and sent once more.
func (l *Loop) stream(ctx context.Context, history []models.Message, emit func(Delta)) (Reply, int, error) {
	req := Request{Model: l.ModelName, System: l.System, Messages: history, Tools: l.Tools.Specs(), OnRetry: l.OnRetry}
	whole := req
	var left int
	req.Messages, left = l.Window.Fit(ctx, whole)
	reply, err := l.Model.Stream(ctx, req, emit)
	var refused *ModelError
	if !errors.As(err, &refused) || refused.Code != models.CodeContextOverflow || !reply.empty() {
		return reply, left, err
	}
	shorter, room, ok := l.Window.Shrink(ctx, whole)
	if !ok {
		return reply, left, err
	}
	l.logger().Info("a request was too long for the model, and is sent once more with old results shortened", "turn", l.Turn.ID, "session", l.Turn.SessionID)
	req.Messages = shorter
	reply, err = l.Model.Stream(ctx, req, emit)
	return reply, room, err
}
