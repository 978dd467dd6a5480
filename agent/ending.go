package agent

import (
	"context"
	"errors"

	"offcut/models"
)

// The causes for which a turn's context is cancelled.
var (
	// ErrStopped: somebody pressed stop.
	ErrStopped = errors.New("stopped by the user")
	// ErrShutdown: the server is going down.
	ErrShutdown = errors.New("the server was shut down")
)

// TurnError is a bound of the loop that ended a turn. Its message is a sentence
// for people.
type TurnError struct {
	Code    models.TurnErrorCode
	Message string
}

func (e *TurnError) Error() string { return e.Message }

// End is how a turn ended, as it is stored and shown. Of an interrupted turn
// the message is the reason alone: what is kept and how to go on is the same of
// all, and said where it is shown.
type End struct {
	State   models.State
	Code    models.TurnErrorCode
	Message string // a sentence; empty where nothing went wrong
}

// Ending says how a turn ended by the error with which its loop did.
func Ending(err error) End {
	var broke *ModelError
	var bound *TurnError
	switch {
	case err == nil:
		return End{State: models.StateDone}
	case errors.Is(err, ErrStopped):
		return End{State: models.StateStopped}
	case errors.Is(err, ErrShutdown):
		return End{models.StateInterrupted, "", "The server was shut down while this was being answered."}
	case errors.As(err, &broke) && broke.Broken:
		return End{models.StateInterrupted, broke.Code, broke.Message}
	case errors.As(err, &broke):
		return End{models.StateError, broke.Code, broke.Message}
	case errors.As(err, &bound):
		return End{models.StateError, bound.Code, bound.Message}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return End{models.StateInterrupted, "", "It was cancelled inside the server."}
	}
	return End{models.StateError, models.CodeInternal, "Something went wrong inside the server. Send the message again; if it comes back, tell the administrator the time of this message."}
}

// replyError is the error that a streamed reply stands for. A cancelled turn
// says why it was; a reply without a finish reason was cut off on its way and
// is never taken as complete.
func replyError(ctx context.Context, reply Reply, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case reply.FinishReason == "":
		return &ModelError{
			Code:    models.CodeStreamBroken,
			Message: "The model's answer broke off before its end.",
			Broken:  true,
		}
	case reply.FinishReason == models.FinishContentFilter && len(reply.ToolCalls) == 0:
		return &ModelError{
			Code:    models.CodeProviderRefused,
			Message: "The model's provider withheld the answer: its content filter ended it. Ask in another way.",
		}
	}
	return nil
}
