package runner

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
	"offcut/models/store"
)

// house is a runner on a real database, with a scripted model.
type house struct {
	*testing.T
	dir    string
	store  *store.Store
	broker *events.Broker
	script *agenttest.Script
	runner *Runner
	owner  string
	logs   *agenttest.Buffer
}

func newHouse(t *testing.T, change func(*Config), steps ...agenttest.Step) *house {
	t.Helper()
	h := &house{T: t, dir: t.TempDir(), broker: events.NewBroker(), script: agenttest.NewScript(steps...), logs: &agenttest.Buffer{}}
	h.openStore()
	h.owner = models.NewID(models.PrefixUser)
	h.must(h.store.CreateUser(t.Context(), models.User{ID: h.owner, Name: "ada", Role: models.RoleUser, CreatedAt: time.Now()}))
	h.build(change)
	return h
}

// build makes the runner; again after a restart.
func (h *house) build(change func(*Config)) {
	cfg := Config{
		Store: h.store, Broker: h.broker,
		Models: func(string) (agent.Model, ModelInfo, error) {
			return h.script, ModelInfo{Name: "scripted", ContextTokens: 128_000}, nil
		},
		Workspace: func(id string) (string, error) { return filepath.Join(h.dir, "workspaces", id), nil },
		Tools:     []agent.Tool{agenttest.Returns("look", "seen")},
		Log:       slog.New(slog.NewTextHandler(h.logs, nil)),
		Limits:    Limits{Coalesce: 5 * time.Millisecond},
	}
	if change != nil {
		change(&cfg)
	}
	h.runner = New(cfg)
	r := h.runner
	h.Cleanup(func() {
		r.interrupt()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = r.Shutdown(ctx)
	})
}

func (h *house) openStore() {
	h.Helper()
	s, err := store.Open(context.Background(), h.dir, store.Options{Log: slog.New(slog.DiscardHandler)})
	h.must(err)
	h.store = s
	h.Cleanup(func() { _ = s.Close() })
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) session() string {
	h.Helper()
	id := models.NewID(models.PrefixSession)
	h.must(h.store.CreateSession(h.Context(), models.Session{ID: id, OwnerID: h.owner, CreatedAt: time.Now(), UpdatedAt: time.Now()}))
	return id
}

func (h *house) send(session, content string) models.Turn {
	h.Helper()
	turn, err := h.runner.Send(h.Context(), models.NewTurn{SessionID: session, OwnerID: h.owner, Content: content})
	h.must(err)
	return turn
}

// rest waits for the turn's end.
func (h *house) rest(turn models.Turn) models.Turn {
	h.Helper()
	turn, err := h.runner.Wait(h.Context(), turn.ID, 10*time.Second)
	h.must(err)
	if !turn.State.Final() {
		h.Fatalf("the turn is still %s", turn.State)
	}
	return turn
}

func (h *house) messages(session string) []models.Message {
	h.Helper()
	all, _, err := h.store.Messages(context.Background(), models.MessageQuery{SessionID: session, IncludeHidden: true, Page: models.Page{Limit: 200}})
	h.must(err)
	return all
}

// watch subscribes to what happens in the session from now on.
func (h *house) watch(session string) *watcher {
	h.Helper()
	sub, ok := h.broker.Subscribe(session, h.broker.Seq(session))
	if !ok {
		h.Fatal("cannot subscribe")
	}
	w := &watcher{sub: sub, house: h}
	h.Cleanup(sub.Close)
	return w
}

// watcher collects what it is told.
type watcher struct {
	sub   *events.Subscription
	house *house
	seen  []events.Event
}

// until reads events until one is as asked for.
func (w *watcher) until(what string, is func(events.Event) bool) events.Event {
	w.house.Helper()
	timeout := time.After(10 * time.Second)
	for {
		select {
		case e, ok := <-w.sub.Events():
			if !ok {
				w.house.Fatalf("closed before %s", what)
			}
			w.seen = append(w.seen, e)
			if is(e) {
				return e
			}
		case <-timeout:
			w.house.Fatalf("%s never came; seen %+v", what, w.seen)
		}
	}
}

func (w *watcher) state(turn models.Turn, state models.State) events.Event {
	w.house.Helper()
	return w.until("state "+string(state), func(e events.Event) bool {
		return e.Kind == events.KindTurn && e.TurnID == turn.ID && e.State == state
	})
}

func (w *watcher) text(contains string) events.Event {
	w.house.Helper()
	return w.until("text "+contains, func(e events.Event) bool {
		return e.Kind == events.KindText && strings.Contains(e.Text, contains)
	})
}

func (w *watcher) call(state models.CallState) events.Event {
	w.house.Helper()
	return w.until("call "+string(state), func(e events.Event) bool {
		return e.Kind == events.KindCall && e.CallState == string(state)
	})
}

// waits is a command-like tool: it prints, waits to be stopped or released,
// and returns what it printed.
func waits(printed string, release <-chan struct{}) agent.Tool {
	return agenttest.ToolFunc("command", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
		c.Live(printed, int64(len(printed)))
		r := agenttest.Text(printed)
		select {
		case <-release:
			r.Metadata.ExitCode = models.Ptr(0)
		case <-ctx.Done():
			r.Metadata.Signal = "SIGKILL"
		}
		return r, nil
	})
}
