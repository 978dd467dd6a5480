package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// movable is a command-like tool that can go on in the background: at once, or
// when it is asked to. What it does there is the test's affair.
type movable struct {
	agent.Tool
	jobs chan backgroundJob
}

type backgroundJob struct {
	call  agent.Call
	cause chan error // why it was ended
	over  func(models.CallState)
}

func newMovable(atOnce bool) movable {
	m := movable{jobs: make(chan backgroundJob, 10)}
	m.Tool = agenttest.ToolFunc("command", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
		c.Live("so far ", 7)
		how := models.BackgroundStarted
		if atOnce {
			if err := c.Background.Reserve(); err != nil {
				return agent.ErrorResult(c.ID, "%s", err), nil
			}
		} else {
			how = models.BackgroundMoved
			select {
			case <-c.Background.Asked():
			case <-ctx.Done():
				return agenttest.Text("stopped"), nil
			}
		}
		job := backgroundJob{call: c, cause: make(chan error, 9)}
		job.over = c.Background.Detach("out_"+c.ID, func(cause error) { job.cause <- cause })
		m.jobs <- job
		result := agenttest.Text("it goes on")
		result.Metadata.Background = how
		return result, nil
	})
	return m
}

func (m movable) Spec() agent.ToolSpec {
	spec := m.Tool.Spec()
	spec.HasEffects, spec.Movable = true, true
	return spec
}

// behind is a house whose model calls that tool, and then rests.
func behind(t *testing.T, atOnce bool, change func(*Config)) (*house, movable) {
	tool := newMovable(atOnce)
	h := newHouse(t, func(c *Config) {
		c.Tools = append(c.Tools, tool)
		if change != nil {
			change(c)
		}
	}, agenttest.CallsAll(agenttest.Call("a", "command", "{}")), agenttest.Says("end"))
	return h, tool
}

func TestACallThatIsMovedEndsItsTurnAndIsSeenOn(t *testing.T) {
	h, tool := behind(t, false, nil)
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	w.until("output", func(e events.Event) bool { return e.Kind == events.KindOutput })
	if live := h.runner.Live(session); !live.Calls[0].Movable {
		t.Errorf("live %+v", live)
	}
	if err := h.runner.MoveCall(t.Context(), session, "trn_other", "a"); !errors.Is(err, models.ErrConflict) {
		t.Errorf("moved in another turn: %v", err)
	}
	if err := h.runner.MoveCall(t.Context(), session, turn.ID, "b"); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("moved an unknown call: %v", err)
	}
	h.must(h.runner.MoveCall(t.Context(), session, turn.ID, "a"))
	if turn = h.rest(turn); turn.State != models.StateDone || len(h.script.Requests()) != 1 {
		t.Errorf("the turn is %s after %d requests", turn.State, len(h.script.Requests()))
	}
	job := <-tool.jobs
	job.call.Live("and on", 13)
	w.until("output after the turn", func(e events.Event) bool { return e.Kind == events.KindOutput && e.Text == "and on" && e.Bytes == 13 })
	if live := h.runner.Live(session); live.TurnID != "" || len(live.Calls) != 1 || live.Calls[0].Tail != "so far and on" {
		t.Errorf("live %+v", live)
	}
	if err := h.runner.MoveCall(t.Context(), session, turn.ID, "a"); err != nil { // a double click
		t.Errorf("moved again: %v", err)
	}
	if err := h.runner.StopOutput(session, "out_b"); !errors.Is(err, models.ErrConflict) {
		t.Errorf("stopped another output: %v", err)
	}
	h.must(h.runner.StopOutput(session, "out_a"))
	h.must(h.runner.StopCall(t.Context(), session, "a"))
	if first, second := <-job.cause, <-job.cause; !errors.Is(first, agent.ErrStopped) || !errors.Is(second, agent.ErrStopped) {
		t.Errorf("stopped because of %v, %v", first, second)
	}
	job.over(models.CallStopped)
	w.call(models.CallStopped)
	if live := h.runner.Live(session); len(live.Calls) != 0 || len(h.runner.background.places) != 0 {
		t.Errorf("left: %+v, %v", live, h.runner.background.places)
	}
}

func TestOnlyWhatIsMovableIsMoved(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, waits("printed", release)) },
		agenttest.CallsAll(agenttest.Call("a", "command", "{}")), agenttest.Says("end"))
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	w.call(models.CallRunning)
	if err := h.runner.MoveCall(t.Context(), session, turn.ID, "a"); !errors.Is(err, models.ErrConflict) {
		t.Error(err)
	}
	close(release)
	h.rest(turn)
	if err := h.runner.MoveCall(t.Context(), session, turn.ID, "a"); !errors.Is(err, models.ErrConflict) {
		t.Error(err)
	}
}

// A place that was asked for and not used is free again.
func TestPlacesInTheBackground(t *testing.T) {
	h, tool := behind(t, true, func(c *Config) { c.Limits.BackgroundPerUser = 1 })
	h.script.Then(agenttest.Calls("command", "{}"), agenttest.Says("refused"), agenttest.Calls("command", "{}"), agenttest.Says("runs"))
	session := h.session()
	h.rest(h.send(session, "one"))
	job := <-tool.jobs
	h.rest(h.send(session, "two"))
	all := h.messages(session)
	if refused := all[len(all)-2]; !strings.Contains(refused.Content, "1 commands run in the background") {
		t.Errorf("the second is told %q", refused.Content)
	}
	job.over(models.CallOK)
	h.rest(h.send(session, "three"))
	(<-tool.jobs).over(models.CallOK)
}

