package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/contextwin"
	"offcut/models"
)

func TestEachCallGetsOneResultWhateverHappens(t *testing.T) {
	tools := []agent.Tool{
		agenttest.Returns("look", "seen"),
		agenttest.ToolFunc("fail", func(context.Context, agent.Call) (agent.ToolResult, error) {
			return agent.ToolResult{}, errors.New("open /srv/secret: permission denied")
		}),
		agenttest.ToolFunc("panic", func(context.Context, agent.Call) (agent.ToolResult, error) { panic("at /srv/secret") }),
	}
	for name, test := range map[string]struct {
		call   models.ToolCall
		failed bool
		says   string
	}{
		"it works":                       {agenttest.Call("c", "look", `{}`), false, "seen"},
		"no arguments are an object":     {agenttest.Call("c", "look", ``), false, "seen"},
		"it fails":                       {agenttest.Call("c", "fail", `{}`), true, "failed for a reason inside the server"},
		"it panics":                      {agenttest.Call("c", "panic", `{}`), true, "failed for a reason inside the server"},
		"there is no such tool":          {agenttest.Call("c", "lok", `{}`), true, `no tool named "lok". The tools are: fail, look, panic.`},
		"arguments do not parse":         {agenttest.Call("c", "look", `{"a":b}`), true, "Received:\n{\"a\":b}"},
		"arguments are null":             {agenttest.Call("c", "look", `null`), true, "null is no object"},
		"arguments are an array":         {agenttest.Call("c", "look", `[1]`), true, "Received:\n[1]"},
		"the array is named in plain":    {agenttest.Call("c", "look", `[1]`), true, "(what is a JSON array is no object)"},
		"the schema is told":             {agenttest.Call("c", "look", `x`), true, `It takes: {"type":"object"}`},
		"unfinished though the end came": {agenttest.Call("c", "look", `{"a":"b`), true, "{\"a\":\"b\n(output truncated, please reduce your output)"},
	} {
		t.Run(name, func(t *testing.T) {
			j, script, end := run(t, []agenttest.Step{agenttest.CallsAll(test.call), agenttest.Says("end")}, tools...)
			results := j.results()
			if len(results) != 1 || end.State != models.StateDone || len(script.Requests()) != 2 {
				t.Fatalf("%d results, %+v", len(results), end)
			}
			r := results[0]
			if r.ToolCallID != "c" || r.Metadata.IsError != test.failed || !strings.Contains(r.Content, test.says) || strings.Contains(r.Content, "secret") {
				t.Errorf("result %+v: %s", r.Metadata, r.Content)
			}
		})
	}
}

func TestLongBadArgumentsAreQuotedAtBothEnds(t *testing.T) {
	long := `{"a":"` + strings.Repeat("é", 50_000) + "END"
	j, _, _ := run(t, []agenttest.Step{agenttest.CutCalls(agenttest.Call("", "look", long)), agenttest.Says("end")}, agenttest.Returns("look", ""))
	r := j.results()[0]
	if len(r.Content) > 4096 || !strings.Contains(r.Content, `{"a":"éé`) || !strings.Contains(r.Content, "ééEND") || !strings.Contains(r.Content, "bytes left out") {
		t.Errorf("%d bytes: %s", len(r.Content), r.Content)
	}
}

func TestCallIDsAreUniqueInTheSession(t *testing.T) {
	j := &journal{used: map[string]bool{"call_0": true}}
	calls := agenttest.CallsAll(agenttest.Call("", "look", "{}"), agenttest.Call("call_0", "look", "{}"), agenttest.Call("x", "look", "{}"), agenttest.Call("x", "look", "{}"), agenttest.Call("y", "", "fragment"))
	loop := newLoop(agenttest.NewScript(calls, agenttest.Says("end")), j, agenttest.Returns("look", "seen"))
	if err := loop.Run(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"": true, "call_0": true}
	stored := j.stored[0].ToolCalls
	if len(stored) != 4 || stored[2].ID != "x" {
		t.Errorf("stored calls %+v", stored)
	}
	for i, c := range stored {
		if seen[c.ID] || j.results()[i].ToolCallID != c.ID {
			t.Errorf("call %d: id %q, result of %q", i, c.ID, j.results()[i].ToolCallID)
		}
		seen[c.ID] = true
	}
}

