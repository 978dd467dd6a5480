package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

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
	// around is put around each model, and added are tools beside the program's
	// own: what an evaluation looks through, and what it brings. nil: nothing is.
	around func(agent.Model) agent.Model
	added  []agent.Tool
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
	p, err := a.assemble(ctx)
	if err != nil {
		return err
	}
	link, err := firstAdmin(ctx, p.db, a.cfg.AdminToken, a.url)
	if err != nil {
		return err
	}
	a.serve(listener, a.handler(p.db, p.broker, p.reader, p.querier, p.folders, p.catalogue, p.confined))
	a.lockOut(p.db)
	if err := a.runner.Resume(ctx); err != nil {
		return fmt.Errorf("resume queued turns: %w", err)
	}
	a.greet(link, p.confined)
	return nil
}

// tend removes the folders of sessions that are gone, and drafts that came to
// nothing, beside everything else.
func (a *App) tend(db *store.Store, folders *workspace.Folders) {
	a.background(func(ctx context.Context) { folders.Tend(ctx, a.log) })
	a.background(func(ctx context.Context) { a.dropDrafts(ctx, db, folders) })
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
		Store:       db,
		Broker:      broker,
		Models:      catalogue.find,
		Tools:       a.watched.tools(offered),
		MoreTools:   a.watched.more(a.servers.Tools),
		MissingTool: a.servers.Missing,
		Began:       a.watched.turn,
		Workspace:   folders.Folder,
		Prompt:      facts,
		Local:       localFacts(a.skills),
		Blocks:      func() runner.Blocks { return markdown.NewStream() },
		ReadsOf:     retain.ReadsOf,
		ReadsLeft:   retain.ReadsLeft,
		Attached:    attached(tools.NewFiles(folders)),
		Replies:     a.replies,
		Dumps:       a.dumps,
		Limits:      limits,
		Log:         a.log,
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
			Skills:        skillFacts(a.skills, folders),
			Demo:          catalogue.demo,
			Policy:        a.policy(confined).Name(),
			AdminName:     adminName,
			AdminToken:    a.cfg.AdminToken,
			Servers:       a.servers,
			Dumps:         a.dumps,
			Metrics:       a.watched.metrics.Handler(),
			NoticeShare:   a.cfg.NoticeShare,

			AbsenceUnmarked: !a.cfg.Truncation.MarkAbsence,

			Stopping:    a.stopping,
			Log:         a.log,
			Remover:     a.remover(db, folders),
			Retention:   a.sweeps(db, folders),
			QuotaBytes:  a.cfg.Limits.StoragePerUserBytes,
			UploadBytes: a.cfg.Limits.UploadBytes,

			OnlyAdminsDelete: a.cfg.Retention.OnlyAdminsDelete,
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
