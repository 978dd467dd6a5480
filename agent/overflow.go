package agent

import (
	"context"
	"errors"

	"offcut/models"
)

// OverflowAdvice ends the error of a conversation that is too long for its model
// although all that may be was shortened.
const OverflowAdvice = "What is old was shortened already. Begin a new chat, fork this one from an earlier message, or choose a model with a larger context window."

// OverflowAlone is the advice where nothing was said before that could be left
// out.
const OverflowAlone = "The message alone is too long for it. Send a shorter one, or choose a model with a larger context window."

// stream sends a history and returns the reply, with the tokens that the
// request left free. Where the provider finds it too long before anything of a
// reply has come, it is shortened and sent once more.
func (l *Loop) stream(ctx context.Context, history []models.Message, emit func(Delta)) (Reply, int, error) {
	req := Request{Model: l.ModelName, System: l.System, Messages: history, Tools: l.Tools.Specs(), OnRetry: l.OnRetry}
	messages, left := l.Window.Fit(ctx, req)
	reply, err := l.send(ctx, req, messages, emit)
	if !tooLong(reply, err) {
		l.Window.Measured(reply.Usage.InputTokens)
		return reply, left, err
	}
	shorter, room, ok := l.Window.Shrink(ctx, req)
	if ok {
		l.logger().Info("a request was too long for the model, and is sent once more, shortened", "turn", l.Turn.ID, "session", l.Turn.SessionID)
		left = room
		reply, err = l.send(ctx, req, shorter, emit)
	}
	l.Window.Measured(reply.Usage.InputTokens)
	if tooLong(reply, err) {
		advice := OverflowAdvice
		if len(history) == 1 {
			advice = OverflowAlone
		}
		err = advised(err, advice)
	}
	return reply, left, err
}

// send sends these messages of a request, unless the turn was stopped while
// they were made.
func (l *Loop) send(ctx context.Context, req Request, messages []models.Message, emit func(Delta)) (Reply, error) {
	if ctx.Err() != nil {
		return Reply{}, ctx.Err()
	}
	req.Messages = messages
	l.Journal.Asking(req)
	return l.Model.Stream(ctx, req, emit)
}

// tooLong: the provider refused a request as too long, before any reply.
func tooLong(reply Reply, err error) bool {
	var refused *ModelError
	return errors.As(err, &refused) && refused.Code == models.CodeContextOverflow && reply.empty()
}

// advised is a refusal that also says what to do.
func advised(err error, advice string) error {
	var refused *ModelError
	if !errors.As(err, &refused) {
		return err
	}
	told := *refused
	told.Message += " " + advice
	return &told
}
