package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/contextwin"
	"offcut/agent/events"
	"offcut/models"
)

var overflow = &agent.ModelError{Code: models.CodeContextOverflow, Status: 400, Message: "The conversation is too long for this model."}

func holding(tokens int) func(*Config) {
	return func(c *Config) {
		c.Store = &mortal{Store: c.Store}
		find := c.Models
		c.Models = func(name string) (agent.Model, ModelInfo, error) {
			model, info, err := find(name)
			info.ContextTokens = tokens
			return model, info, err
		}
	}
}

// counted is an answer whose provider counts tokens.
func counted(text string, input, output int64) agenttest.Step {
	step := agenttest.Says(text)
	step.Usage = models.Usage{InputTokens: input, OutputTokens: output}
	return step
}

func long(n int) string { return fmt.Sprintf("part %d %s", n, strings.Repeat("word ", 1000)) }

func TestASummaryIsMadeOnceAndTold(t *testing.T) {
	h := newHouse(t, holding(6000))
	session := h.session()
	for n := range 4 {
		h.script.Then(counted("noted", 10, 1))
		h.rest(h.send(session, long(n)))
	}
	h.script.Then(counted("What was said.", 100, 20), counted("noted", 10, 1))
	w := h.watch(session)
	turn := h.rest(h.send(session, long(4)))
	if turn.State != models.StateDone || turn.Usage.InputTokens != 110 || turn.Usage.OutputTokens != 21 {
		t.Errorf("%+v", turn)
	}
	told := w.until("a summary", func(e events.Event) bool { return e.Kind == events.KindSummary })
	stored, err := h.store.Summaries(t.Context(), session, []string{told.UptoTurn})
	if err != nil || len(stored) != 1 || !strings.Contains(stored[0].Content, "What was said.") {
		t.Fatalf("%+v, %v", stored, err)
	}
	requests := h.script.Requests()
	if first := requests[len(requests)-1].Messages[0]; first.Content != stored[0].Content {
		t.Errorf("the conversation begins with %.80q", first.Content)
	}
	if all := h.messages(session); len(all) != 10 || slices.ContainsFunc(all, func(m models.Message) bool { return m.IsMeta }) {
		t.Errorf("%d messages are stored", len(all))
	}

	h.restart(holding(6000))
	h.script.Then(counted("noted", 10, 1))
	h.rest(h.send(session, "and on"))
	requests = h.script.Requests()
	if again := requests[len(requests)-1].Messages[0]; again.Content != stored[0].Content {
		t.Errorf("after a restart it begins with %.80q", again.Content)
	}
}

func TestWhatARefusalTaughtOutlivesTheTurn(t *testing.T) {
	big := agenttest.Returns("look", strings.Repeat("line of text\n", 900))
	build := func(c *Config) {
		c.Store, c.Tools = &mortal{Store: c.Store}, []agent.Tool{big}
	}
	h := newHouse(t, build,
		agenttest.Calls("look", "{}"), agenttest.Fails(overflow), agenttest.Says("one"), agenttest.Says("two"), agenttest.Says("three"))
	session := h.session()
	h.rest(h.send(session, "look"))
	shrunk := h.script.Requests()[2].Messages[2]
	if !strings.Contains(shrunk.Content, "…") {
		t.Fatalf("after the refusal the result was sent as %d bytes", len(shrunk.Content))
	}
	learned, err := h.store.Window(t.Context(), session, "scripted")
	if whole := contextwin.Estimate(h.script.Requests()[1]); err != nil || learned.Tokens == 0 || learned.Tokens >= whole {
		t.Errorf("a window of %d tokens was learned where %d were refused; %v", learned.Tokens, whole, err)
	}
	h.rest(h.send(session, "and now?"))
	h.restart(build)
	h.rest(h.send(session, "and after a restart?"))
	for _, request := range h.script.Requests()[3:] {
		if m := request.Messages[2]; m.Content != shrunk.Content {
			t.Errorf("later it was sent as %d bytes", len(m.Content))
		}
	}
}

