package runner

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// kill leaves the runner as kill -9 does: nothing is finished or told.
func (h *house) kill() {
	h.Helper()
	h.runner.mu.Lock()
	h.runner.closed = true
	close(h.runner.closing)
	h.runner.mu.Unlock()
	h.runner.cfg.Store.(*mortal).dead.Store(true)
}

// mortal is a store that can die: nothing is written through it afterwards.
type mortal struct {
	Store
	dead atomic.Bool
}

var errKilled = errors.New("killed")

func (m *mortal) SaveMessage(ctx context.Context, msg models.Message) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.SaveMessage(ctx, msg)
}

func (m *mortal) AppendResults(ctx context.Context, results []models.Message) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.AppendResults(ctx, results)
}

func (m *mortal) FinishTurn(ctx context.Context, t models.Turn) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.FinishTurn(ctx, t)
}

func TestAKilledServerKeepsWhatWasShown(t *testing.T) {
	fragile := func(c *Config) {
		c.Store = &mortal{Store: c.Store}
		c.Limits.SaveEvery = 20 * time.Millisecond
		c.Tools = append(c.Tools, waits("x", nil))
	}
	t.Run("in the stream", func(t *testing.T) {
		h := newHouse(t, fragile, agenttest.Blocks("half an answer", make(chan struct{})), agenttest.Says("second"), agenttest.Says("third"))
		session := h.session()
		turn, queued := h.send(session, "go"), h.send(session, "and then")
		saved := func() bool {
			all := h.messages(session)
			return len(all) > 1 && all[1].Content == "half an answer" && all[1].State == models.StateRunning
		}
		for range 200 {
			if saved() {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !saved() {
			t.Fatalf("not saved while it streams: %+v", h.messages(session))
		}
		h.restart(nil)
		if turn = h.rest(turn); turn.State != models.StateInterrupted {
			t.Errorf("turn %+v", turn)
		}
		if queued = h.rest(queued); queued.State != models.StateDone {
			t.Errorf("the queued turn is %+v", queued)
		}
		if m := h.messages(session)[1]; m.Content != "half an answer" || m.State != models.StateInterrupted {
			t.Errorf("answer %+v", m)
		}
	})
	t.Run("in a command", func(t *testing.T) {
		h := newHouse(t, fragile, agenttest.Calls("command", "{}"), agenttest.Says("on"))
		session := h.session()
		w := h.watch(session)
		turn := h.send(session, "go")
		w.call(models.CallRunning)
		h.restart(nil)
		if turn = h.rest(turn); turn.State != models.StateInterrupted {
			t.Errorf("turn %+v", turn)
		}
		all := h.messages(session)
		if len(all) != 3 || all[2].CallState() != models.CallInterrupted || all[2].Content != agent.InterruptedText {
			t.Fatalf("stored %+v", all)
		}
		h.rest(h.send(session, "go on"))
		sent := h.script.Requests()[1].Messages
		if len(sent) != 4 || sent[2].ToolCallID != sent[1].ToolCalls[0].ID {
			t.Errorf("sent %+v", sent)
		}
	})
}

// restart kills the server and starts it anew on the same database.
func (h *house) restart(change func(*Config)) {
	h.Helper()
	h.kill()
	h.openStore()
	h.must(h.store.InterruptRunning(h.Context(), time.Now(), agent.InterruptedText))
	h.build(change)
	h.must(h.runner.Resume(h.Context()))
}

func TestAShutdownInterruptsWhatDoesNotEnd(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Limits.ShutdownGrace = 100 * time.Millisecond }, agenttest.Blocks("ends", release), agenttest.Blocks("goes on", make(chan struct{})))
	first, second := h.session(), h.session()
	quick := h.send(first, "quick")
	h.script.Await(t.Context(), 1)
	w := h.watch(second)
	slow := h.send(second, "slow")
	w.text("goes on")
	queued := h.send(second, "queued")
	time.AfterFunc(20*time.Millisecond, func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	h.must(h.runner.Shutdown(ctx))
	for turn, want := range map[models.Turn]models.State{quick: models.StateDone, slow: models.StateInterrupted, queued: models.StateQueued} {
		if now, err := h.store.AnyTurn(t.Context(), turn.ID); err != nil || now.State != want {
			t.Errorf("%s, want %s (%v)", now.State, want, err)
		}
	}
	if _, err := h.runner.Send(t.Context(), models.NewTurn{SessionID: first, OwnerID: h.owner, Content: "x"}); !errors.Is(err, models.ErrUnavailable) {
		t.Errorf("a message after it: %v", err)
	}
	h.script.Then(agenttest.Says("at last"))
	h.build(nil)
	h.must(h.runner.Resume(t.Context()))
	if queued = h.rest(queued); queued.State != models.StateDone {
		t.Errorf("after the start: %+v", queued)
	}
}

// failing is a store of which some methods fail.
type failing struct {
	Store
	append, save, results, finish atomic.Bool
	finishes                      atomic.Int32
}

var errDisk = &fs.PathError{Op: "write", Path: "/srv/offcut.db", Err: errors.New("no space left on device")}

func (f *failing) AppendReply(ctx context.Context, m models.Message, proof models.Proof) (models.Message, error) {
	if f.append.Load() {
		return m, errDisk
	}
	return f.Store.AppendReply(ctx, m, proof)
}

func (f *failing) SaveMessage(ctx context.Context, m models.Message) error {
	if f.save.Load() {
		return errDisk
	}
	return f.Store.SaveMessage(ctx, m)
}

func (f *failing) AppendResults(ctx context.Context, results []models.Message) error {
	if f.results.Load() {
		return errDisk
	}
	return f.Store.AppendResults(ctx, results)
}

func (f *failing) FinishTurn(ctx context.Context, t models.Turn) error {
	f.finishes.Add(1)
	if f.finish.Swap(false) {
		return errDisk
	}
	return f.Store.FinishTurn(ctx, t)
}

func TestStorageThatFailsEndsTheTurnWithASentence(t *testing.T) {
	for name, test := range map[string]struct {
		fail  func(*failing)
		steps []agenttest.Step
	}{
		"beginning a reply":      {func(f *failing) { f.append.Store(true) }, []agenttest.Step{agenttest.Blocks("text", make(chan struct{}))}},
		"storing it as it comes": {func(f *failing) { f.save.Store(true) }, []agenttest.Step{agenttest.Blocks("text", make(chan struct{}))}},
		"storing it whole":       {func(f *failing) { f.save.Store(true) }, []agenttest.Step{agenttest.Says("text")}},
		"storing results":        {func(f *failing) { f.results.Store(true) }, []agenttest.Step{agenttest.Calls("look", "{}")}},
	} {
		t.Run(name, func(t *testing.T) {
			var store *failing
			h := newHouse(t, func(c *Config) {
				store = &failing{Store: c.Store}
				c.Store = store
				c.Limits.SaveEvery = 10 * time.Millisecond
			}, test.steps...)
			test.fail(store)
			session := h.session()
			turn := h.rest(h.send(session, "go"))
			if turn.State != models.StateError || turn.ErrorCode != models.CodeStorage || turn.Error == "" || strings.Contains(turn.Error, "/srv") {
				t.Errorf("turn %+v", turn)
			}
			if !strings.Contains(h.logs.String(), "no space left") {
				t.Error("the cause was not logged")
			}
			store.append.Store(false)
			store.save.Store(false)
			store.results.Store(false)
			h.script.Then(agenttest.Says("on"))
			if turn = h.rest(h.send(session, "again")); turn.State != models.StateDone {
				t.Errorf("the session cannot go on: %+v", turn)
			}
		})
	}
	t.Run("storing the end", func(t *testing.T) {
		var store *failing
		h := newHouse(t, func(c *Config) { store = &failing{Store: c.Store}; c.Store = store }, agenttest.Says("text"))
		store.finish.Store(true)
		if turn := h.rest(h.send(h.session(), "go")); turn.State != models.StateDone || store.finishes.Load() != 2 {
			t.Errorf("%s after %d tries", turn.State, store.finishes.Load())
		}
	})
}

func TestWhatATurnNeedsAndLacks(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Config)
		code   models.TurnErrorCode
		says   string
	}{
		"a model that is not there": {func(c *Config) {
			c.Models = func(string) (agent.Model, ModelInfo, error) {
				return nil, ModelInfo{}, models.Errorf(models.ErrInvalid, "unknown_model", "There is no model x.")
			}
		}, models.CodeProviderError, "There is no model x."},
		"a model that cannot be made": {func(c *Config) {
			c.Models = func(string) (agent.Model, ModelInfo, error) { return nil, ModelInfo{}, errDisk }
		}, models.CodeInternal, "Something went wrong"},
		"a folder": {func(c *Config) {
			c.Workspace = func(string) (string, error) { return "", errDisk }
		}, models.CodeStorage, "could not make the session's folder"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, test.change)
			turn := h.rest(h.send(h.session(), "go"))
			if turn.State != models.StateError || turn.ErrorCode != test.code || !strings.Contains(turn.Error, test.says) || strings.Contains(turn.Error, "/srv") {
				t.Errorf("turn %+v", turn)
			}
		})
	}
}

