package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"offcut/agent"
	"offcut/agent/approve"
	"offcut/agent/events"
	"offcut/agent/query"
	"offcut/agent/replies"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/agent/tools"
	"offcut/agent/workspace"
	"offcut/models/store"
)

// parts are what the program is made of, below its pages.
type parts struct {
	db        *store.Store
	broker    *events.Broker
	reader    *retain.Reader
	querier   *query.Querier
	folders   *workspace.Folders
	catalogue *catalogue
	confined  *sandbox.Sandbox
}

// assemble opens everything but the port, and makes the runner.
func (a *App) assemble(ctx context.Context) (parts, error) {
	if err := a.lockDataDir(); err != nil {
		return parts{}, err
	}
	skillFolders, err := a.skillFolders()
	if err != nil {
		return parts{}, err
	}
	detected := beside(func() (*sandbox.Sandbox, error) { return a.sandbox(skillFolders) }) // it runs a command, while the database opens
	db, folders, err := a.open(ctx)
	if err != nil {
		return parts{}, err
	}
	confined, err := detected()
	if err != nil {
		return parts{}, err
	}
	if a.watched, err = a.watch(ctx, db); err != nil {
		return parts{}, err
	}
	catalogue, err := a.models()
	if err != nil {
		return parts{}, err
	}
	keeper, reader := retain.NewKeeper(a.watched.copies(db), keeping(a.cfg.Tools)), retain.NewReader(db)
	querier := query.New(reader)
	if err := a.recover(ctx, db, keeper); err != nil {
		return parts{}, err
	}
	a.tend(db, folders)
	a.skills = catalogueOfSkills(skillFolders, confined.Confined())
	fetcher, err := a.fetcher()
	if err != nil {
		return parts{}, err
	}
	options := a.toolOptions(keeper, reader, confined, folders)
	options.Querier, options.Fetcher, options.Skills = querier, fetcher, a.skills
	offered := tools.All(options)
	if err := knownTools(a.cfg.Tools, a.cfg.Servers, offered); err != nil {
		return parts{}, err
	}
	a.servers = a.mcpServers(keeper, confined, folders)
	for _, t := range a.added {
		offered = append(offered, approve.Wrap(keeper.Wrap(t), options.Policy))
	}
	broker := events.NewBroker()
	a.runner = a.newRunner(db, broker, folders, catalogue, offered, confined)
	return parts{db, broker, reader, querier, folders, catalogue, confined}, nil
}

// open opens the database and the workspaces, which need each other (one counts
// what an owner stores in both), and the replies that stream in.
func (a *App) open(ctx context.Context) (*store.Store, *workspace.Folders, error) {
	var db *store.Store
	quota := a.cfg.Limits.StoragePerUserBytes
	folders, err := workspace.Open(filepath.Join(a.cfg.DataDir, workspacesFolder), workspace.Config{
		Owner: func(ctx context.Context, id string) (string, error) {
			session, err := db.AnySession(ctx, id)
			return session.OwnerID, err
		},
		Used:       func(ctx context.Context, owner string) (int64, error) { return db.StorageUsed(ctx, owner) },
		QuotaBytes: quota,
	})
	if err != nil {
		return nil, nil, err
	}
	db, err = store.Open(ctx, a.cfg.DataDir, store.Options{QuotaBytes: quota, WorkspaceBytes: folders.OwnerBytes, Log: a.log})
	if err != nil {
		return nil, nil, err
	}
	a.closing(db.Close)
	if a.replies, err = replies.Open(a.cfg.DataDir, a.log); err != nil {
		return nil, nil, err
	}
	a.closing(a.replies.Close)
	return db, folders, nil
}

// recover takes up what a crash left: first the copies, whose lengths are then
// final, and what was shown of the replies; then the turns, whose open calls name
// the copies.
func (a *App) recover(ctx context.Context, db *store.Store, keeper *retain.Keeper) error {
	if err := db.RemoveUnbuilt(ctx); err != nil {
		return err
	}
	if err := keeper.Recover(ctx); err != nil {
		return fmt.Errorf("recover kept outputs: %w", err)
	}
	if err := a.replies.Recover(ctx, db); err != nil {
		return err
	}
	if err := db.InterruptRunning(ctx, time.Now(), agent.InterruptedText); err != nil {
		return fmt.Errorf("recover turns: %w", err)
	}
	return nil
}
