package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/approve"
	"offcut/agent/events"
	"offcut/models"
)

// acts is a tool that somebody has to allow.
type acts struct{ agent.Tool }

func (a acts) Spec() agent.ToolSpec {
	spec := a.Tool.Spec()
	spec.HasEffects, spec.Deed = true, agent.DeedChange
	spec.Fits = func(json.RawMessage) error { return nil }
	return spec
}

func asksFirst(t agent.Tool) agent.Tool {
	return approve.Wrap(acts{t}, approve.Policy{Mode: approve.Ask})
}

// script is a tool that calls another one twice, at the same time.
func script(inner agent.Tool) agent.Tool {
	return agenttest.ToolFunc("script", func(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
		results := make(chan agent.ToolResult, 2)
		for _, suffix := range []string{"-1", "-2"} {
			go func() {
				nested := call
				nested.ID, nested.Tool, nested.Arguments = call.ID+suffix, "act", []byte(`{"n":"`+suffix+`"}`)
				result, err := inner.Run(ctx, nested)
				if err != nil {
					result = agent.ErrorResult(nested.ID, "%v", err)
				}
				results <- result
			}()
		}
		return agenttest.Text((<-results).Content + " + " + (<-results).Content), nil
	})
}

// waiting waits until so many calls of a turn wait for somebody.
func (h *house) waiting(turn models.Turn, n int) []models.Approval {
	h.Helper()
	for range 200 {
		waiting, err := h.store.Waiting(h.Context(), turn.ID)
		h.must(err)
		now, err := h.store.AnyTurn(h.Context(), turn.ID)
		h.must(err)
		if len(waiting) == n && now.State == models.StateAwaitingApproval {
			return waiting
		}
		time.Sleep(20 * time.Millisecond)
	}
	h.Fatalf("never do %d calls wait", n)
	return nil
}

func (h *house) decide(turn models.Turn, callID string, d models.Decision) {
	h.Helper()
	h.must(h.runner.Decide(h.Context(), models.Verdict{TurnID: turn.ID, CallID: callID, Decision: d, By: h.owner, Now: time.Now()}))
}

func nesting(t *testing.T, limits Limits) *house {
	act := asksFirst(agenttest.Returns("act", "acted"))
	return newHouse(t, func(c *Config) {
		c.Tools = []agent.Tool{script(act), act}
		c.Limits = limits
	}, agenttest.Calls("script", `{}`), agenttest.Says("done"))
}

func TestCallsWithinACallAreAskedAboutToo(t *testing.T) {
	h := nesting(t, Limits{})
	turn := h.send(h.session(), "go")
	waiting := h.waiting(turn, 2)
	if now, _ := h.store.AnyTurn(t.Context(), turn.ID); now.Parked {
		t.Error("a turn of which a tool runs is parked")
	}
	h.decide(turn, waiting[0].CallID, models.DecisionOnce)
	h.waiting(turn, 1)
	h.decide(turn, waiting[1].CallID, models.DecisionDeny)
	if ended := h.rest(turn); ended.State != models.StateDone {
		t.Fatalf("the turn is %+v", ended)
	}
	told := h.script.Requests()[1].Messages
	if content := told[len(told)-1].Content; !strings.Contains(content, "acted") || !strings.Contains(content, "denied it: act was not run") {
		t.Errorf("the script returned %q", content)
	}
}

// A script does not go on after the program ended: its turn is interrupted, and
// nobody is asked any more.
func TestATurnWhoseToolWaitsIsInterrupted(t *testing.T) {
	h := nesting(t, Limits{ShutdownGrace: 10 * time.Millisecond})
	turn := h.send(h.session(), "go")
	h.waiting(turn, 2)
	h.must(h.runner.Shutdown(t.Context()))
	now, err := h.store.AnyTurn(t.Context(), turn.ID)
	h.must(err)
	if waiting, err := h.store.Waiting(t.Context(), turn.ID); err != nil || len(waiting) > 0 || now.State != models.StateInterrupted {
		t.Errorf("the turn is %s, and %d calls wait", now.State, len(waiting))
	}
}

