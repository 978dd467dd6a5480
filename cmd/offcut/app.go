package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"offcut/agent"
	"offcut/agent/dump"
	"offcut/agent/events"
	"offcut/agent/mcp"
	"offcut/agent/prompt"
	"offcut/agent/query"
	"offcut/agent/replies"
	"offcut/agent/retain"
	"offcut/agent/runner"
	"offcut/agent/sandbox"
	"offcut/agent/skills"
	"offcut/agent/tools"
	"offcut/agent/workspace"
	"offcut/cmd/offcut/config"
	"offcut/handlers"
	"offcut/models/store"
	"offcut/views/markdown"
	"offcut/web"
)

// App is the running program.
type App struct {
	cfg config.Config
	log *slog.Logger
	out io.Writer // for people: the address and the first link

	url      string
	stopping chan struct{}
	failed   chan error
	server   *http.Server
	runner   *runner.Runner
	servers  *mcp.Servers
	skills   *skills.Catalogue
	dumps    *dump.Dumps
	replies  *replies.Folder
	watched  watched
	// closers end what was opened, the last opened first.
	closers []func() error
}

// NewApp makes an App that has opened nothing yet.
func NewApp(cfg config.Config, log *slog.Logger, out io.Writer) *App {
	return &App{
		cfg: cfg, log: log, out: out, stopping: make(chan struct{}), failed: make(chan error, 1),
		dumps: dump.New(cfg.DataDir, cfg.Secrets()),
	}
}

// URL is the address that people open, once Run has returned.
func (a *App) URL() string { return a.url }

// Failed tells of a server that ended by itself.
func (a *App) Failed() <-chan error { return a.failed }

// Run opens everything and returns when requests are served. After an error
// nothing is open.
func (a *App) Run(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, a.release())
		}
	}()
	listener, err := a.listen()
	if err != nil {
		return err
	}
	if err := a.lockDataDir(); err != nil {
		return err
	}
	skillFolders, err := a.skillFolders()
	if err != nil {
		return err
	}
	detected := beside(func() (*sandbox.Sandbox, error) { return a.sandbox(skillFolders) }) // it runs a command, while the database opens
	db, folders, err := a.open(ctx)
	if err != nil {
		return err
	}
	confined, err := detected()
	if err != nil {
		return err
	}
	if a.watched, err = a.watch(ctx, db); err != nil {
		return err
	}
	catalogue, err := a.models()
	if err != nil {
		return err
	}
	keeper, reader := retain.NewKeeper(a.watched.copies(db), keeping(a.cfg.Tools)), retain.NewReader(db)
	querier := query.New(reader)
	if err := a.recover(ctx, db, keeper); err != nil {
		return err
	}
	a.tend(folders)
	a.skills = catalogueOfSkills(skillFolders, confined.Confined())
	fetcher, err := a.fetcher()
	if err != nil {
		return err
	}
	options := a.toolOptions(keeper, reader, confined, folders)
	options.Querier, options.Fetcher, options.Skills = querier, fetcher, a.skills
	offered := tools.All(options)
	if err := knownTools(a.cfg.Tools, a.cfg.Servers, offered); err != nil {
		return err
	}
	a.servers = a.mcpServers(keeper, confined, folders)
	broker := events.NewBroker()
	a.runner = a.newRunner(db, broker, folders, catalogue, offered, confined)
	link, err := firstAdmin(ctx, db, a.cfg.AdminToken, a.url)
	if err != nil {
		return err
	}
	a.serve(listener, a.handler(db, broker, reader, querier, folders, catalogue, confined))
	a.lockOut(db)
	if err := a.runner.Resume(ctx); err != nil {
		return fmt.Errorf("resume queued turns: %w", err)
	}
	a.greet(link, confined)
	return nil
}

