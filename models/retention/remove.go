// Package retention makes sessions go: one that somebody deletes, and those that
// the policy of the server says are old or too large.
package retention

import (
	"context"
	"log/slog"
	"time"

	"offcut/models"
)

// endWait is how long a removal waits for what runs in the session to end:
// longer than a stop takes.
const endWait = 10 * time.Second

// Remover removes sessions with all that belongs to them.
type Remover struct {
	Runner interface {
		// EndSession stops what runs in a session that is about to go, and lets
		// nothing new begin.
		EndSession(ctx context.Context, sessionID string)
		// SessionGone tells the watchers of a session that it is gone, and why;
		// SessionStays lets things begin again in one that could not be removed.
		SessionGone(sessionID, reason string)
		SessionStays(sessionID string)
	}
	Store interface {
		// DeleteSession deletes and writes the lines of the audit log, or neither.
		DeleteSession(ctx context.Context, id string, audit ...models.AuditEntry) error
	}
	Workspaces interface {
		Remove(ctx context.Context, sessionID string) error
	}
	Log *slog.Logger
}

// Remove ends what runs in a session and removes it with its outputs and files.
// Once begun it is finished, whether or not ctx ends. reason is told to the
// browsers that have it open, once it is gone; deed is what the audit log says.
func (r Remover) Remove(ctx context.Context, sessionID, reason string, deed models.AuditEntry) error {
	ctx = context.WithoutCancel(ctx)
	ending, cancel := context.WithTimeout(ctx, endWait)
	r.Runner.EndSession(ending, sessionID)
	cancel()
	if err := r.Store.DeleteSession(ctx, sessionID, deed); err != nil {
		r.Runner.SessionStays(sessionID)
		return err
	}
	r.Runner.SessionGone(sessionID, reason)
	if err := r.Workspaces.Remove(ctx, sessionID); err != nil {
		// The session is gone, and its files go with the next try.
		r.Log.ErrorContext(ctx, "the files of a deleted session are still there", "session", sessionID, "error", err)
	}
	return nil
}
