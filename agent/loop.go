package agent

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"offcut/models"
)

// Loop is one turn's way from the user's message to the agent's rest. It knows
// no store and no browser: what it does is told to its Journal.
type Loop struct {
	Model     Model
	ModelName string // the provider's name of the model; empty: the client's own
	System    string
	Tools     Toolbox
	Window    Window
	Journal   Journal
	Limits    Limits
	Turn      models.Turn // its id, session and owner
	Workspace string      // the session's folder, for the tools
	OnRetry   func(Retry)
	Now       func() time.Time // nil: the machine's clock
	Log       *slog.Logger
}

// Journal writes down what happens in a turn, as it happens. An error of its
// methods ends the turn. None of their contexts is cancelled by a stop.
type Journal interface {
	Gate
	// UsedCallIDs tells which of the ids name a call of the session already.
	UsedCallIDs(ctx context.Context, ids []string) (map[string]bool, error)
	// Asking tells what the model is sent now, as it is sent: it may be less of
	// the history than was stored.
	Asking(req Request)
	// Delta is a piece of the reply that will be the message with this id.
	Delta(messageID string, d Delta)
	// Reply stores a reply, whole or as far as it came, with its tool calls:
	// before any of them runs.
	Reply(ctx context.Context, reply models.Message, usage models.Usage) error
	// Hidden stores a message that the loop wrote for the model.
	Hidden(ctx context.Context, hidden models.Message) error
	// CallStarted tells that a call runs now; movable: its work can go on in the
	// background. The call gets what is returned: its context, where what it
	// prints goes, and its way to the background, nil where there is none.
	CallStarted(ctx context.Context, messageID string, call models.ToolCall, movable bool) (context.Context, func(text string, printed int64), Background)
	// Nested tells of a call that a tool makes within a call, as it starts and as
	// it ends.
	Nested(callID string, made models.NestedCall)
	// CallEnded tells that a call has its result, before it is stored.
	CallEnded(call models.ToolCall, result models.Message)
	// Results stores the results of one step, in the order of their calls: all
	// together, or those before a call that waits for somebody first.
	Results(ctx context.Context, results []models.Message) error
}

// Window decides what of the history a model is sent.
type Window interface {
	// Fit makes the messages to send out of those in the request, and tells
	// how many tokens of the model's window they leave free, about; -1 where
	// the window's size is not known. It may have a model summarise old turns,
	// and then takes as long as that, or until ctx ends.
	Fit(ctx context.Context, req Request) (messages []models.Message, left int)
	// Measured tells how many tokens the provider counted in the request that was
	// made last.
	Measured(tokens int64)
	// Shrink makes them anew, and shorter, after the provider refused those of
	// Fit as too long for the model; false where they cannot be shortened.
	Shrink(ctx context.Context, req Request) (messages []models.Message, left int, ok bool)
}

// Run works until the agent rests: it asks the model, stores the reply, runs
// the calls in it, stores their results, and asks again. The history ends with
// the user's message, or with a reply whose calls waited for somebody when the
// program ended: it goes on with those. The error says why the turn ended
// before the agent came to rest, see Ending, or is ErrLeft.
func (l *Loop) Run(ctx context.Context, history []models.Message) error {
	keep := context.WithoutCancel(ctx) // a stop does not stop the storing
	count := l.countOf(history)
	history, s := l.leftOpen(ctx, history)
	var same repeats
	for {
		var err error
		if s.reply.ID == "" {
			if err := count.modelCall(); err != nil {
				return err
			}
			if s, err = l.ask(ctx, history); err != nil && s.reply.ID == "" {
				return err
			}
		}
		results, failed := l.answer(ctx, s, err, &same)
		switch {
		case failed != nil:
			return failed
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if slices.ContainsFunc(results, moved) {
			return nil // what was moved goes on, and the person has the word
		}
		history = append(append(append(history, s.reply), s.results...), results...)
		switch next, err := count.after(s.reply); {
		case err != nil:
			return err
		case next == rest:
			return nil
		case next == resume:
			hidden := l.message(models.RolePerson)
			hidden.Content, hidden.IsMeta = ContinuationText, true
			if err := l.Journal.Hidden(keep, hidden); err != nil {
				return err
			}
			history = append(history, hidden)
		}
		s = step{}
	}
}

// message begins a message of this turn.
func (l *Loop) message(role models.Role) models.Message {
	return models.Message{
		ID:        models.NewID(models.PrefixMessage),
		SessionID: l.Turn.SessionID,
		TurnID:    l.Turn.ID,
		Role:      role,
		State:     models.StateDone,
		CreatedAt: l.now(),
	}
}

func (l *Loop) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}
