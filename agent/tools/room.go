package tools

import (
	"context"
	"fmt"
	"log/slog"
)

// room is how many more bytes an owner may store; nil: any number.
type room func(ctx context.Context, ownerID string) (int64, error)

// refuse says that there is no room for so many bytes more. To make something
// smaller is never refused.
func (r room) refuse(ctx context.Context, ownerID, shown string, more int64) error {
	if r == nil || more <= 0 {
		return nil
	}
	left, err := r(ctx, ownerID)
	if err != nil {
		return fmt.Errorf("ask for room to write a file: %w", err)
	}
	if more > left {
		return refusef("%s was not written: the storage of this user has room for %d bytes more, and it takes %d. Make files smaller with write_file, or ask the user to delete sessions or kept outputs.", shown, max(0, left), more)
	}
	return nil
}

// refuseCommand says why a command may not start. What it will write is not
// known, so that any room is enough.
func (r room) refuseCommand(ctx context.Context, ownerID string) error {
	if r == nil {
		return nil
	}
	left, err := r(ctx, ownerID)
	if err != nil {
		return fmt.Errorf("ask for room for a command: %w", err)
	}
	if left <= 0 {
		return refusef("The command was not run: the storage of this user is full. Make files smaller with write_file, or ask the user to delete sessions or kept outputs.")
	}
	return nil
}

// exceeded watches over a command that runs. A failure to measure is no reason
// to end it.
func (r room) exceeded(ownerID string) func(context.Context) string {
	if r == nil {
		return nil
	}
	return func(ctx context.Context) string {
		left, err := r(ctx, ownerID)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				slog.WarnContext(ctx, "storage of a user was not measured while a command runs", "owner", ownerID, "error", err)
			}
			return ""
		case left < 0:
			return "the storage of this user is full. What it had written is still there"
		}
		return ""
	}
}