func TestARetryIsTold(t *testing.T) {
	step := agenttest.Says("at last")
	step.Retries = []agent.Retry{{Attempt: 1, Most: 10, Wait: time.Second, Reason: "The server is busy."}}
	h := newHouse(t, nil, step)
	session := h.session()
	w := h.watch(session)
	turn := h.rest(h.send(session, "go"))
	e := w.until("retry", func(e events.Event) bool { return e.Kind == events.KindRetry })
	if e.Attempt != 1 || e.Most != 10 || e.Reason == "" || time.Until(e.Until) > time.Second || turn.Retries != 1 {
		t.Errorf("told %+v, turn %+v", e, turn)
	}
}

func TestAPageThatIsLoadedDuringARetryHasIt(t *testing.T) {
	waits := make(chan struct{})
	step := agenttest.Blocks("", waits)
	step.Retries = []agent.Retry{{Attempt: 2, Most: 10, Wait: time.Minute, Reason: "The server is busy."}}
	h := newHouse(t, nil, step)
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	e := w.until("retry", func(e events.Event) bool { return e.Kind == events.KindRetry })
	got := h.runner.Live(session).Retry
	if got == nil || !got.Until.Equal(e.Until) || got.Attempt != 2 || got.Most != 10 || got.Reason != e.Reason {
		t.Errorf("the page has %+v, the event %+v", got, e)
	}
	close(waits)
	h.rest(turn)
	if got := h.runner.Live(session).Retry; got != nil {
		t.Errorf("after the answer the page has %+v", got)
	}
}