func TestWhatEndsTheBackground(t *testing.T) {
	ends := map[string]struct {
		by    func(h *house, session string)
		cause error
		waits bool
	}{
		"the session ends":    {func(h *house, session string) { h.runner.EndSession(context.Background(), session) }, agent.ErrStopped, true},
		"the server ends":     {func(h *house, _ string) { h.must(h.runner.Shutdown(context.Background())) }, agent.ErrShutdown, true},
		"the owner may not":   {func(h *house, _ string) { h.runner.EndBackgroundOf(h.runner.BackgroundOwners()[0]) }, agent.ErrStopped, false},
		"it is put away":      {func(h *house, session string) { h.runner.EndBackground(session) }, agent.ErrStopped, false},
		"not by a turn's end": {func(h *house, session string) { h.rest(h.send(session, "another")) }, nil, false},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			h, tool := behind(t, true, nil)
			h.script.Then(agenttest.Says("another"))
			session := h.session()
			h.rest(h.send(session, "go"))
			job := <-tool.jobs
			done := make(chan struct{})
			go func() {
				defer close(done)
				end.by(h, session)
			}()
			if end.cause == nil {
				<-done
				select {
				case cause := <-job.cause:
					t.Errorf("it was ended: %v", cause)
				default:
				}
				job.over(models.CallOK)
				return
			}
			if cause := <-job.cause; !errors.Is(cause, end.cause) {
				t.Errorf("it was ended because of %v", cause)
			}
			if end.waits {
				select {
				case <-done:
					t.Error("the end of the command was not waited for")
				case <-time.After(20 * time.Millisecond):
				}
			}
			job.over(models.CallStopped)
			<-done
		})
	}
}

// What comes to the background while all of it ends is ended too.
func TestNothingComesToTheBackgroundOfWhatEnds(t *testing.T) {
	h, tool := behind(t, false, nil)
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	w.until("output", func(e events.Event) bool { return e.Kind == events.KindOutput })
	done := make(chan struct{})
	h.must(h.runner.MoveCall(t.Context(), session, turn.ID, "a"))
	go func() {
		defer close(done)
		h.must(h.runner.Shutdown(context.Background()))
	}()
	job := <-tool.jobs
	if cause := <-job.cause; !errors.Is(cause, agent.ErrShutdown) {
		t.Errorf("it was ended because of %v", cause)
	}
	job.over(models.CallInterrupted)
	<-done
}

func TestTheModelIsToldWhatRunsInTheBackground(t *testing.T) {
	h, tool := behind(t, true, nil)
	h.script.Then(agenttest.Says("noted"), agenttest.Says("known"))
	session := h.session()
	h.rest(h.send(session, "go"))
	job := <-tool.jobs
	defer job.over(models.CallOK)
	now := time.Now()
	o := models.RetainedOutput{ID: "out_a", SessionID: session, CallID: "a", Tool: "command", Title: "make", Running: true, Background: true, CreatedAt: now}
	h.must(h.store.CreateOutput(t.Context(), o))
	h.rest(h.send(session, "second"))
	o.Running, o.EndedAt, o.End = false, models.Ptr(time.Now()), &models.CommandEnd{State: models.StateDone, ExitCode: models.Ptr(2)}
	h.must(h.store.WriteOutput(t.Context(), o, models.OutputWrite{}))
	h.script.Then(agenttest.Says("silence"))
	h.rest(h.send(session, "third"))
	h.rest(h.send(session, "fourth"))

	requests := h.script.Requests()
	said := func(i int) string { return requests[i].Messages[len(requests[i].Messages)-1].Content }
	if got := said(2); !strings.HasPrefix(got, agent.BackgroundNote) || !strings.Contains(got, "out_a (make): still runs") {
		t.Errorf("with the second it is told %q", got)
	}
	if got := said(3); !strings.Contains(got, "out_a (make): ended with exit code 2") {
		t.Errorf("with the third it is told %q", got)
	}
	if got := said(4); got != "fourth" {
		t.Errorf("with the fourth it is told %q", got)
	}
	for i := 2; i < 4; i++ { // the provider's cache needs what was sent to stay
		sent, again := requests[i].Messages, requests[i+1].Messages
		for k, m := range sent {
			if again[k].Content != m.Content || again[k].Role != m.Role {
				t.Errorf("message %d was sent as %q, and then as %q", k, m.Content, again[k].Content)
			}
		}
	}
	for _, m := range h.messages(session) {
		if strings.Contains(m.Content, agent.BackgroundNote) && !m.IsMeta {
			t.Errorf("a person sees %q", m.Content)
		}
	}
}

// The button may be pressed in the moment in which the command ends.
func TestAMoveThatComesTooLateTakesNoPlace(t *testing.T) {
	h := newHouse(t, nil)
	j := newJournal(h.runner, models.Turn{ID: "t", SessionID: h.session(), OwnerID: "ann"}, &slot{}, func(error) {})
	call := models.ToolCall{ID: "a", Name: "command"}
	j.CallStarted(t.Context(), "m", call, true)
	running, _ := j.running("a")
	j.CallEnded(call, models.Message{})
	if err := running.place.ask(); !errors.Is(err, models.ErrConflict) {
		t.Errorf("it is moved: %v", err)
	}
	if left := h.runner.background.places; len(left) != 0 {
		t.Errorf("places taken: %v", left)
	}
}
