package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/events"
	"offcut/models"
)

func TestATurnIsStoredAndTold(t *testing.T) {
	ask := agenttest.Calls("look", `{}`)
	ask.Chunks, ask.Reasoning, ask.Usage = []string{"I look."}, "hm", models.Usage{InputTokens: 10, OutputTokens: 2}
	say := agenttest.Says("It is there.")
	say.Usage = models.Usage{InputTokens: 20, OutputTokens: 4}
	h := newHouse(t, nil, ask, say)
	session := h.session()
	w := h.watch(session)
	turn := h.rest(h.send(session, "Where is it?\nmore"))

	if turn.State != models.StateDone || turn.Usage.InputTokens != 30 || turn.Model != "scripted" || turn.EndedAt == nil || turn.Error != "" {
		t.Errorf("turn %+v", turn)
	}
	var got []string
	for _, m := range h.messages(session) {
		got = append(got, string(m.Role)+" "+string(m.State)+" "+m.Content)
	}
	want := []string{"user done Where is it?\nmore", "assistant done I look.", "tool done seen", "assistant done It is there."}
	if !slices.Equal(got, want) {
		t.Errorf("stored %q, want %q", got, want)
	}
	if m := h.messages(session)[1]; m.Reasoning != "hm" || len(m.ToolCalls) != 1 || m.ToolCalls[0].ID == "" {
		t.Errorf("reply %+v", m)
	}
	if s, err := h.store.AnySession(t.Context(), session); err != nil || s.Title != "Where is it?" {
		t.Errorf("session %+v, %v", s, err)
	}

	w.state(turn, models.StateDone)
	var kinds []string
	for _, e := range w.seen {
		kinds = append(kinds, strings.TrimSpace(string(e.Kind)+" "+string(e.State)+e.CallState))
	}
	for _, in := range [][]string{
		{"message queued", "turn queued", "turn running", "message done", "message running", "reasoning", "message done", "usage", "call waiting", "call running", "call ok", "message done", "call ok", "message running", "text", "message done", "usage", "turn done"},
		{"turn queued", "title", "turn done"},
		{"message running", "text", "message done"},
	} {
		if !subsequence(in, kinds) {
			t.Errorf("told %q, want in this order %q", kinds, in)
		}
	}
	for i, e := range w.seen[1:] {
		if e.Seq != w.seen[i].Seq+1 {
			t.Errorf("event %d follows %d", e.Seq, w.seen[i].Seq)
		}
	}
}

func subsequence(of, in []string) bool {
	for _, s := range in {
		if len(of) > 0 && s == of[0] {
			of = of[1:]
		}
	}
	return len(of) == 0
}

func TestTurnsOfASessionRunOneAfterTheOther(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, nil, agenttest.Blocks("one", release), agenttest.Says("two"), agenttest.Says("three"))
	session := h.session()
	first, second, third := h.send(session, "1"), h.send(session, "2"), h.send(session, "3")
	time.Sleep(50 * time.Millisecond)
	if n := len(h.script.Requests()); n != 1 {
		t.Fatalf("%d requests while the first runs", n)
	}
	close(release)
	for _, turn := range []models.Turn{first, second, third} {
		h.rest(turn)
	}
	var said []string
	for _, m := range h.messages(session) {
		said = append(said, m.Content)
	}
	if want := []string{"1", "one", "2", "two", "3", "three"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
	if sent := h.script.Requests()[1].Messages; len(sent) != 3 {
		t.Errorf("the second turn was sent %d messages, and not what was queued behind it", len(sent))
	}
}

