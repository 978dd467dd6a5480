package runner

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

// sent is what the model was sent with its nth request, without its tools'.
func (h *house) sent(n int) []string {
	h.Helper()
	requests := h.script.Requests()
	if len(requests) <= n {
		h.Fatalf("the model was asked %d times", len(requests))
	}
	var texts []string
	for _, m := range requests[n].Messages {
		texts = append(texts, m.Content)
	}
	return texts
}

func (h *house) wantSent(n int, want ...string) {
	h.Helper()
	if now := h.sent(n); !slices.Equal(now, want) {
		h.Errorf("request %d is %q, want %q", n, now, want)
	}
}

// version runs a new version to its end.
func (h *house) version(turn models.Turn, err error) models.Turn {
	h.Helper()
	h.must(err)
	return h.rest(turn)
}

func TestABrokenAnswerIsRetriedWithoutItAndContinuedWithIt(t *testing.T) {
	h := newHouse(t, nil, agenttest.Breaks("Half of th"), agenttest.Breaks("Another ha"), agenttest.Says("lf."), agenttest.Says("All right."))
	session := h.session()
	broken := h.rest(h.send(session, "go"))
	if broken.State != models.StateInterrupted || broken.ErrorCode != models.CodeStreamBroken || broken.Error == "" {
		t.Fatalf("the turn is %+v", broken)
	}
	w := h.watch(session)
	again := h.version(h.runner.Retry(t.Context(), broken))
	h.wantSent(1, "go")
	w.until("the version", func(e events.Event) bool { return e.Kind == events.KindVersion && e.TurnID == again.ID })
	if again.ID == broken.ID || again.Repeats != broken.ID {
		t.Errorf("the retry is %+v", again)
	}
	h.version(h.runner.Continue(t.Context(), again))
	h.wantSent(2, "go", "Another ha", agent.ResumeText)
	h.rest(h.send(session, "thanks"))
	h.wantSent(3, "go", "Another ha", agent.ResumeText, "lf.", "thanks")

	h.must(h.runner.Show(t.Context(), broken))
	w.until("the old version", func(e events.Event) bool { return e.Kind == events.KindVersion && e.TurnID == broken.ID })
	if now := h.messages(session); len(now) != 2 || now[1].Content != "Half of th" {
		t.Errorf("shown are %+v", now)
	}
}

func TestHalfACallIsNeverRevived(t *testing.T) {
	broken := agenttest.Breaks("I look")
	broken.Calls = []models.ToolCall{agenttest.Call("c", "look", `{"path":"a`)}
	h := newHouse(t, nil, broken, agenttest.Says("again"), agenttest.Says("on"))
	session := h.session()
	first := h.rest(h.send(session, "go"))
	second := h.version(h.runner.Retry(t.Context(), first))
	h.wantSent(1, "go")
	h.must(h.runner.Show(t.Context(), first))
	h.version(h.runner.Continue(t.Context(), first))
	request := h.script.Requests()[2].Messages
	if len(request) != 4 || len(request[1].ToolCalls) != 1 || request[2].ToolCallID != request[1].ToolCalls[0].ID || !request[2].Metadata.IsError {
		t.Errorf("sent are %+v", request)
	}
	if second.State != models.StateDone {
		t.Errorf("the retry is %+v", second)
	}
}

func TestAnEditAsksAnotherQuestionAtTheSamePlace(t *testing.T) {
	h := newHouse(t, nil, agenttest.Says("a1"), agenttest.Says("a2"), agenttest.Says("a3"), agenttest.Says("b2"), agenttest.Says("b4"))
	session := h.session()
	h.rest(h.send(session, "q1"))
	second := h.rest(h.send(session, "q2"))
	h.rest(h.send(session, "q3"))
	edited := h.version(h.runner.Edit(t.Context(), second, "q2, clearer"))
	h.wantSent(3, "q1", "a1", "q2, clearer")
	h.rest(h.send(session, "q4"))
	h.wantSent(4, "q1", "a1", "q2, clearer", "b2", "q4")
	if edited.ParentID != second.ParentID {
		t.Errorf("the edited turn is %+v", edited)
	}
}

