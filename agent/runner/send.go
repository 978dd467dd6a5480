package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"offcut/agent/events"
	"offcut/models"
)

// Send stores a user's message and starts its turn, or queues it behind those
// of the same session. The same client id gives the same turn, once. It fails
// with ErrLimited where the user has too many unfinished turns, and with
// ErrUnavailable while the server is going down.
func (r *Runner) Send(ctx context.Context, t models.NewTurn) (models.Turn, error) {
	return r.queue(ctx, t, func(turn models.Turn, message models.Message) {
		r.publish(turn, events.Event{Kind: events.KindMessage, MessageID: message.ID, State: message.State})
		r.publish(turn, events.Event{Kind: events.KindTurn, State: turn.State})
		r.title(context.WithoutCancel(ctx), turn, t)
	})
}

// queue stores a turn, lets tell say so to the watchers, and makes sure that the
// turn runs. What was sent before is only found again.
func (r *Runner) queue(ctx context.Context, t models.NewTurn, tell func(models.Turn, models.Message)) (models.Turn, error) {
	if err := r.accepts(t.SessionID); err != nil {
		return models.Turn{}, err
	}
	if t.Now.IsZero() {
		t.Now = r.cfg.Now()
	}
	t.RequestID = models.RequestID(ctx)
	turn, message, created, err := r.enqueue(ctx, t)
	if err != nil || !created {
		return turn, err
	}
	tell(turn, message)
	r.wake(t.SessionID)
	return turn, nil
}

func (r *Runner) accepts(sessionID string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return &models.Error{Kind: models.ErrUnavailable, Code: "shutting_down", Message: "The server is restarting. Send the message again in a moment.", RetryAfter: 5 * time.Second}
	case r.isEnded(sessionID):
		return models.Errorf(models.ErrNotFound, "not_found", "This session is being deleted.")
	}
	return nil
}

// enqueue adds a turn within the user's bound. What was sent before is no new
// turn, and so not refused by the bound.
func (r *Runner) enqueue(ctx context.Context, t models.NewTurn) (models.Turn, models.Message, bool, error) {
	r.sending.Lock()
	defer r.sending.Unlock()
	unfinished, err := r.cfg.Store.UnfinishedTurns(ctx, t.OwnerID)
	if err != nil {
		return models.Turn{}, models.Message{}, false, err
	}
	if unfinished < r.cfg.Limits.TurnsPerUser {
		return r.cfg.Store.Enqueue(ctx, t)
	}
	sent, err := r.cfg.Store.SentTurn(ctx, t)
	if errors.Is(err, models.ErrNotFound) {
		err = &models.Error{
			Kind: models.ErrLimited, Code: "too_many_turns", RetryAfter: 5 * time.Second,
			Message: fmt.Sprintf("You have %d unfinished answers, which is as many as one user may have. Wait for one of them, or stop it.", unfinished),
			Args:    map[string]any{"count": unfinished},
		}
	}
	return sent, models.Message{}, false, err
}

// title gives the session a title out of its first message. Without one it
// stays untitled, which harms nothing.
func (r *Runner) title(ctx context.Context, turn models.Turn, t models.NewTurn) {
	title := models.TitleFrom(t.Content)
	if title == "" && len(t.Attachments) > 0 {
		title = models.TitleFrom(t.Attachments[0].Path)
	}
	titled, err := r.cfg.Store.TitleSession(ctx, turn.SessionID, title)
	if err != nil {
		r.cfg.Log.Warn("a session got no title", "session", turn.SessionID, "error", err)
		return
	}
	if titled {
		r.publish(turn, events.Event{Kind: events.KindTitle, Text: title})
		r.cfg.Broker.Publish(events.Listed(turn.OwnerID))
	}
}