func TestCallIDsAreSafeWhereverTheyAreWritten(t *testing.T) {
	for name, test := range map[string]struct {
		id   string
		kept bool
	}{
		"letters, digits and both marks": {"call_aZ-09", true},
		"the longest":                    {strings.Repeat("a", 64), true},
		"too long":                       {strings.Repeat("a", 65), false},
		"Kimi's":                         {"functions.look:0", false},
		"with parts of an address":       {"a/b?c#d", false},
		"a path upwards":                 {"..", false},
		"white space":                    {"a b", false},
		"no ASCII":                       {"aé", false},
		"a quote":                        {`a"b`, false},
		"next to the letters":            {"a[z@`{", false},
		"a NUL":                          {"a\x00", false},
	} {
		t.Run(name, func(t *testing.T) {
			j, script, _ := run(t, []agenttest.Step{agenttest.CallsAll(agenttest.Call(test.id, "look", "{}")), agenttest.Says("end")}, agenttest.Returns("look", "seen"))
			stored := j.stored[0].ToolCalls[0].ID
			if kept := stored == test.id; kept != test.kept {
				t.Errorf("id %q became %q", test.id, stored)
			}
			if !test.kept && !strings.HasPrefix(stored, models.PrefixCall+"_") {
				t.Errorf("id %q became %q", test.id, stored)
			}
			sent := script.Requests()[1].Messages
			if result := sent[len(sent)-1]; result.ToolCallID != stored {
				t.Errorf("call %q, sent back with the result of %q", stored, result.ToolCallID)
			}
		})
	}
}

func TestAStopEndsTheTurnWithinASecond(t *testing.T) {
	deaf := agenttest.ToolFunc("deaf", func(context.Context, agent.Call) (agent.ToolResult, error) {
		time.Sleep(3 * time.Second)
		return agenttest.Text("late"), nil
	})
	command := agenttest.ToolFunc("command", func(ctx context.Context, _ agent.Call) (agent.ToolResult, error) {
		<-ctx.Done()
		r := agenttest.Text("printed so far")
		r.Metadata.Signal = "SIGKILL"
		return r, nil
	})
	for name, test := range map[string]struct {
		steps   []agenttest.Step
		when    string // the stop comes after this was told
		content string // of the last stored message
		state   models.State
	}{
		"in the stream":             {[]agenttest.Step{agenttest.Blocks("some text", make(chan struct{}))}, "", "some text", models.StateStopped},
		"in a tool that listens":    {[]agenttest.Step{agenttest.Calls("command", `{}`)}, "start command", "printed so far", models.StateStopped},
		"in a tool that is deaf":    {[]agenttest.Step{agenttest.Calls("deaf", `{}`)}, "start deaf", "The call was started and did not come to its end: the user stopped it. Its effects are unknown", models.StateStopped},
		"between reply and results": {[]agenttest.Step{agenttest.CallsAll(agenttest.Call("", "command", "{}"), agenttest.Call("", "look", "{}"))}, "start command", "The call was not started: the user stopped it. It had no effect.", models.StateStopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, script := &journal{}, agenttest.NewScript(test.steps...)
			ctx, stop := context.WithCancelCause(t.Context())
			loop := newLoop(script, j, deaf, command, agenttest.Returns("look", "seen"))
			loop.Limits.ParallelCalls = 1
			ended := make(chan error)
			go func() { ended <- loop.Run(ctx, question()) }()
			waitFor(t, func() bool {
				j.mu.Lock()
				defer j.mu.Unlock()
				return (test.when == "" && j.streams.Len() > 0) || slices.Contains(j.log, test.when)
			})
			start := time.Now()
			stop(agent.ErrStopped)
			if end := agent.Ending(<-ended); end.State != models.StateStopped || time.Since(start) > time.Second {
				t.Errorf("ended with %+v after %v", end, time.Since(start))
			}
			last := j.stored[len(j.stored)-1]
			if !strings.HasPrefix(last.Content, test.content) || last.State != test.state {
				t.Errorf("stored %q, %s", last.Content, last.State)
			}
			if len(script.Requests()) != 1 {
				t.Errorf("%d requests", len(script.Requests()))
			}
		})
	}
}