func TestTheQueueGoesOnAfterAnyEnding(t *testing.T) {
	for name, test := range map[string]struct {
		first agenttest.Step
		stop  bool
		state models.State
		code  models.TurnErrorCode
	}{
		"a stop":          {agenttest.Blocks("one", make(chan struct{})), true, models.StateStopped, ""},
		"an error":        {agenttest.Fails(&agent.ModelError{Code: models.CodeRateLimited, Message: "Too many."}), false, models.StateError, models.CodeRateLimited},
		"an interruption": {agenttest.Breaks("one"), false, models.StateInterrupted, models.CodeStreamBroken},
		"a panic":         {agenttest.Step{Chunks: []string{"one"}, Panic: "at /srv/x"}, false, models.StateError, models.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			hold := make(chan struct{})
			h := newHouse(t, func(c *Config) { c.Limits.Turns = 1 }, agenttest.Blocks("", hold), test.first, agenttest.Says("two"))
			before := h.send(h.session(), "holds the only place")
			h.script.Await(t.Context(), 1)
			session := h.session()
			first, second := h.send(session, "1"), h.send(session, "2")
			close(hold)
			h.rest(before)
			if test.stop {
				h.script.Await(t.Context(), 2)
				h.must(h.runner.Stop(t.Context(), first.ID))
			}
			first, second = h.rest(first), h.rest(second)
			if first.State != test.state || first.ErrorCode != test.code || strings.Contains(first.Error, "/srv") {
				t.Errorf("first %+v", first)
			}
			if second.State != models.StateDone {
				t.Errorf("second %+v", second)
			}
			all := h.messages(session)
			if all[len(all)-1].Content != "two" {
				t.Errorf("the last message is %q", all[len(all)-1].Content)
			}
			for _, m := range all {
				if !m.State.Final() {
					t.Errorf("message %q is still %s", m.Content, m.State)
				}
			}
		})
	}
}

// inASecond: at least one of three stops takes no longer.
func inASecond(t *testing.T, stop func() time.Duration) {
	t.Helper()
	if took := agenttest.Quickest(time.Second, stop); took > time.Second {
		t.Errorf("a stop took %v", took)
	}
}

func TestAStopKeepsWhatHadCome(t *testing.T) {
	t.Run("of the stream", func(t *testing.T) {
		inASecond(t, func() time.Duration {
			h := newHouse(t, nil, agenttest.Blocks("twenty tokens", make(chan struct{})), agenttest.Says("on"))
			session := h.session()
			w := h.watch(session)
			turn := h.send(session, "go")
			w.text("twenty")
			start := time.Now()
			h.must(h.runner.Stop(t.Context(), turn.ID))
			turn = h.rest(turn)
			took := time.Since(start)
			if turn.State != models.StateStopped {
				t.Errorf("the turn is %s", turn.State)
			}
			if m := h.messages(session)[1]; m.Content != "twenty tokens" || m.State != models.StateStopped {
				t.Errorf("stored %+v", m)
			}
			h.rest(h.send(session, "go on"))
			if sent := h.script.Requests()[1].Messages; len(sent) != 3 || sent[1].Content != "twenty tokens" {
				t.Errorf("sent %+v", sent)
			}
			return took
		})
	})
	t.Run("of a command", func(t *testing.T) {
		inASecond(t, func() time.Duration {
			h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, waits("printed", nil)) },
				agenttest.CallsAll(agenttest.Call("a", "command", "{}"), agenttest.Call("b", "look", "{}")), agenttest.Says("on"))
			session := h.session()
			w := h.watch(session)
			turn := h.send(session, "go")
			printed, looked := false, false
			w.until("output and the other call's end", func(e events.Event) bool {
				printed = printed || (e.Kind == events.KindOutput && e.Text == "printed" && e.Bytes == 7)
				looked = looked || e.CallState == string(models.CallOK)
				return printed && looked
			})
			start := time.Now()
			h.must(h.runner.Stop(t.Context(), turn.ID))
			turn = h.rest(turn)
			took := time.Since(start)
			if turn.State != models.StateStopped {
				t.Errorf("the turn is %s", turn.State)
			}
			all := h.messages(session)
			if len(all) != 4 || !strings.HasPrefix(all[2].Content, "printed\n[The call was started") || all[2].CallState() != models.CallStopped || all[3].CallState() != models.CallOK {
				t.Errorf("stored %+v", all)
			}
			if turn = h.rest(h.send(session, "go on")); turn.State != models.StateDone {
				t.Errorf("the session cannot go on: %+v", turn)
			}
			return took
		})
	})
	t.Run("of a queued turn", func(t *testing.T) {
		release := make(chan struct{})
		h := newHouse(t, nil, agenttest.Blocks("one", release), agenttest.Says("three"))
		session := h.session()
		w := h.watch(session)
		first, second, third := h.send(session, "1"), h.send(session, "2"), h.send(session, "3")
		h.must(h.runner.Stop(t.Context(), second.ID))
		w.state(second, models.StateStopped)
		close(release)
		if first = h.rest(first); first.State != models.StateDone {
			t.Errorf("the running turn was %s", first.State)
		}
		h.rest(third)
		if second = h.rest(second); second.State != models.StateStopped {
			t.Errorf("the removed turn is %s", second.State)
		}
		for _, m := range h.script.Requests()[1].Messages {
			if m.Content == "2" {
				t.Error("the removed message was sent")
			}
		}
		h.must(h.runner.Stop(t.Context(), second.ID)) // again: no error
	})
	t.Run("of an unknown turn", func(t *testing.T) {
		h := newHouse(t, nil)
		if err := h.runner.Stop(t.Context(), "trn_none"); !errors.Is(err, models.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestOneCallCanBeStoppedAlone(t *testing.T) {
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, waits("printed", nil)) },
		agenttest.CallsAll(agenttest.Call("a", "command", "{}")), agenttest.Says("it was stopped"))
	session := h.session()
	w := h.watch(session)
	turn := h.send(session, "go")
	w.until("output", func(e events.Event) bool { return e.Kind == events.KindOutput })
	if live := h.runner.Live(session); len(live.Calls) != 1 || live.Calls[0].CallID != "a" || live.Calls[0].Tail != "printed" || live.TurnID != turn.ID {
		t.Errorf("live %+v", live)
	}
	if err := h.runner.StopCall(t.Context(), session, "b"); !errors.Is(err, models.ErrNotFound) {
		t.Error(err)
	}
	h.must(h.runner.StopCall(t.Context(), session, "a"))
	if turn = h.rest(turn); turn.State != models.StateDone {
		t.Errorf("turn %+v", turn)
	}
	if err := h.runner.StopCall(t.Context(), session, "a"); !errors.Is(err, models.ErrConflict) {
		t.Errorf("stopped again: %v", err)
	}
	if m := h.messages(session)[2]; m.CallState() != models.CallStopped || !strings.HasPrefix(m.Content, "printed\n[The call was started") {
		t.Errorf("result %+v", m)
	}
}

