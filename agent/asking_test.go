package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/approve"
	"offcut/models"
)

// doing is a tool with effects that somebody has to allow.
type doing struct{ agent.Tool }

func (d doing) Spec() agent.ToolSpec {
	spec := d.Tool.Spec()
	spec.HasEffects, spec.Deed = true, agent.DeedChange
	return spec
}

func asks(name string) agent.Tool {
	return approve.Wrap(doing{agenttest.Returns(name, name+" is done")}, approve.Policy{Mode: approve.Ask})
}

// answers are channels on which a test answers about tools.
func answers(tools ...string) map[string]chan agent.Answer {
	channels := map[string]chan agent.Answer{}
	for _, name := range tools {
		channels[name] = make(chan agent.Answer, 1)
	}
	return channels
}

var allowed, denied = agent.Answer{Asked: true, Allowed: true}, agent.Answer{Asked: true}

// Everything is asked about at once. Before the turn waits for an answer what
// ran is stored, so that it can be left there.
func TestCallsAreAskedAboutTogetherAndRunInOrder(t *testing.T) {
	j := &journal{answers: answers("first", "second")}
	j.answers["first"] <- allowed
	j.answers["second"] <- denied
	script := agenttest.NewScript(agenttest.CallsAll(
		agenttest.Call("a", "look", `{}`), agenttest.Call("b", "first", `{}`), agenttest.Call("c", "second", `{}`),
	), agenttest.Says("ok"))
	loop := newLoop(script, j, agenttest.Returns("look", "seen"), asks("first"), asks("second"))
	if err := loop.Run(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"reply", "ask first", "ask second", "start look", "end look ok",
		"results", "wait first", "start first", "end first ok",
		"results", "wait second", "start second", "end second denied",
		"results", "reply",
	}
	if !slices.Equal(j.log, want) {
		t.Errorf("happened:\n%q, want\n%q", j.log, want)
	}
	if got := j.results(); *got[1].Metadata.Approved != true || *got[2].Metadata.Approved != false || got[0].Metadata.Approved != nil {
		t.Errorf("the results say %v %v %v", got[0].Metadata.Line(), got[1].Metadata.Line(), got[2].Metadata.Line())
	}
}

func TestATurnThatIsLeftGoesOnWhereItWas(t *testing.T) {
	left := &journal{answers: answers("first")}
	close(left.answers["first"]) // the program ends
	calls := agenttest.CallsAll(agenttest.Call("a", "look", `{}`), agenttest.Call("b", "first", `{}`), agenttest.Call("c", "look", `{}`))
	loop := newLoop(agenttest.NewScript(calls), left, agenttest.Returns("look", "seen"), asks("first"))
	if err := loop.Run(t.Context(), question()); !errors.Is(err, agent.ErrLeft) {
		t.Fatalf("the turn ended with %v", err)
	}
	if n := len(left.results()); n != 1 {
		t.Fatalf("%d results are stored, want that of the call before", n)
	}

	j := &journal{answers: answers("first")}
	j.answers["first"] <- allowed
	script := agenttest.NewScript(agenttest.Says("ok"))
	loop = newLoop(script, j, agenttest.Returns("look", "seen"), asks("first"))
	if err := loop.Run(t.Context(), append(question(), left.stored...)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"ask first", "wait first", "start first", "end first ok", "start look", "end look ok", "results", "reply"}; !slices.Equal(j.log, want) {
		t.Errorf("happened:\n%q, want\n%q", j.log, want)
	}
	var sent []string
	for _, m := range script.Requests()[0].Messages {
		sent = append(sent, string(m.Role)+" "+m.ToolCallID+m.Content)
	}
	if want := []string{"user question", "assistant ", "tool aseen", "tool bfirst is done", "tool cseen"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestAStopEndsTheWaitForAnAnswer(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	j := &journal{answers: answers("first")}
	time.AfterFunc(20*time.Millisecond, func() { stop(agent.ErrStopped) })
	script := agenttest.NewScript(agenttest.CallsAll(agenttest.Call("a", "first", `{}`), agenttest.Call("b", "look", `{}`)))
	loop := newLoop(script, j, agenttest.Returns("look", "seen"), asks("first"))
	if err := loop.Run(ctx, question()); !errors.Is(err, agent.ErrStopped) {
		t.Fatalf("the turn ended with %v", err)
	}
	for _, m := range j.results() {
		if m.State != models.StateStopped || m.Content != "The call was not started: the user stopped it. It had no effect." {
			t.Errorf("result %s: %q", m.State, m.Content)
		}
	}
}
