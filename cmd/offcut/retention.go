package main

import (
	"time"

	"offcut/agent/workspace"
	"offcut/cmd/offcut/config"
	"offcut/models"
	"offcut/models/retention"
	"offcut/models/store"
	"offcut/views"
)

// remover removes sessions, for who deletes them and for the policy.
func (a *App) remover(db *store.Store, folders *workspace.Folders) retention.Remover {
	return retention.Remover{Runner: a.runner, Store: db, Workspaces: folders, Log: a.log}
}

// sweeps applies the retention policy beside everything else, until the server
// ends.
func (a *App) sweeps(db *store.Store, folders *workspace.Folders) *retention.Sweeper {
	sweeper := retention.New(retention.Config{
		Policy: policyOf(a.cfg.Retention), Store: db, Size: folders.Size,
		Remove: a.remover(db, folders).Remove, Reason: views.GoneByPolicy, Log: a.log,
	})
	a.background(sweeper.Run)
	return sweeper
}

func policyOf(r config.Retention) models.RetentionPolicy {
	return models.RetentionPolicy{MaxAge: time.Duration(r.MaxAgeDays) * 24 * time.Hour, MaxBytesPerUser: r.MaxBytesPerUser}
}