func waitFor(t *testing.T, what func() bool) {
	t.Helper()
	for range 2000 {
		if what() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not happen")
}

// A tool that takes too long to hand over what it has is given up; what was
// stored of its output by then can be read all the same.
func TestWhatAGivenUpToolPrintedIsLedTo(t *testing.T) {
	for name, kept := range map[string]string{"some of it was stored": "out_1", "nothing was": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			release := make(chan struct{})
			defer close(release)
			slow := agenttest.ToolFunc("command", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
				if kept != "" {
					c.Kept(kept)
				}
				stop(agent.ErrStopped)
				<-release
				return agenttest.Text("late"), nil
			})
			j := &journal{}
			loop := newLoop(agenttest.NewScript(agenttest.Calls("command", "{}")), j, slow)
			loop.Limits.StopGrace = 10 * time.Millisecond
			_ = loop.Run(ctx, question())
			meta := j.results()[0].Metadata
			if meta.OutputID != kept || (meta.Complete != nil) != (kept != "") || meta.Truncated != (kept != "") || !meta.IsError {
				t.Errorf("metadata %s", meta.Line())
			}
			if kept != "" && (*meta.Complete || meta.Retention != models.RetentionKept) {
				t.Errorf("metadata %s", meta.Line())
			}
		})
	}
}

func TestAStoppedToolThatHadFinishedIsNotStopped(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	tool := agenttest.ToolFunc("command", func(context.Context, agent.Call) (agent.ToolResult, error) {
		stop(agent.ErrStopped)
		r := agenttest.Text("all of it")
		r.Metadata.ExitCode = models.Ptr(0)
		return r, nil
	})
	j := &journal{}
	loop := newLoop(agenttest.NewScript(agenttest.Calls("command", "{}")), j, tool)
	if end := agent.Ending(loop.Run(ctx, question())); end.State != models.StateStopped {
		t.Errorf("%+v", end)
	}
	if r := j.results()[0]; r.CallState() != models.CallOK || r.Content != "all of it" {
		t.Errorf("%s %q", r.CallState(), r.Content)
	}
}

func TestABrokenReplyIsKeptAndItsCallsAreNotRun(t *testing.T) {
	ran := false
	tool := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		ran = true
		return agenttest.Text(""), nil
	})
	broken := agenttest.Breaks("half a sen")
	broken.Calls = []models.ToolCall{agenttest.Call("c", "look", `{"a":`)}
	j, _, end := run(t, []agenttest.Step{broken}, tool)
	if ran || end.State != models.StateInterrupted || end.Code != models.CodeStreamBroken {
		t.Errorf("ran=%v, %+v", ran, end)
	}
	if m := j.stored[0]; m.Content != "half a sen" || m.State != models.StateInterrupted {
		t.Errorf("stored %+v", m)
	}
	if r := j.results(); len(r) != 1 || !strings.Contains(r[0].Content, "was not started: the reply that asked for it broke off") || r[0].CallState() != models.CallInterrupted {
		t.Errorf("results %+v", r)
	}
}

