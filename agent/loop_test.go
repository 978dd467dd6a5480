package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/contextwin"
	"offcut/models"
)

// journal records what the loop tells of a turn.
type journal struct {
	mu      sync.Mutex
	stored  []models.Message // replies, results and hidden messages, in the order of their storing
	log     []string         // what happened, in order
	used    map[string]bool  // call ids of the session
	failOn  string
	answers map[string]chan agent.Answer // of the calls that are asked about, by tool
	streams strings.Builder
}

var errDisk = errors.New("the disk is full")

func (j *journal) note(format string, args ...any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry := fmt.Sprintf(format, args...)
	j.log = append(j.log, entry)
	if j.failOn != "" && strings.HasPrefix(entry, j.failOn) {
		return errDisk
	}
	return nil
}

func (j *journal) add(messages ...models.Message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stored = append(j.stored, messages...)
}

func (j *journal) UsedCallIDs(context.Context, []string) (map[string]bool, error) {
	return j.used, nil
}

func (j *journal) Asking(agent.Request) {}

// Ask waits for what the test answers about the tool.
func (j *journal) Ask(_ context.Context, q agent.Question) (func(context.Context) (agent.Answer, error), error) {
	if err := j.note("ask %s", q.Call.Tool); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (agent.Answer, error) {
		_ = j.note("wait %s", q.Call.Tool)
		select {
		case answer, open := <-j.answers[q.Call.Tool]:
			if !open {
				return answer, agent.ErrLeft
			}
			return answer, nil
		case <-ctx.Done():
			return agent.Answer{}, context.Cause(ctx)
		}
	}, nil
}

func (j *journal) Delta(_ string, d agent.Delta) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.streams.WriteString(d.Text)
}

func (j *journal) Reply(_ context.Context, m models.Message, _ models.Usage) error {
	j.add(m)
	return j.note("reply")
}

func (j *journal) Hidden(_ context.Context, m models.Message) error {
	j.add(m)
	return j.note("hidden")
}

func (j *journal) CallStarted(ctx context.Context, _ string, c models.ToolCall, _ bool) (context.Context, func(string, int64), agent.Background) {
	_ = j.note("start %s", c.Name)
	return ctx, func(string, int64) {}, nil
}

func (j *journal) Nested(string, models.NestedCall) {}

func (j *journal) CallEnded(c models.ToolCall, m models.Message) {
	_ = j.note("end %s %s", c.Name, m.CallState())
}

func (j *journal) Results(_ context.Context, results []models.Message) error {
	j.add(results...)
	return j.note("results")
}

func (j *journal) hidden() int {
	n := 0
	for _, m := range j.stored {
		if m.IsMeta {
			n++
		}
	}
	return n
}

func (j *journal) results() []models.Message {
	return slices.DeleteFunc(slices.Clone(j.stored), func(m models.Message) bool { return m.Role != models.RoleTool })
}

func newLoop(model agent.Model, j agent.Journal, tools ...agent.Tool) agent.Loop {
	return agent.Loop{
		Model: model, Tools: agent.NewToolbox(tools...), Journal: j, Limits: agent.DefaultLimits(),
		Window: contextwin.Open(contextwin.Options{Limits: contextwin.Limits{}}), Turn: models.Turn{ID: "trn_1", SessionID: "ses_1"},
	}
}

func question() []models.Message {
	return []models.Message{{ID: "msg_q", TurnID: "trn_1", Role: models.RolePerson, Content: "question", State: models.StateDone}}
}

func run(t *testing.T, steps []agenttest.Step, tools ...agent.Tool) (*journal, *agenttest.Script, agent.End) {
	t.Helper()
	j, script := &journal{}, agenttest.NewScript(steps...)
	loop := newLoop(script, j, tools...)
	return j, script, agent.Ending(loop.Run(t.Context(), question()))
}

