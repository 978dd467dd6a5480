package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/contextwin"
	"offcut/models"
)

var tooLong = &agent.ModelError{Code: models.CodeContextOverflow, Status: 400, Message: "The conversation is too long for this model."}

// lookedUp is a session in which the model called for a long result before.
func lookedUp() []models.Message {
	return []models.Message{
		{ID: "msg_1", Role: models.RolePerson, Content: "first question", State: models.StateDone},
		{ID: "msg_2", Role: models.RoleAssistant, ToolCalls: []models.ToolCall{agenttest.Call("call_1", "look", "{}")}, State: models.StateDone},
		{ID: "msg_3", Role: models.RoleTool, ToolCallID: "call_1", Content: strings.Repeat("long ", 4000), Metadata: &models.ResultMetadata{}, State: models.StateDone},
		{ID: "msg_4", Role: models.RoleAssistant, Content: "an answer", State: models.StateDone, FinishReason: models.FinishStop},
		{ID: "msg_q", Role: models.RolePerson, Content: "question", State: models.StateDone},
	}
}

func TestARequestThatIsTooLongIsShortenedAndSentOnceMore(t *testing.T) {
	begun := agenttest.Step{Chunks: []string{"some"}, Err: &agent.ModelError{Code: models.CodeContextOverflow, Message: "too long", Broken: true}}
	for name, test := range map[string]struct {
		steps    []agenttest.Step
		history  []models.Message
		window   int // tokens
		requests int
		want     agent.End
	}{
		"it fits then": {
			[]agenttest.Step{agenttest.Fails(tooLong), agenttest.Says("end")}, lookedUp(), 128_000, 2, agent.End{State: models.StateDone},
		},
		"of a window that is not known": {
			[]agenttest.Step{agenttest.Fails(tooLong), agenttest.Says("end")}, lookedUp(), 0, 2, agent.End{State: models.StateDone},
		},
		"it is still too long": {
			[]agenttest.Step{agenttest.Fails(tooLong), agenttest.Fails(tooLong), agenttest.Says("end")},
			lookedUp(), 128_000, 2,
			agent.End{State: models.StateError, Code: models.CodeContextOverflow, Message: tooLong.Message + " " + agent.OverflowAdvice},
		},
		"nothing can be shortened": {
			[]agenttest.Step{agenttest.Fails(tooLong), agenttest.Says("end")},
			question(), 128_000, 1,
			agent.End{State: models.StateError, Code: models.CodeContextOverflow, Message: tooLong.Message + " " + agent.OverflowAlone},
		},
		"something had come": {
			[]agenttest.Step{begun, agenttest.Says("end")},
			lookedUp(), 128_000, 1,
			agent.End{State: models.StateInterrupted, Code: models.CodeContextOverflow, Message: "too long"},
		},
		"it failed for another reason": {
			[]agenttest.Step{agenttest.Fails(&agent.ModelError{Code: models.CodeProviderRefused, Message: "no"}), agenttest.Says("end")},
			lookedUp(), 128_000, 1,
			agent.End{State: models.StateError, Code: models.CodeProviderRefused, Message: "no"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			script := agenttest.NewScript(test.steps...)
			loop := newLoop(script, &journal{}, agenttest.Returns("look", "seen"))
			loop.Window = contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: test.window}})
			if end := agent.Ending(loop.Run(t.Context(), test.history)); end != test.want {
				t.Errorf("%+v, want %+v", end, test.want)
			}
			sent := script.Requests()
			if len(sent) != test.requests {
				t.Fatalf("%d requests, want %d", len(sent), test.requests)
			}
			if test.requests == 1 {
				return
			}
			if first := sent[0].Messages[2].Content; len(first) != 20_000 {
				t.Errorf("first sent %d bytes", len(first))
			}
			if m := sent[1].Messages[2]; !strings.Contains(m.Content, "…") || m.Metadata.OutputID != "res_call_1" || m.Metadata.Tool != "look" {
				t.Errorf("then sent %+v", m.Metadata)
			}
		})
	}
}

func TestAfterAnOverflowTheTurnKnowsTheWindow(t *testing.T) {
	var budgets []int
	tool := agenttest.ToolFunc("look", func(_ context.Context, c agent.Call) (agent.ToolResult, error) {
		budgets = append(budgets, c.Budget)
		return agenttest.Text("seen"), nil
	})
	script := agenttest.NewScript(agenttest.Fails(tooLong), agenttest.Calls("look", "{}"), agenttest.Says("end"))
	loop := newLoop(script, &journal{}, tool)
	loop.Window = contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: 128_000}})
	if err := loop.Run(t.Context(), lookedUp()); err != nil {
		t.Fatal(err)
	}
	if len(budgets) != 1 || budgets[0] > 20_000/4 {
		t.Errorf("budgets %v after a request of about 20,000 bytes was refused", budgets)
	}
	sent := script.Requests()
	if again := sent[2].Messages[2].Content; again != sent[1].Messages[2].Content {
		t.Errorf("the shortened result was sent again as %d bytes", len(again))
	}
}

// Results that are each too small to be large fill a window too, and without a
// pause the provider's cache never expires.
func TestABusySessionStaysWithinItsWindow(t *testing.T) {
	const window = 32_000
	n := 0
	tool := agenttest.ToolFunc("look", func(context.Context, agent.Call) (agent.ToolResult, error) {
		n++
		return agenttest.Text(fmt.Sprint(n, strings.Repeat(" text", 780))), nil
	})
	steps := slices.Repeat([]agenttest.Step{agenttest.Calls("look", "{}")}, 60)
	script := agenttest.NewScript(append(steps, agenttest.Says("end"))...)
	loop := newLoop(script, &journal{}, tool)
	loop.Window = contextwin.Open(contextwin.Options{Limits: contextwin.Limits{ContextTokens: window}})
	if err := loop.Run(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	for i, req := range script.Requests() {
		if tokens := contextwin.Estimate(req); tokens > window {
			t.Fatalf("request %d takes %d tokens", i, tokens)
		}
	}
	last := script.Requests()[60].Messages
	if last[2].Content != contextwin.ClearedText || last[2].Metadata.OutputID == "" {
		t.Errorf("the first result was sent as %q", last[2].Content)
	}
	for _, m := range last[len(last)-5:] {
		if m.Role == models.RoleTool && len(m.Content) < 3900 {
			t.Errorf("one of the last results was sent as %q", m.Content)
		}
	}
}
