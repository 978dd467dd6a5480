package main

import (
	"context"
	"errors"
	"time"

	"offcut/models/store"
)

// lockOutEvery is how soon a disabled user's turns end. Users are disabled by
// another process, so that it has to be looked for.
const lockOutEvery = 2 * time.Second

// lockOut ends the turns and background commands of users who are disabled, while
// the server runs.
func (a *App) lockOut(db *store.Store) {
	a.background(func(ctx context.Context) {
		ticker := time.NewTicker(lockOutEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if err := a.stopDisabled(ctx, db); err != nil && ctx.Err() == nil {
					a.log.Error("cannot end the turns of disabled users", "error", err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

func (a *App) stopDisabled(ctx context.Context, db *store.Store) error {
	turns, err := db.TurnsOfDisabled(ctx)
	if err != nil {
		return err
	}
	var failed []error // one that cannot be stopped keeps no other from it
	for _, turn := range turns {
		failed = append(failed, a.runner.Stop(ctx, turn))
	}
	return errors.Join(append(failed, a.endBackgroundOfDisabled(ctx, db))...)
}

func (a *App) endBackgroundOfDisabled(ctx context.Context, db *store.Store) error {
	var failed []error
	for _, owner := range a.runner.BackgroundOwners() {
		user, err := db.User(ctx, owner)
		failed = append(failed, err)
		if err == nil && user.Disabled {
			a.runner.EndBackgroundOf(owner)
		}
	}
	return errors.Join(failed...)
}