func TestHowATurnEndsByWhatTheModelDid(t *testing.T) {
	refused := &agent.ModelError{Code: models.CodeProviderRefused, Status: 400, Message: "The provider said: no."}
	withheld := agenttest.Says("some")
	withheld.Finish = models.FinishContentFilter
	noReason := agenttest.Says("some")
	noReason.Finish = ""
	strange := agenttest.Says("some")
	strange.Finish = "eos"
	for name, test := range map[string]struct {
		step agenttest.Step
		want agent.End
		kept int
	}{
		"it answers":          {agenttest.Says("x"), agent.End{State: models.StateDone}, 1},
		"a reason of its own": {strange, agent.End{State: models.StateDone}, 1},
		"it refuses":          {agenttest.Fails(refused), agent.End{State: models.StateError, Code: models.CodeProviderRefused, Message: "The provider said: no."}, 0},
		"no finish reason":    {noReason, agent.End{State: models.StateInterrupted, Code: models.CodeStreamBroken}, 1},
		"the filter":          {withheld, agent.End{State: models.StateError, Code: models.CodeProviderRefused}, 1},
		"an unknown error":    {agenttest.Fails(errors.New("dial /run/x.sock")), agent.End{State: models.StateError, Code: models.CodeInternal}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			j, _, end := run(t, []agenttest.Step{test.step})
			if end.State != test.want.State || end.Code != test.want.Code || (test.want.Message != "" && end.Message != test.want.Message) {
				t.Errorf("%+v, want %+v", end, test.want)
			}
			if len(j.stored) != test.kept || strings.Contains(end.Message, "/run") {
				t.Errorf("%d stored, message %q", len(j.stored), end.Message)
			}
			if (end.State == models.StateDone) != (end.Message == "") {
				t.Errorf("state %s with message %q", end.State, end.Message)
			}
		})
	}
}

func TestStorageThatFailsEndsTheTurn(t *testing.T) {
	for _, failing := range []string{"reply", "results", "hidden"} {
		j := &journal{failOn: failing}
		script := agenttest.NewScript(agenttest.CutCalls(agenttest.Call("", "look", "{}")), agenttest.Says("end"))
		loop := newLoop(script, j, agenttest.Returns("look", "seen"))
		if err := loop.Run(t.Context(), question()); !errors.Is(err, errDisk) || len(script.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", failing, err, len(script.Requests()))
		}
	}
}

func TestResultsOfARoundShareAQuarterOfTheWindow(t *testing.T) {
	for name, test := range map[string]struct{ context, calls, least, most int }{
		"not known":           {0, 2, 0, 0},
		"one call":            {128_000, 1, 120_000, 128_000},
		"four calls":          {128_000, 4, 30_000, 32_000},
		"at least 2 KiB each": {1000, 8, 2048, 2048},
		"nothing left":        {1, 1, 2048, 2048},
	} {
		t.Run(name, func(t *testing.T) {
			var calls []models.ToolCall
			for range test.calls {
				calls = append(calls, agenttest.Call("", "look", "{}"))
			}
			tool := agenttest.ToolFunc("look", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
				if c.Budget < test.least || c.Budget > test.most {
					t.Errorf("budget %d, want %d to %d", c.Budget, test.least, test.most)
				}
				return agenttest.Text("seen"), nil
			})
			loop := newLoop(agenttest.NewScript(agenttest.CallsAll(calls...), agenttest.Says("end")), &journal{}, tool)
			loop.Window = contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: test.context}})
			if err := loop.Run(t.Context(), question()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestReasoningGoesAlongInEveryRound(t *testing.T) {
	think := agenttest.Calls("look", "{}")
	think.Reasoning = "first I look"
	only := agenttest.Cut("")
	only.Chunks, only.Reasoning = nil, "long thoughts"
	_, script, _ := run(t, []agenttest.Step{think, only, agenttest.Cut(""), agenttest.Says("end")}, agenttest.Returns("look", "seen"))
	sent := script.Requests()[3].Messages
	if sent[1].Reasoning != "first I look" || len(sent[1].ToolCalls) != 1 {
		t.Errorf("round with a call: %+v", sent[1])
	}
	if sent[3].Reasoning != "long thoughts" || sent[3].Content != agent.UnfinishedThinking {
		t.Errorf("round of thinking alone: %+v", sent[3])
	}
	for _, m := range sent[4:] {
		if m.Role == models.RoleAssistant {
			t.Errorf("a round with nothing in it was sent: %+v", m)
		}
	}
}