func TestStoppingTheToolAloneEndsItsWaits(t *testing.T) {
	h := nesting(t, Limits{})
	session := h.session()
	turn := h.send(session, "go")
	waiting := h.waiting(turn, 2)
	parent, _, _ := strings.Cut(waiting[0].CallID, "-")
	w := h.watch(session)
	h.must(h.runner.StopCall(t.Context(), session, parent))
	w.state(turn, models.StateDone)
	if ended := h.rest(turn); ended.State != models.StateDone {
		t.Errorf("the turn is %+v", ended)
	}
	err := h.runner.Decide(t.Context(), models.Verdict{TurnID: turn.ID, CallID: waiting[0].CallID, Decision: models.DecisionOnce})
	if !errors.Is(err, models.ErrConflict) {
		t.Errorf("a late answer is %v", err)
	}
}

// Who waits for a person keeps nobody from running.
func TestATurnThatWaitsGivesUpItsPlace(t *testing.T) {
	act := asksFirst(agenttest.Returns("act", "acted"))
	h := newHouse(t, func(c *Config) {
		c.Tools = []agent.Tool{act}
		c.Limits = Limits{Turns: 1}
	}, agenttest.Calls("act", `{}`), agenttest.Says("of another"), agenttest.Says("done"))
	turn := h.send(h.session(), "go")
	waiting := h.waiting(turn, 1)
	h.rest(h.send(h.session(), "me too"))
	h.decide(turn, waiting[0].CallID, models.DecisionOnce)
	h.rest(turn)
}

// Nor does a script that waits for them: each of its calls may, at the same time.
func TestATurnWhoseToolWaitsGivesUpItsPlace(t *testing.T) {
	act := asksFirst(agenttest.Returns("act", "acted"))
	h := newHouse(t, func(c *Config) {
		c.Tools = []agent.Tool{script(act), act}
		c.Limits = Limits{Turns: 1}
	}, agenttest.Calls("script", `{}`), agenttest.Says("of another"), agenttest.Says("of a third"), agenttest.Says("done"))
	turn := h.send(h.session(), "go")
	waiting := h.waiting(turn, 2)
	h.rest(h.send(h.session(), "me too"))
	h.decide(turn, waiting[0].CallID, models.DecisionOnce)
	h.waiting(turn, 1)
	h.rest(h.send(h.session(), "and me"))
	h.decide(turn, waiting[1].CallID, models.DecisionOnce)
	if ended := h.rest(turn); ended.State != models.StateDone {
		t.Errorf("the turn is %+v", ended)
	}
	h.must(h.runner.Shutdown(t.Context()))
	if n := len(h.runner.slots); n != 0 {
		t.Errorf("%d places are still taken", n)
	}
}

// A call that outlives its turn after a stop takes no place with it.
func TestATurnThatIsOverTakesNoPlace(t *testing.T) {
	s := &slot{slots: make(chan struct{}, 1)}
	s.slots <- struct{}{}
	s.held = true
	s.leave() // the call waits
	s.leave() // the turn is over
	if !s.take(t.Context(), nil) || len(s.slots) != 0 {
		t.Errorf("%d places are taken", len(s.slots))
	}
}

// Whoever watches is told of each change of what waits, and of the state.
func TestWatchersAreToldWhatWaits(t *testing.T) {
	act := asksFirst(agenttest.Returns("act", "acted"))
	h := newHouse(t, func(c *Config) { c.Tools = []agent.Tool{act} }, agenttest.Calls("act", `{}`), agenttest.Says("done"))
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	asks := func(state models.State) {
		t.Helper()
		w.until("approval "+string(state), func(e events.Event) bool {
			return e.Kind == events.KindApproval && e.State == state && e.TurnID == turn.ID
		})
	}
	asks(models.StateAwaitingApproval)
	h.decide(turn, h.waiting(turn, 1)[0].CallID, models.DecisionOnce)
	asks(models.StateRunning)
	w.call(models.CallOK)
	w.state(turn, models.StateDone)
}

