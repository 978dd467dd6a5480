package tools

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/apart"
	"offcut/agent/approve"
	"offcut/agent/fetch"
	"offcut/agent/query"
	"offcut/agent/retain"
	"offcut/agent/sandbox"
	"offcut/agent/script"
	"offcut/agent/skills"
	"offcut/models"
	"offcut/models/store"
)

func TestMain(m *testing.M) {
	apart.Reexec()
	sandbox.Reexec()
	script.Reexec()
	os.Exit(m.Run())
}

// bench is a workspace with all the tools over a real store and sandbox.
type bench struct {
	t         testing.TB
	workspace string
	tools     map[string]agent.Tool
	store     *store.Store
	turn      models.Turn
	budget    int
	live      func(string, int64)
	ctx       context.Context
	// background is where the next command can go on; nil: it cannot.
	background agent.Background
	box        agent.Toolbox
	gate       agent.Gate          // who is asked; nil: nobody
	made       []models.NestedCall // what was told of calls within calls
}

func newBench(t testing.TB, changes ...func(*Options)) *bench {
	t.Helper()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), t.TempDir(), store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	now := time.Now()
	for _, err := range []error{
		s.CreateUser(t.Context(), models.User{ID: "ann", Name: "ann", Role: models.RoleUser, CreatedAt: now}),
		s.CreateSession(t.Context(), models.Session{ID: "s1", OwnerID: "ann", CreatedAt: now}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	turn, _, _, err := s.Enqueue(t.Context(), models.NewTurn{SessionID: "s1", OwnerID: "ann", Content: "go", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Detect(sandbox.Auto)
	if err != nil {
		t.Fatal(err)
	}
	reader := retain.NewReader(s)
	fetcher, err := fetch.New(fetch.Config{Allow: []string{"127.0.0.1"}, Agent: "Offcut/test"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Keeper: retain.NewKeeper(s, retain.Config{}), Reader: reader, Querier: query.New(reader), Fetcher: fetcher, Skills: skills.New(), Sandbox: box}
	if !box.Confined() { // on a machine without any sandbox the tools are tried without
		if o.Sandbox, err = sandbox.Detect(sandbox.Off); err != nil {
			t.Fatal(err)
		}
	}
	o.Policy = approve.Policy{Mode: approve.Never, Sandbox: o.Sandbox.Mode(), Confined: o.Sandbox.Confined()}
	for _, change := range changes {
		change(&o)
	}
	b := &bench{t: t, workspace: workspace, tools: map[string]agent.Tool{}, store: s, turn: turn, live: func(string, int64) {}, ctx: t.Context()}
	all := All(o)
	b.box = agent.NewToolbox(all...)
	for _, tool := range all {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

type arguments map[string]any

// call runs a tool as the loop does.
func (b *bench) call(tool string, args arguments) agent.ToolResult {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.raw(tool, string(raw))
}

func (b *bench) raw(tool, args string) agent.ToolResult {
	b.t.Helper()
	result, err := b.tools[tool].Run(b.ctx, agent.Call{
		ID: models.NewID(models.PrefixCall), SessionID: "s1", OwnerID: "ann", TurnID: b.turn.ID, Tool: tool,
		Workspace: b.workspace, Arguments: json.RawMessage(args), Budget: b.budget, Live: b.live, Background: b.background,
		Tools: b.box, Gate: b.gate, Made: func(made models.NestedCall) {
			made.Result = nil // as the runner does once it is stored
			b.made = append(b.made, made)
		},
	})
	if err != nil {
		b.t.Fatalf("%s %.200s: %v", tool, args, err)
	}
	if strings.Contains(result.Content, b.workspace) {
		b.t.Errorf("%s names the server's folder: %q", tool, result.Content)
	}
	return result
}

// ok runs a tool that must not fail.
func (b *bench) ok(tool string, args arguments) agent.ToolResult {
	b.t.Helper()
	result := b.call(tool, args)
	if result.IsError || result.Metadata.IsError {
		b.t.Fatalf("%s %v: %s", tool, args, result.Content)
	}
	return result
}

// refused runs a tool that must refuse, with words that must be in the answer.
func (b *bench) refused(tool string, args arguments, words ...string) {
	b.t.Helper()
	result := b.call(tool, args)
	if !result.IsError || !result.Metadata.IsError {
		b.t.Errorf("%s %v was done: %q", tool, args, result.Content)
	}
	for _, word := range words {
		if !strings.Contains(result.Content, word) {
			b.t.Errorf("%s %v: %q does not say %q", tool, args, result.Content, word)
		}
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.workspace, name) }

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	content, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}