// open opens the database and the workspaces, which need each other (one counts
// what an owner stores in both), and the replies that stream in.
func (a *App) open(ctx context.Context) (*store.Store, *workspace.Folders, error) {
	var db *store.Store
	quota := a.cfg.Limits.StoragePerUserBytes
	folders, err := workspace.Open(filepath.Join(a.cfg.DataDir, "workspaces"), workspace.Config{
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

// tend removes the folders of sessions that are gone, beside everything else.
func (a *App) tend(folders *workspace.Folders) {
	a.background(func(ctx context.Context) { folders.Tend(ctx, a.log) })
}

// background does something until the server ends.
func (a *App) background(do func(context.Context)) {
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	a.closing(func() error {
		end()
		<-done
		return nil
	})
	go func() {
		defer close(done)
		do(ctx)
	}()
}

func (a *App) newRunner(db *store.Store, broker *events.Broker, folders *workspace.Folders, catalogue *catalogue, offered []agent.Tool, confined *sandbox.Sandbox) *runner.Runner {
	limits := runner.DefaultLimits()
	limits.TurnsPerUser, limits.Turns = a.cfg.Limits.TurnsPerUser, a.cfg.Limits.Turns
	limits.BackgroundPerUser = a.cfg.Limits.BackgroundPerUser
	limits.Turn.ModelCalls, limits.Turn.Continuations = a.cfg.Limits.ModelCallsPerTurn, a.cfg.Limits.ContinuationsPerTurn
	facts := prompt.Facts{Network: a.cfg.Tools.Each["run_command"].Network || !confined.Confined()}
	if confined.Confined() {
		facts.SandboxKind = confined.Kind()
	}
	return runner.New(runner.Config{
		Store:     db,
		Broker:    broker,
		Models:    catalogue.find,
		Tools:     a.watched.tools(offered),
		MoreTools: a.watched.more(a.servers.Tools),
		Began:     a.watched.turn,
		Workspace: folders.Folder,
		Prompt:    facts,
		Local:     localFacts(a.skills),
		Blocks:    func() runner.Blocks { return markdown.NewStream() },
		ReadsOf:   retain.ReadsOf,
		ReadsLeft: retain.ReadsLeft,
		Attached:  attached(tools.NewFiles(folders)),
		Replies:   a.replies,
		Dumps:     a.dumps,
		Limits:    limits,
		Log:       a.log,
	})
}

func (a *App) handler(db *store.Store, broker *events.Broker, reader *retain.Reader, querier *query.Querier, folders *workspace.Folders, catalogue *catalogue, confined *sandbox.Sandbox) http.Handler {
	cfg := web.Config{
		Handlers: handlers.Config{
			BasePath:      a.cfg.BasePath,
			Version:       version,
			Store:         db,
			Runner:        a.runner,
			Reader:        reader,
			Querier:       querier,
			Broker:        broker,
			Workspaces:    folders,
			Files:         tools.NewFiles(folders),
			Markdown:      markdown.Render,
			WebSessions:   db.WebSessions(),
			Models:        catalogue.names,
			ContextTokens: catalogue.window,
			TakesImages:   catalogue.takesImages,
			Server:        a.facts(catalogue, confined),
			Skills:        skillFacts(a.skills),
			Demo:          catalogue.demo,
			Policy:        a.policy(confined).Name(),
			AdminName:     adminName,
			AdminToken:    a.cfg.AdminToken,
			Servers:       a.servers,
			Dumps:         a.dumps,
			Metrics:       a.watched.metrics.Handler(),
			NoticeShare:   a.cfg.NoticeShare,
			Stopping:      a.stopping,
			Log:           a.log,
			Remover:       a.remover(db, folders),
			Retention:     a.sweeps(db, folders),
			QuotaBytes:    a.cfg.Limits.StoragePerUserBytes,
			UploadBytes:   a.cfg.Limits.UploadBytes,
		},
		TrustedProxies: a.cfg.TrustedProxies,
		Answered:       a.watched.metrics.Request,
		MetricsOpen:    a.cfg.Metrics.Open,
	}
	if a.cfg.PublicURL != "" {
		cfg.PublicURL, _ = url.Parse(a.cfg.PublicURL) // it was parsed when it was accepted
	}
	return web.New(cfg)
}
