package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"offcut/models"
)

// sweepAgain is how long after a removal that failed it is tried again: what
// still wrote into the folder has ended by then.
const sweepAgain = time.Minute

// Tend removes the folders of sessions that are gone, as a crash in the middle
// of a deletion leaves them: all of them at once, and a while after a removal
// failed those that are left, until ctx ends.
func (f *Folders) Tend(ctx context.Context, log *slog.Logger) {
	for {
		if err := f.sweep(ctx); err != nil && ctx.Err() == nil {
			log.Warn("files of deleted sessions are still there; their removal is tried again", "after", sweepAgain, "error", err)
			f.tryAgain()
		}
		select {
		case <-f.left:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(sweepAgain):
		case <-ctx.Done():
			return
		}
	}
}

// tryAgain makes Tend sweep once more.
func (f *Folders) tryAgain() {
	select {
	case f.left <- struct{}{}:
	default: // it will
	}
}

// sweep removes the folders whose session is not there, and goes on past one
// that it cannot remove. A session is there before its folder is made. What
// has no id for a name was put there by somebody else and stays.
func (f *Folders) sweep(ctx context.Context) error {
	paths, err := filepath.Glob(filepath.Join(globEscaped(f.dir), "*", "*"))
	if err != nil {
		return fmt.Errorf("list the workspaces: %w", err)
	}
	var failed []error
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		id := filepath.Base(path)
		if !plainID.MatchString(id) {
			continue
		}
		_, err := f.cfg.Owner(ctx, id)
		if errors.Is(err, models.ErrNotFound) {
			err = f.Remove(ctx, id)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
