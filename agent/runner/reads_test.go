package runner

import (
	"context"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// shows is a tool that keeps a copy, and returns seven bytes of it once release
// is closed or it is stopped.
func (h *house) shows(output string, release <-chan struct{}) agent.Tool {
	return agenttest.ToolFunc("show", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
		r := agenttest.Text("preview")
		r.Metadata.OutputID, r.Metadata.Shown = output, []models.Range{{Start: 0, End: 7}}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return r, h.store.CreateOutput(context.WithoutCancel(ctx), models.RetainedOutput{
			ID: output, SessionID: c.SessionID, TurnID: c.TurnID, CallID: c.ID, Tool: c.Tool, CreatedAt: time.Now(),
		})
	})
}

// readsOf reads what a result of shows says of itself, and checks that its call
// is told whole.
func (h *house) readsOf(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead {
	if call.Tool != "show" {
		return nil
	}
	if string(call.Arguments) != `{"n":1}` || call.OwnerID != h.owner || call.SessionID == "" {
		h.Errorf("asked for call %+v", call)
	}
	return []models.OutputRead{{
		OutputID: result.Metadata.OutputID, TurnID: call.TurnID, CallID: call.ID,
		Kind: models.ReadPreview, Range: result.Metadata.Shown[0], At: at,
	}}
}

func (h *house) reads(session, output string) []models.OutputRead {
	h.Helper()
	reads, err := h.store.Reads(h.Context(), session, output, 9)
	h.must(err)
	return reads
}

func TestWhatAResultShowsIsNotedWhenAReplyToItComes(t *testing.T) {
	done, never := make(chan struct{}), make(chan struct{})
	close(done)
	silent := agenttest.Step{Hold: never} // asked, and nothing comes
	down := agenttest.Fails(&agent.ModelError{Code: models.CodeProviderError, Message: "It is down."})
	type deed func(*house, func(*Config), *watcher, models.Turn)
	stop := func(h *house, _ func(*Config), _ *watcher, turn models.Turn) {
		h.script.Await(h.Context(), 2)
		h.must(h.runner.Stop(h.Context(), turn.ID))
	}
	for name, tt := range map[string]struct {
		steps   []agenttest.Step // after the call
		release <-chan struct{}  // of the tool
		during  deed
		noted   int // when the turn has ended
	}{
		"a whole reply":          {steps: []agenttest.Step{agenttest.Says("end")}, release: done, noted: 1},
		"calls alone":            {steps: []agenttest.Step{agenttest.Calls("look", "{}"), agenttest.Says("end")}, release: done, noted: 1},
		"nothing, to its end":    {steps: []agenttest.Step{{Finish: models.FinishStop}}, release: done, noted: 1},
		"a reply that broke off": {steps: []agenttest.Step{agenttest.Breaks("half")}, release: done, noted: 1},
		"a request that failed":  {steps: []agenttest.Step{down}, release: done},
		"a stop before it":       {steps: []agenttest.Step{silent}, release: done, during: stop},
		"a stop in the command": {release: never, during: func(h *house, _ func(*Config), w *watcher, turn models.Turn) {
			w.call(models.CallRunning)
			h.must(h.runner.Stop(h.Context(), turn.ID))
		}},
		"a kill before it": {steps: []agenttest.Step{silent}, release: done, during: func(h *house, build func(*Config), _ *watcher, _ models.Turn) {
			h.script.Await(h.Context(), 2)
			h.restart(build)
		}},
		"a kill within it": {steps: []agenttest.Step{agenttest.Blocks("half", never)}, release: done, noted: 1, during: func(h *house, build func(*Config), w *watcher, _ models.Turn) {
			w.text("half")
			h.restart(build)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			output := models.NewID(models.PrefixOutput)
			var h *house
			build := func(c *Config) {
				c.Store = &mortal{Store: c.Store}
				c.ReadsOf = func(call agent.Call, r agent.ToolResult, at time.Time) []models.OutputRead {
					return h.readsOf(call, r, at)
				}
				c.Tools = append(c.Tools, agenttest.ToolFunc("show", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
					return h.shows(output, tt.release).Run(ctx, c)
				}))
			}
			h = newHouse(t, build, append([]agenttest.Step{agenttest.Calls("show", `{"n":1}`)}, tt.steps...)...)
			session := h.session()
			w := h.watch(session)
			turn := h.send(session, "go")
			if tt.during != nil {
				tt.during(h, build, w, turn)
			}
			turn = h.rest(turn)
			if noted := h.reads(session, output); len(noted) != tt.noted {
				t.Fatalf("after the turn, which is %s, the reads are %+v", turn.State, noted)
			}
			w = h.watch(session)
			h.script.Then(agenttest.Says("on"))
			next := h.rest(h.send(session, "go on"))
			w.state(next, models.StateDone)
			noted := h.reads(session, output)
			if len(noted) != 1 || noted[0].Range.End != 7 || noted[0].TurnID != turn.ID {
				t.Errorf("after the next turn the reads are %+v", noted)
			}
			told := 0
			for _, e := range w.seen {
				if e.Kind == events.KindCall && e.CallID == noted[0].CallID {
					told++
				}
			}
			if told != 1-tt.noted {
				t.Errorf("the next turn told of the call %d times", told)
			}
		})
	}
}

func TestNothingIsNotedWhileTheModelIsSilent(t *testing.T) {
	output, done, release := models.NewID(models.PrefixOutput), make(chan struct{}), make(chan struct{})
	close(done)
	var h *house
	h = newHouse(t, func(c *Config) {
		c.ReadsOf = func(call agent.Call, r agent.ToolResult, at time.Time) []models.OutputRead {
			return h.readsOf(call, r, at)
		}
		c.Tools = []agent.Tool{agenttest.ToolFunc("show", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
			return h.shows(output, done).Run(ctx, c)
		})}
	}, agenttest.Calls("show", `{"n":1}`), agenttest.Step{Hold: release, Finish: models.FinishStop})
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	h.script.Await(t.Context(), 2)
	if noted := h.reads(session, output); len(noted) != 0 {
		t.Errorf("before the reply the reads are %+v", noted)
	}
	asked := time.Now()
	close(release)
	h.rest(turn)
	if noted := h.reads(session, output); len(noted) != 1 || noted[0].At.Before(asked.Truncate(time.Microsecond)) {
		t.Errorf("after it, at %v, the reads are %+v", asked, noted)
	}
	w.state(turn, models.StateDone)
	var told []string
	for _, e := range w.seen {
		if e.Kind == events.KindCall {
			told = append(told, e.CallState)
		}
	}
	if len(told) != 5 || told[4] != string(models.CallOK) {
		t.Errorf("of the call was told %q", told)
	}
}
