package agent_test

import (
	"context"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// A person who moves a command has the word: nothing more is run or asked, not
// even where the reply was cut.
func TestTheTurnEndsWithACallThatWasMoved(t *testing.T) {
	build := changing{agenttest.ToolFunc("build", func(context.Context, agent.Call) (agent.ToolResult, error) {
		result := agenttest.Text("so far")
		result.Metadata.Background = models.BackgroundMoved
		return result, nil
	})}
	wanted := []models.ToolCall{agenttest.Call("a", "look", "{}"), agenttest.Call("b", "build", "{}"), agenttest.Call("c", "look", "{}"), agenttest.Call("d", "build", "{}")}
	for name, step := range map[string]agenttest.Step{"a whole reply": agenttest.CallsAll(wanted...), "a cut reply": agenttest.CutCalls(wanted...)} {
		t.Run(name, func(t *testing.T) {
			j, script, end := run(t, []agenttest.Step{step, agenttest.Says("never")}, agenttest.Returns("look", "seen"), build)
			if end.State != models.StateDone || len(script.Requests()) != 1 || j.hidden() != 0 {
				t.Fatalf("the turn ended with %+v after %d requests and %d hidden messages", end, len(script.Requests()), j.hidden())
			}
			results := j.results()
			if results[0].Content != "seen" || results[1].Content != "so far" || results[1].CallState() != models.CallBackground {
				t.Errorf("what ran has the results %q and %q, %s", results[0].Content, results[1].Content, results[1].CallState())
			}
			for _, r := range results[2:] {
				if !strings.Contains(r.Content, "was not started") || !strings.Contains(r.Content, "to the background") || r.CallState() != models.CallStopped {
					t.Errorf("a call behind it has the result %q, %s", r.Content, r.CallState())
				}
			}
		})
	}
}

// One that was only started there is a result like any other.
func TestTheTurnGoesOnAfterACallThatWasStartedInTheBackground(t *testing.T) {
	serve := changing{agenttest.ToolFunc("serve", func(context.Context, agent.Call) (agent.ToolResult, error) {
		result := agenttest.Text("it runs")
		result.Metadata.Background = models.BackgroundStarted
		return result, nil
	})}
	_, script, end := run(t, []agenttest.Step{agenttest.Calls("serve", "{}"), agenttest.Says("end")}, serve)
	if end.State != models.StateDone || len(script.Requests()) != 2 {
		t.Errorf("the turn ended with %+v after %d requests", end, len(script.Requests()))
	}
}