func TestACutReplyIsContinuedUpToTheCap(t *testing.T) {
	cut, say := agenttest.Cut("part "), agenttest.Says("end")
	tool := agenttest.Calls("look", `{"n":1}`)
	cutTool := agenttest.CutCalls(agenttest.Call("", "look", `{"n":2}`))
	for name, test := range map[string]struct {
		steps  []agenttest.Step
		hidden int
		code   models.TurnErrorCode
	}{
		"no cut":                                 {[]agenttest.Step{say}, 0, ""},
		"one cut":                                {[]agenttest.Step{cut, say}, 1, ""},
		"three cuts":                             {[]agenttest.Step{cut, cut, cut, say}, 3, ""},
		"the fourth cut ends the turn":           {[]agenttest.Step{cut, cut, cut, cut}, 3, models.CodeOutputLimit},
		"a tool round between starts again":      {[]agenttest.Step{cut, cut, tool, cut, cut, cut, say}, 5, ""},
		"and the fourth after it ends":           {[]agenttest.Step{cut, cut, tool, cut, cut, cut, cut}, 5, models.CodeOutputLimit},
		"a cut tool round is not counted":        {[]agenttest.Step{cutTool, cut, cut, cut, say}, 4, ""},
		"a cut tool round sets the row to zero":  {[]agenttest.Step{cut, cut, cut, cutTool, cut, cut, cut, say}, 7, ""},
		"three cuts, a cut tool round, an end":   {[]agenttest.Step{cut, cut, cut, cutTool, say}, 4, ""},
		"cuts with nothing in them count too":    {[]agenttest.Step{agenttest.Cut(""), agenttest.Cut(""), agenttest.Cut(""), agenttest.Cut("")}, 3, models.CodeOutputLimit},
		"a tool round before the cuts":           {[]agenttest.Step{tool, cut, cut, cut, cut}, 3, models.CodeOutputLimit},
		"two cut tool rounds in a row, then end": {[]agenttest.Step{cutTool, cutTool, say}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j, script, end := run(t, test.steps, agenttest.Returns("look", "seen"))
			if j.hidden() != test.hidden || end.Code != test.code {
				t.Errorf("%d hidden messages and code %q, want %d and %q", j.hidden(), end.Code, test.hidden, test.code)
			}
			if got := len(script.Requests()); got != len(test.steps) {
				t.Errorf("%d requests, want %d", got, len(test.steps))
			}
			if last := j.stored[len(j.stored)-1]; last.IsMeta {
				t.Error("the turn ended with a hidden message")
			}
		})
	}
}

func TestTheHiddenMessageIsTheExactText(t *testing.T) {
	_, script, _ := run(t, []agenttest.Step{agenttest.Cut("a"), agenttest.Says("b")})
	sent := script.Requests()[1].Messages
	last := sent[len(sent)-1]
	want := "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces."
	if last.Content != want || last.Role != models.RolePerson || !last.IsMeta {
		t.Errorf("sent %+v", last)
	}
}

func TestACutReplyWithCallsRunsThemFirst(t *testing.T) {
	j, script, end := run(t, []agenttest.Step{agenttest.CutCalls(agenttest.Call("c1", "look", `{}`)), agenttest.Says("end")}, agenttest.Returns("look", "seen"))
	want := []string{"reply", "start look", "end look ok", "results", "hidden", "reply"}
	if !slices.Equal(j.log, want) || end.State != models.StateDone {
		t.Errorf("%v %v, want %v", j.log, end, want)
	}
	var roles []models.Role
	for _, m := range script.Requests()[1].Messages {
		roles = append(roles, m.Role)
	}
	if !slices.Equal(roles, []models.Role{"user", "assistant", "tool", "user"}) {
		t.Errorf("sent %v", roles)
	}
}

func TestATurnIsBounded(t *testing.T) {
	many := func(step agenttest.Step) []agenttest.Step {
		return slices.Repeat([]agenttest.Step{step}, 300)
	}
	n := 0
	changing := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		n++
		return agenttest.Text(fmt.Sprint(n)), nil
	})
	t.Run("in model calls", func(t *testing.T) {
		_, script, end := run(t, many(agenttest.Calls("look", `{}`)), changing)
		if len(script.Requests()) != 100 || end.Code != models.CodeTurnLimit {
			t.Errorf("%d requests, %+v", len(script.Requests()), end)
		}
	})
	t.Run("in continuations", func(t *testing.T) {
		j, script, end := run(t, many(agenttest.CutCalls(agenttest.Call("", "look", `{}`))), changing)
		if len(script.Requests()) != 26 || j.hidden() != 25 || end.Code != models.CodeTurnLimit {
			t.Errorf("%d requests, %d continuations, %+v", len(script.Requests()), j.hidden(), end)
		}
	})
}