// A server that refuses what is longer than its window refuses once in a session,
// also where the program was started again since.
func TestAWindowThatWasLearnedIsKnownAfterARestart(t *testing.T) {
	now := time.Now()
	build := func(c *Config) {
		c.Store, c.Now = &mortal{Store: c.Store}, func() time.Time { return now }
	}
	h := newHouse(t, build)
	session := h.session()
	for n := range 4 {
		h.script.Then(counted("noted", 30_000, 1))
		h.rest(h.send(session, long(n)))
	}
	h.script.Then(agenttest.Fails(overflow), agenttest.Says("What was said."), counted("noted", 30_000, 1))
	h.rest(h.send(session, long(4)))
	learned, err := h.store.Window(t.Context(), session, "scripted")
	if err != nil || learned.Tokens == 0 || learned.Scale <= 1 {
		t.Fatalf("%+v, %v", learned, err)
	}

	h.restart(build)
	asked := func() agent.Request {
		before := len(h.script.Requests())
		h.script.Then(agenttest.Says("What was said."), agenttest.Says("noted"))
		h.rest(h.send(session, strings.Repeat("word ", 4000)))
		return h.script.Requests()[before]
	}
	if first := asked(); !strings.HasPrefix(first.System, agent.SummaryTask) {
		t.Errorf("after a restart %d tokens are sent at once, although no more than %d are taken", contextwin.Estimate(first), learned.Tokens)
	}
	now = now.Add(refusalHolds + time.Minute)
	if first := asked(); strings.HasPrefix(first.System, agent.SummaryTask) {
		t.Error("a day later the server's window is not tried again")
	}
}

// What the model was not sent it has not read, however it is stored: here the
// turn that was stopped before it was sent is summarised.
func TestAResultThatWasNotSentIsNotCountedAsRead(t *testing.T) {
	done := make(chan struct{})
	close(done)
	output := models.NewID(models.PrefixOutput)
	var h *house
	h = newHouse(t, func(c *Config) {
		holding(2000)(c)
		c.ReadsOf = func(call agent.Call, r agent.ToolResult, at time.Time) []models.OutputRead {
			return h.readsOf(call, r, at)
		}
		c.Tools = []agent.Tool{agenttest.ToolFunc("show", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
			return h.shows(output, done).Run(ctx, c)
		})}
	}, agenttest.Calls("show", `{"n":1}`), agenttest.Step{Hold: make(chan struct{})}, agenttest.Says("It"), agenttest.Says("It was stopped."), agenttest.Says("end"))
	session := h.session()
	turn := h.send(session, long(1))
	h.script.Await(t.Context(), 2)
	h.must(h.runner.Stop(t.Context(), turn.ID))
	h.rest(turn)
	h.rest(h.send(session, long(2)))
	requests := h.script.Requests()
	last := requests[len(requests)-1].Messages
	if len(last) != 2 || !strings.Contains(last[0].Content, "It was stopped.") || !strings.Contains(last[0].Content, output) {
		t.Errorf("sent %d messages, the first %.300q", len(last), last[0].Content)
	}
	if reads := h.reads(session, output); len(reads) != 0 {
		t.Errorf("counted as read: %+v", reads)
	}
}

func TestATurnKnowsItsPlaceInTheWindow(t *testing.T) {
	for name, test := range map[string]struct {
		answer agenttest.Step
		want   func(n int64) bool
	}{
		"as the provider counts":       {counted("yes", 4000, 20), func(n int64) bool { return n == 4020 }},
		"about, where it does not":     {agenttest.Says(strings.Repeat("word ", 400)), func(n int64) bool { return n > 500 && n < 1500 }},
		"and of an answer that breaks": {agenttest.Breaks(strings.Repeat("word ", 400)), func(n int64) bool { return n > 500 && n < 1500 }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil, test.answer)
			session := h.session()
			w := h.watch(session)
			turn := h.rest(h.send(session, "hello"))
			e := w.until("usage", func(e events.Event) bool { return e.Kind == events.KindUsage })
			if !test.want(turn.ContextTokens) || e.ContextTokens != turn.ContextTokens {
				t.Errorf("%d tokens, told as %d", turn.ContextTokens, e.ContextTokens)
			}
		})
	}
}
