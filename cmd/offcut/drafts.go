package main

import (
	"context"
	"errors"
	"time"

	"offcut/agent/workspace"
	"offcut/models/store"
)

const (
	// draftAge is how long files wait at most for the first message that they were
	// uploaded for: they count against their owner's quota and stand in no list.
	draftAge = 24 * time.Hour
	// draftsEvery is how often old drafts are looked for.
	draftsEvery = time.Hour
)

// dropDrafts removes drafts that are too old, with their files, until ctx ends.
func (a *App) dropDrafts(ctx context.Context, db *store.Store, folders *workspace.Folders) {
	for {
		ids, err := db.RemoveDrafts(ctx, time.Now().Add(-draftAge))
		failed := []error{err}
		for _, id := range ids {
			failed = append(failed, folders.Remove(ctx, id)) // tried again, where it failed
		}
		if err := errors.Join(failed...); err != nil && ctx.Err() == nil {
			a.log.Warn("not all files of messages that were never sent are removed", "error", err)
		}
		select {
		case <-time.After(draftsEvery):
		case <-ctx.Done():
			return
		}
	}
}