func TestTheFifthIdenticalCallWithAnIdenticalResultIsAnError(t *testing.T) {
	same := agenttest.Calls("look", `{}`)
	n := 0
	changing := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		n++
		return agenttest.Text(fmt.Sprint(n)), nil
	})
	kept := 0
	keeping := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		kept++
		r := agenttest.Text(fmt.Sprintf("… the rest is in out_%d …", kept))
		r.Metadata.OutputID = fmt.Sprintf("out_%d", kept)
		return r, nil
	})
	nesting := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		kept++
		r := agenttest.Text("seen")
		r.Metadata.Nested = []models.NestedOutput{{Tool: "run_command", OutputID: fmt.Sprintf("out_%d", kept)}}
		return r, nil
	})
	for name, test := range map[string]struct {
		steps  []agenttest.Step
		tool   agent.Tool
		errors []int // the results that are errors
	}{
		"alike":                          {[]agenttest.Step{same, same, same, same, same, same}, agenttest.Returns("look", "seen"), []int{4, 5}},
		"but for the id of the copy":     {[]agenttest.Step{same, same, same, same, same}, keeping, []int{4}},
		"but for the ids of calls in it": {[]agenttest.Step{same, same, same, same, same}, nesting, []int{4}},
		"the results differ":             {[]agenttest.Step{same, same, same, same, same, same}, changing, nil},
		"another call between":           {[]agenttest.Step{same, same, same, same, agenttest.Calls("look", `{"n":1}`), same}, agenttest.Returns("look", "seen"), nil},
		"five at once":                   {[]agenttest.Step{agenttest.CallsAll(slices.Repeat([]models.ToolCall{agenttest.Call("", "look", "{}")}, 5)...)}, agenttest.Returns("look", "seen"), []int{4}},
		"four are within what is normal": {[]agenttest.Step{same, same, same, same}, agenttest.Returns("look", "seen"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			j, _, end := run(t, append(test.steps, agenttest.Says("end")), test.tool)
			var failed []int
			for i, m := range j.results() {
				if m.Metadata.IsError {
					failed = append(failed, i)
				}
			}
			if !slices.Equal(failed, test.errors) || end.State != models.StateDone {
				t.Errorf("errors at %v, want %v; %+v", failed, test.errors, end)
			}
		})
	}
}

func TestCallsRunAtTheSameTimeAndReportInTheirOrder(t *testing.T) {
	var mu sync.Mutex
	waiting, all := 0, make(chan struct{})
	tool := agenttest.ToolFunc("look", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
		mu.Lock()
		waiting++
		if waiting == 3 {
			close(all)
		}
		mu.Unlock()
		<-all
		return agenttest.Text(string(c.Arguments)), nil
	})
	calls := agenttest.CallsAll(agenttest.Call("a", "look", `{"n":1}`), agenttest.Call("b", "look", `{"n":2}`), agenttest.Call("c", "look", `{"n":3}`))
	j, _, _ := run(t, []agenttest.Step{calls, agenttest.Says("end")}, tool)
	for i, m := range j.results() {
		if want := fmt.Sprintf(`{"n":%d}`, i+1); m.Content != want || m.ToolCallID != string(rune('a'+i)) {
			t.Errorf("result %d is %q of %s", i, m.Content, m.ToolCallID)
		}
	}
}

func TestHowManyCallsRunAtTheSameTimeIsBounded(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	tool := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return agenttest.Text("seen"), nil
	})
	j := &journal{}
	var calls []models.ToolCall
	for i := range 40 {
		calls = append(calls, agenttest.Call("", "look", fmt.Sprintf(`{"n":%d}`, i)))
	}
	loop := newLoop(agenttest.NewScript(agenttest.CallsAll(calls...), agenttest.Says("end")), j, tool)
	loop.Limits.ParallelCalls = 3
	if err := loop.Run(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	if len(j.results()) != 40 || most > 3 {
		t.Errorf("%d results, %d at the same time", len(j.results()), most)
	}
}
