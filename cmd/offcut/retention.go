package main

import (
	"offcut/agent/retention"
	"offcut/agent/workspace"
	"offcut/models/store"
)

// remover removes sessions, for who deletes them and for the policy.
func (a *App) remover(db *store.Store, folders *workspace.Folders) retention.Remover {
	return retention.Remover{Runner: a.runner, Store: db, Workspaces: folders, Log: a.log}
}
