package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"offcut/agent/approve"
	"offcut/agent/contextwin"
	"offcut/agent/eval"
	"offcut/cmd/offcut/config"
	"offcut/models"
)

// evalOpener opens the program for scenarios, each with a data folder of its own
// below dir.
type evalOpener struct {
	cfg  config.Config
	dir  string
	keep bool // the data folders stay
	log  *slog.Logger
}

// evalHouse is the program without its port, with one session.
type evalHouse struct {
	app       *App
	parts     parts
	session   models.Session
	workspace string
	remove    func() error
}

func (o evalOpener) open(ctx context.Context, s eval.Setup) (_ eval.House, err error) {
	cfg := o.config(s)
	h := &evalHouse{app: NewApp(cfg, o.log, io.Discard), remove: func() error { return os.RemoveAll(cfg.DataDir) }}
	if o.keep {
		h.remove = func() error { return nil }
	}
	h.app.around, h.app.added = s.Around, s.Tools
	defer func() {
		if err != nil {
			err = errors.Join(err, h.app.release(), h.remove())
		}
	}()
	if h.parts, err = h.app.assemble(ctx); err != nil {
		return nil, err
	}
	// The first admin owns the session: who serves the folder later signs in as
	// them and finds it.
	admin, err := makeAdmin(ctx, h.parts.db, true)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	h.session = models.Session{ID: models.NewID(models.PrefixSession), OwnerID: admin.ID, Title: s.Title, CreatedAt: now, UpdatedAt: now}
	if err := h.parts.db.CreateSession(ctx, h.session); err != nil {
		return nil, err
	}
	if h.workspace, err = h.parts.folders.Folder(h.session.ID); err != nil {
		return nil, err
	}
	return h, nil
}

// config is that of the program for one scenario: nobody is there to be asked,
// and other servers' tools are no part of it.
func (o evalOpener) config(s eval.Setup) config.Config {
	cfg := o.cfg
	cfg.DataDir = filepath.Join(o.dir, s.Run)
	cfg.Approval = string(approve.Never)
	cfg.Servers, cfg.Skills = nil, config.Skills{}
	cfg.Tools.Each = maps.Clone(cfg.Tools.Each)
	maps.DeleteFunc(cfg.Tools.Each, func(name string, _ config.Tool) bool { return strings.Contains(name, "__") })
	if len(s.Hosts) > 0 {
		set := cfg.Tools.Each["fetch_url"]
		set.Allow = slices.Concat(set.Allow, s.Hosts)
		if cfg.Tools.Each == nil {
			cfg.Tools.Each = map[string]config.Tool{}
		}
		cfg.Tools.Each["fetch_url"] = set
	}
	if s.Settings.PruningTTL > 0 {
		cfg.Pruning.Mode, cfg.Pruning.TTL = string(contextwin.ModeCacheTTL), s.Settings.PruningTTL
	}
	narrow := func(configured *int, bound int) {
		if bound > 0 && (*configured == 0 || bound < *configured) {
			*configured = bound
		}
	}
	cfg.Models = slices.Clone(cfg.Models)
	for i := range cfg.Models {
		narrow(&cfg.Models[i].ContextTokens, s.Settings.ContextTokens)
		narrow(&cfg.Models[i].MaxOutputTokens, s.Settings.MaxOutputTokens)
		if most := cfg.Models[i].MaxOutputTokens; most > 0 && cfg.Models[i].ThinkingTokens >= most {
			cfg.Models[i].ThinkingTokens = 0 // providers refuse to think for longer than to answer
		}
	}
	narrow(&cfg.EnvContextTokens, s.Settings.ContextTokens) // the demo model's
	return cfg
}

// Workspace is the session's folder.
func (h *evalHouse) Workspace() string { return h.workspace }

// turnPatience is how long the wait for a turn takes before it is looked at again.
const turnPatience = time.Minute

// Ask sends a message and waits until its turn rests.
func (h *evalHouse) Ask(ctx context.Context, content string) (models.Turn, []models.Message, error) {
	turn, err := h.app.runner.Send(ctx, models.NewTurn{SessionID: h.session.ID, OwnerID: h.session.OwnerID, Content: content})
	for err == nil && !turn.State.Final() && turn.State != models.StateAwaitingApproval {
		turn, err = h.app.runner.Wait(ctx, turn.ID, turnPatience)
	}
	whole := context.WithoutCancel(ctx)
	if ctx.Err() != nil && turn.ID != "" {
		err = errors.Join(context.Cause(ctx), h.app.runner.Stop(whole, turn.ID))
	}
	if err != nil {
		return turn, nil, err
	}
	messages, err := h.parts.db.TurnMessages(whole, h.session.ID, turn.ID)
	return turn, messages, err
}

// Outputs are the kept outputs of the session.
func (h *evalHouse) Outputs(ctx context.Context) ([]models.RetainedOutput, error) {
	page := models.Page{Limit: models.MaxPageLimit}
	var all []models.RetainedOutput
	for {
		outputs, next, err := h.parts.db.Outputs(ctx, h.session.ID, page)
		if err != nil {
			return nil, err
		}
		all = append(all, outputs...)
		if next == "" {
			return all, nil
		}
		page.Cursor = next
	}
}

// maxReads is how many reads of one output are looked at: more than a turn can
// make of it.
const maxReads = 100_000

// Reads is how the model came to see an output.
func (h *evalHouse) Reads(ctx context.Context, outputID string) ([]models.OutputRead, error) {
	return h.parts.db.Reads(ctx, h.session.ID, outputID, maxReads)
}

// Close ends what runs, and removes the data folder where it is not to stay.
func (h *evalHouse) Close() error {
	return errors.Join(h.app.runner.Shutdown(context.Background()), h.app.release(), h.remove())
}