func TestVersionsCountAsTurnsOfTheirUser(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Limits.TurnsPerUser = 1 }, agenttest.Says("a"), agenttest.Blocks("b", release))
	session := h.session()
	done := h.rest(h.send(session, "q"))
	running := h.send(h.session(), "other")
	_, err := h.runner.Retry(t.Context(), done)
	var limited *models.Error
	if !errors.As(err, &limited) || limited.Code != "too_many_turns" {
		t.Errorf("error is %v", err)
	}
	close(release)
	h.rest(running)
}

func TestNoVersionIsMadeOrShownWhileATurnRuns(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, nil, agenttest.Says("a"), agenttest.Blocks("b", release))
	session := h.session()
	done := h.rest(h.send(session, "q"))
	running := h.send(session, "next")
	_, edit := h.runner.Edit(t.Context(), done, "x")
	_, retry := h.runner.Retry(t.Context(), running) // it does not wait for a try
	_, goOn := h.runner.Continue(t.Context(), running)
	for name, err := range map[string]error{"edit": edit, "retry": retry, "continue": goOn} {
		if !errors.Is(err, models.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(release)
	h.rest(running)
}

func TestAWaitForTheNextTryCanBeEnded(t *testing.T) {
	asked := make(chan struct{}, 2)
	step := agenttest.Blocks("", make(chan struct{}))
	step.Retries = []agent.Retry{{Attempt: 2, Most: 10, Wait: time.Hour, Reason: "Busy.", Now: func() { asked <- struct{}{} }}}
	h := newHouse(t, nil, step)
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	isRetry := func(e events.Event) bool { return e.Kind == events.KindRetry }
	w.until("the wait", isRetry)
	for range 2 {
		if same, err := h.runner.Retry(t.Context(), turn); err != nil || same.ID != turn.ID {
			t.Errorf("retry gave %+v, %v", same, err)
		}
		<-asked
	}
	if e := w.until("its end", isRetry); time.Until(e.Until) > time.Second || e.Attempt != 2 {
		t.Errorf("told %+v", e)
	}
	if live := h.runner.Live(session).Retry; live == nil || time.Until(live.Until) > time.Second {
		t.Errorf("a page has %+v", live)
	}
	h.must(h.runner.Stop(context.Background(), turn.ID))
	if turn = h.rest(turn); turn.State != models.StateStopped || turn.Retries != 1 {
		t.Errorf("the turn is %+v", turn)
	}
}

// A page, or a program that polls, may see the end of a turn before its worker
// has let go of it. What it asks for then is a new turn.
func TestATurnThatHasEndedIsRetriedAndNotHastened(t *testing.T) {
	step := agenttest.Fails(&agent.ModelError{Code: models.CodeProviderError, Message: "Down."})
	step.Retries = []agent.Retry{{Attempt: 10, Most: 10, Reason: "Busy.", Now: func() {}}}
	h := newHouse(t, nil, step)
	session := h.session()
	turn := h.rest(h.send(session, "go"))
	j := newJournal(h.runner, turn, &slot{}, func(error) {})
	j.retry(agent.Retry{Attempt: 10, Most: 10, Wait: time.Hour, Now: func() {}})
	if !j.retryNow(turn.ID) {
		t.Fatal("a wait cannot be ended")
	}
	j.close(models.StateError)
	if j.retryNow(turn.ID) {
		t.Error("a turn that is over takes a retry for one of its own")
	}
}

// Between the last word of a turn and the worker's next look at its queue a page
// may be loaded: it must not take the turn for one that runs, because nothing
// will ever tell it that the turn ended.
func TestNothingIsLiveOnceTheEndWasTold(t *testing.T) {
	h := newHouse(t, nil, agenttest.Says("a"))
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "q")
	e := w.state(turn, models.StateDone)
	if live := h.runner.Live(session); live.Seq >= e.Seq && live.TurnID != "" {
		t.Errorf("after the end a page has %+v", live)
	}
}
