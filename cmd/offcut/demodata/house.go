package demodata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"offcut/agent"
	"offcut/agent/events"
	"offcut/agent/llm"
	"offcut/agent/prompt"
	"offcut/agent/retain"
	"offcut/agent/runner"
	"offcut/agent/sandbox"
	"offcut/agent/tools"
	"offcut/models"
	"offcut/models/store"
)

// role is a model that is played.
type role struct {
	name  string
	price models.Price
}

// The models of the stories, with what their tokens cost in US dollars a million.
var cast = []role{
	{"qwen3-coder:30b", models.Price{}},
	{"gpt-5.2", models.Price{Input: 1.75, Output: 14, Cached: models.Ptr(0.175)}},
	{"deepseek-chat", models.Price{Input: 0.28, Output: 0.42, Cached: models.Ptr(0.028)}},
}

// window is the context window of all of them, in tokens.
const window = 128_000

// house is the program as far as stories need it.
type house struct {
	store  *store.Store
	runner *runner.Runner
	actor  *actor
	clock  *clock
}

// newHouse puts it together around an open database.
func newHouse(db *store.Store, workspace func(string) (string, error), c *clock, pace func(time.Duration) time.Duration) (*house, error) {
	confined, err := sandbox.New(sandbox.Options{Mode: sandbox.Off})
	if err != nil {
		return nil, err
	}
	h := &house{store: db, actor: &actor{clock: c, pace: pace}, clock: c}
	lost := new(bool)
	keeper, reader := retain.NewKeeper(leaky{db, lost}, retain.Config{Now: c.Now}), retain.NewReader(db)
	var offered []agent.Tool
	for _, t := range tools.All(tools.Options{Keeper: keeper, Reader: reader, Sandbox: confined}) {
		if !t.Spec().Whole {
			t = keeper.Wrap(played{Tool: t, actor: h.actor, keeper: keeper, lost: lost})
		}
		offered = append(offered, t)
	}
	offered = append(offered, keeper.Wrap(played{Tool: tracker{}, actor: h.actor, keeper: keeper, lost: lost}))
	h.runner = runner.New(runner.Config{
		Store: db, Broker: events.NewBroker(), Models: h.model, Tools: offered, Workspace: workspace,
		Prompt: prompt.Facts{SandboxKind: "bubblewrap"}, ReadsOf: retain.ReadsOf, ReadsLeft: retain.ReadsLeft,
		Now: c.Now, Log: slog.New(slog.DiscardHandler),
	})
	return h, nil
}

// model is the one of the cast who plays. A session itself has the server's own
// model, so that its conversation can go on with whichever that is.
func (h *house) model(string) (agent.Model, runner.ModelInfo, error) {
	as := h.actor.role()
	return llm.Priced(model{h.actor, as.name}, as.price), runner.ModelInfo{Name: as.name, ContextTokens: window}, nil
}

// patience is how long a turn may take in real time.
const patience = time.Minute

// play plays one turn in a session.
func (h *house) play(ctx context.Context, sess models.Session, as role, t turn) error {
	h.actor.prepare(as, t.steps)
	asked, err := h.runner.Send(ctx, models.NewTurn{SessionID: sess.ID, OwnerID: sess.OwnerID, Content: t.ask})
	if err != nil {
		return err
	}
	done, err := h.runner.Wait(ctx, asked.ID, patience)
	switch {
	case err != nil:
		return err
	case !done.State.Final():
		return fmt.Errorf("the turn %q did not end", t.ask)
	case done.ErrorCode == models.CodeInternal:
		return fmt.Errorf("the turn %q failed: %s", t.ask, done.Error)
	}
	return nil
}

func (h *house) close(ctx context.Context) error { return h.runner.Shutdown(ctx) }

// leaky is a database that can have no room for a copy.
type leaky struct {
	*store.Store
	lost *bool
}

// CreateOutput refuses as a full quota does.
func (s leaky) CreateOutput(ctx context.Context, o models.RetainedOutput) error {
	if *s.lost {
		return models.Errorf(models.ErrTooLarge, "storage_quota", "the storage of this user is full; delete sessions or kept outputs to make room")
	}
	return s.Store.CreateOutput(ctx, o)
}

// tracker is the tool of a server of tools.
type tracker struct{}

// Spec implements agent.Tool.
func (tracker) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "tracker__list_issues", Description: "Lists the issues of a project, newest first.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"project":{"type":"string"},"state":{"type":"string"}},"required":["project"]}`),
	}
}

// Run implements agent.Tool; the story is asked in its place.
func (tracker) Run(context.Context, agent.Call) (agent.ToolResult, error) {
	return agent.ToolResult{}, errors.ErrUnsupported
}

// commandOf is what a call of run_command runs.
func commandOf(call agent.Call) string {
	var a struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(call.Arguments, &a) // it fits the tool's schema
	return a.Command
}