func TestSendingTheSameTwiceIsOneTurn(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Limits.TurnsPerUser = 1 }, agenttest.Blocks("one", release))
	session := h.session()
	ids := make(chan string, 20)
	var tabs sync.WaitGroup
	for range cap(ids) {
		tabs.Go(func() {
			turn, err := h.runner.Send(t.Context(), models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "go", ClientID: "c1"})
			if err != nil {
				t.Error(err)
			}
			ids <- turn.ID
		})
	}
	tabs.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Errorf("turns %s and %s", first, id)
		}
	}
	close(release)
	h.rest(models.Turn{ID: first})
	turn, err := h.runner.Send(t.Context(), models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "go", ClientID: "c1"})
	if err != nil || turn.ID != first || len(h.messages(session)) != 2 {
		t.Errorf("after its end: %s, %v, %d messages", turn.ID, err, len(h.messages(session)))
	}
}

func TestTurnsAreBounded(t *testing.T) {
	t.Run("for a user", func(t *testing.T) {
		release := make(chan struct{})
		h := newHouse(t, func(c *Config) { c.Limits.TurnsPerUser = 3 }, agenttest.Blocks("", release), agenttest.Blocks("", release), agenttest.Blocks("", release), agenttest.Says("x"))
		var turns []models.Turn
		for range 3 {
			turns = append(turns, h.send(h.session(), "go"))
		}
		session := h.session()
		_, err := h.runner.Send(t.Context(), models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "go"})
		var limited *models.Error
		if !errors.As(err, &limited) || limited.Kind != models.ErrLimited || limited.Code != "too_many_turns" || limited.Args["count"] == nil || limited.RetryAfter == 0 {
			t.Fatalf("the fourth: %v", err)
		}
		if len(h.messages(session)) != 0 {
			t.Error("a refused message was stored")
		}
		close(release)
		for _, turn := range turns {
			h.rest(turn)
		}
		h.rest(h.send(session, "go"))
	})
	t.Run("of one user, who sends again what was sent", func(t *testing.T) {
		release := make(chan struct{})
		h := newHouse(t, func(c *Config) { c.Limits.TurnsPerUser = 1 }, agenttest.Says("x"), agenttest.Blocks("", release))
		session := h.session()
		first := models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "go", ClientID: "k1"}
		ended, err := h.runner.Send(t.Context(), first)
		h.must(err)
		h.rest(ended)
		second := models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "go on", ClientID: "k2"}
		running, err := h.runner.Send(t.Context(), second)
		h.must(err)
		h.build(func(c *Config) { c.Limits.TurnsPerUser = 1 }) // one that remembers nothing
		for _, sent := range []struct {
			new  models.NewTurn
			turn models.Turn
		}{{first, ended}, {second, running}} {
			if again, err := h.runner.Send(t.Context(), sent.new); err != nil || again.ID != sent.turn.ID {
				t.Errorf("%s again: turn %q, %v; want %q", sent.new.ClientID, again.ID, err, sent.turn.ID)
			}
		}
		for _, id := range []string{"", "k3"} {
			third := models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "more", ClientID: id}
			if _, err := h.runner.Send(t.Context(), third); !errors.Is(err, models.ErrLimited) {
				t.Errorf("client id %q: %v", id, err)
			}
		}
		close(release)
	})
	t.Run("in all", func(t *testing.T) {
		release := make(chan struct{})
		h := newHouse(t, func(c *Config) { c.Limits.Turns = 2 }, agenttest.Blocks("", release), agenttest.Blocks("", release), agenttest.Says("x"))
		turns := []models.Turn{h.send(h.session(), "1"), h.send(h.session(), "2")}
		h.script.Await(t.Context(), 2)
		third := h.send(h.session(), "3")
		time.Sleep(50 * time.Millisecond)
		if now, err := h.store.AnyTurn(t.Context(), third.ID); err != nil || now.State != models.StateQueued {
			t.Errorf("the third is %s, %v", now.State, err)
		}
		close(release)
		for _, turn := range append(turns, third) {
			h.rest(turn)
		}
	})
}