// A tool may be gone after a restart: an MCP server that is not up yet. Its call
// has its error, and then nobody is asked about it any more.
func TestAParkedTurnWhoseToolIsGoneRunsOn(t *testing.T) {
	tool := asksFirst(agenttest.ToolFunc("act", func(context.Context, agent.Call) (agent.ToolResult, error) {
		return agenttest.Text("done"), nil
	}))
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, tool) }, agenttest.CallsAll(agenttest.Call("a", "act", "{}")))
	session := h.session()
	turn := h.send(session, "go")
	h.waiting(turn, 1)
	h.must(h.runner.Shutdown(t.Context()))
	h.build(nil)
	release := make(chan struct{})
	h.script.Then(agenttest.Blocks("half", release))
	w := h.watch(session)
	h.must(h.runner.Resume(t.Context()))
	w.text("half")
	now, err := h.store.AnyTurn(t.Context(), turn.ID)
	h.must(err)
	waiting, err := h.store.Waiting(t.Context(), turn.ID)
	h.must(err)
	if now.State != models.StateRunning || now.Parked || len(waiting) != 0 {
		t.Errorf("the turn is %+v, and %d calls wait", now, len(waiting))
	}
	close(release)
	h.rest(turn)
}

// The page shows the turn as soon as the program answers; its runner may not yet
// have gone on with it.
func TestAParkedTurnIsStoppedBeforeItGoesOn(t *testing.T) {
	ran := false
	tool := asksFirst(agenttest.ToolFunc("act", func(context.Context, agent.Call) (agent.ToolResult, error) {
		ran = true
		return agenttest.Text("done"), nil
	}))
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, tool) }, agenttest.CallsAll(agenttest.Call("a", "act", "{}")))
	turn := h.send(h.session(), "go")
	h.waiting(turn, 1)
	h.must(h.runner.Shutdown(t.Context()))
	h.build(func(c *Config) { c.Tools = append(c.Tools, tool) })
	w := h.watch(turn.SessionID)
	h.must(h.runner.Stop(t.Context(), turn.ID))
	w.state(turn, models.StateStopped)
	if ran {
		t.Error("the tool of the stopped turn ran")
	}
}

func TestACallThatWasCutSaysSoAfterARestartToo(t *testing.T) {
	tool := asksFirst(agenttest.ToolFunc("act", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
		return agenttest.Text("done with " + string(c.Arguments)), nil
	}))
	cut := agenttest.CallsAll(agenttest.Call("a", "act", `{"text":"half of`))
	cut.Finish = models.FinishLength
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, tool) }, cut)
	turn := h.send(h.session(), "go")
	h.waiting(turn, 1)
	h.must(h.runner.Shutdown(t.Context()))
	h.build(func(c *Config) { c.Tools = append(c.Tools, tool) })
	h.script.Then(agenttest.Says("end"))
	h.must(h.runner.Resume(t.Context()))
	h.decide(turn, "a", models.DecisionOnce)
	h.rest(turn)
	for _, m := range h.messages(turn.SessionID) {
		if m.ToolCallID != "" && (!m.Metadata.ArgumentsTruncated || !strings.HasPrefix(m.Content, `done with {"text":"half of"}`)) {
			t.Errorf("the result is %s\n%s", m.Metadata.Line(), m.Content)
		}
	}
}

// A model's server may give its call the id that a tool gave one before: what was
// allowed then was another call.
func TestAnAnswerHoldsForItsOwnCallAlone(t *testing.T) {
	act := asksFirst(agenttest.Returns("act", "acted"))
	h := newHouse(t, func(c *Config) { c.Tools = []agent.Tool{script(act), act} },
		agenttest.CallsAll(agenttest.Call("c", "script", `{}`)), agenttest.Says("one"),
		agenttest.CallsAll(agenttest.Call("c-1", "act", `{"quite":"another"}`)), agenttest.Says("two"))
	session := h.session()
	turn := h.send(session, "go")
	for _, w := range h.waiting(turn, 2) {
		h.decide(turn, w.CallID, models.DecisionOnce)
	}
	h.rest(turn)
	turn = h.send(session, "again")
	asked := h.waiting(turn, 1)
	if asked[0].CallID == "c-1" || asked[0].Arguments != `{"quite":"another"}` {
		t.Errorf("asked about %+v", asked[0])
	}
	h.decide(turn, asked[0].CallID, models.DecisionDeny)
	h.rest(turn)
}
