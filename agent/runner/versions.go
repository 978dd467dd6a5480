package runner

import (
	"context"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/models"
)

// Edit queues another version of a turn, which answers content. What followed the
// turn belongs to it, and is shown again with it. It fails with ErrConflict while
// a turn of the session waits or runs, and as Send does.
func (r *Runner) Edit(ctx context.Context, turn models.Turn, content string) (models.Turn, error) {
	return r.replace(ctx, models.NewTurn{SessionID: turn.SessionID, OwnerID: turn.OwnerID, Replaces: turn.ID, Content: content})
}

// Retry ends the wait of a turn that is about to ask the model's server again;
// of another it queues a version that asks the same, as Edit does. The model is
// sent nothing of the turn that is retried.
func (r *Runner) Retry(ctx context.Context, turn models.Turn) (models.Turn, error) {
	if j := r.journal(turn.SessionID); j != nil && j.retryNow(turn.ID) {
		return turn, nil
	}
	return r.replace(ctx, models.NewTurn{SessionID: turn.SessionID, OwnerID: turn.OwnerID, Replaces: turn.ID, Again: true})
}

func (r *Runner) replace(ctx context.Context, t models.NewTurn) (models.Turn, error) {
	return r.queue(ctx, t, func(turn models.Turn, _ models.Message) {
		r.publish(turn, events.Event{Kind: events.KindVersion})
		r.publish(turn, events.Event{Kind: events.KindTurn, State: turn.State})
	})
}

// Continue queues a turn that goes on where the last answer of the conversation
// broke off. It fails with ErrConflict for any other turn, and as Send does.
func (r *Runner) Continue(ctx context.Context, turn models.Turn) (models.Turn, error) {
	goOn := models.NewTurn{SessionID: turn.SessionID, OwnerID: turn.OwnerID, Continues: turn.ID, Content: agent.ResumeText}
	return r.queue(ctx, goOn, func(turn models.Turn, _ models.Message) { // nobody sees its message
		r.publish(turn, events.Event{Kind: events.KindTurn, State: turn.State})
	})
}

// Show makes a version part of the conversation, with what followed it. It fails
// with ErrConflict while a turn of the session waits or runs.
func (r *Runner) Show(ctx context.Context, turn models.Turn) error {
	turn, changed, err := r.cfg.Store.ShowTurn(ctx, turn.OwnerID, turn.ID)
	if changed {
		r.publish(turn, events.Event{Kind: events.KindVersion})
	}
	return err
}