func TestEndingASession(t *testing.T) {
	h := newHouse(t, func(c *Config) { c.Tools = append(c.Tools, waits("x", nil)) }, agenttest.Calls("command", "{}"))
	session := h.session()
	w := h.watch(session)
	first, second := h.send(session, "1"), h.send(session, "2")
	w.call(models.CallRunning)
	h.runner.EndSession(t.Context(), session)
	h.runner.SessionGone(session, "The session was deleted.")
	gone := w.until("gone", func(e events.Event) bool { return e.Kind == events.KindGone })
	if gone.Text != "The session was deleted." {
		t.Errorf("gone %+v", gone)
	}
	if first, err := h.store.AnyTurn(t.Context(), first.ID); err != nil || first.State != models.StateStopped {
		t.Errorf("first %s %v", first.State, err)
	}
	if second, err := h.store.AnyTurn(t.Context(), second.ID); err != nil || second.State != models.StateQueued {
		t.Errorf("second %s %v", second.State, err)
	}
	if _, err := h.runner.Send(t.Context(), models.NewTurn{SessionID: session, OwnerID: h.owner, Content: "3"}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a message to it: %v", err)
	}
	h.must(h.store.DeleteSession(t.Context(), session))
	if n := len(h.script.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestWaitReturnsInTime(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, nil, agenttest.Blocks("", release))
	turn := h.send(h.session(), "go")
	if now, err := h.runner.Wait(t.Context(), turn.ID, 20*time.Millisecond); err != nil || now.State.Final() {
		t.Errorf("%s %v", now.State, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := h.runner.Wait(ctx, turn.ID, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(release)
	h.rest(turn)
	if n := len(h.runner.waits); n != 0 {
		t.Errorf("%d waits are left", n)
	}
	if _, err := h.runner.Wait(t.Context(), "trn_none", time.Second); !errors.Is(err, models.ErrNotFound) {
		t.Error(err)
	}
}

func TestASessionWhoseDeletionFailedLivesOn(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	h := newHouse(t, func(c *Config) {
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	}, agenttest.Says("x"), agenttest.Says("y"))
	session := h.session()
	h.runner.EndSession(t.Context(), session)
	h.runner.SessionStays(session)
	if turn := h.rest(h.send(session, "go")); turn.State != models.StateDone {
		t.Errorf("turn %+v", turn)
	}
	h.runner.EndSession(t.Context(), session)
	mu.Lock()
	now = now.Add(2 * endedFor) // nobody said so
	mu.Unlock()
	if turn := h.rest(h.send(session, "go on")); turn.State != models.StateDone {
		t.Errorf("later: turn %+v", turn)
	}
}
