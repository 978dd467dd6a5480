package approve

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/sandbox"
	"offcut/models"
)

func TestThePolicySaysWhatIsAsked(t *testing.T) {
	const runs, asks, refused = "runs", "asks", "refused"
	for _, test := range []struct {
		policy                 Policy
		command, change, looks string
		name                   string
	}{
		{Policy{Auto, sandbox.Auto, true}, runs, runs, runs, "confined"},
		{Policy{Auto, sandbox.Required, true}, runs, runs, runs, "confined"},
		{Policy{Auto, sandbox.Auto, false}, asks, runs, runs, "ask-unconfined"},
		{Policy{Auto, sandbox.Off, false}, asks, runs, runs, "ask-unconfined"},
		{Policy{Auto, sandbox.Required, false}, refused, runs, runs, "refused"},
		{Policy{Ask, sandbox.Auto, true}, asks, asks, runs, "ask"},
		{Policy{Ask, sandbox.Off, false}, asks, asks, runs, "ask"},
		{Policy{Ask, sandbox.Required, false}, refused, asks, runs, "ask-refused"},
		{Policy{Never, sandbox.Auto, true}, runs, runs, runs, "confined"},
		{Policy{Never, sandbox.Off, false}, runs, runs, runs, "unconfined"},
		{Policy{Never, sandbox.Auto, false}, refused, runs, runs, "refused"},
		{Policy{Never, sandbox.Required, false}, refused, runs, runs, "refused"},
		{Policy{}, asks, asks, runs, "ask-unconfined"}, // of nobody who said what they want
	} {
		verdict := func(deed agent.Deed) string {
			switch {
			case test.policy.refuses(deed) != "":
				return refused
			case test.policy.asks(deed):
				return asks
			}
			return runs
		}
		if got := verdict(agent.DeedCommand); got != test.command {
			t.Errorf("%+v: a command %s, want %s", test.policy, got, test.command)
		}
		for _, deed := range []agent.Deed{agent.DeedChange, agent.DeedScript, agent.DeedFetch, agent.DeedRemote} {
			if got := verdict(deed); got != test.change {
				t.Errorf("%+v: a %s %s, want %s", test.policy, deed, got, test.change)
			}
		}
		if got := verdict(""); got != test.looks {
			t.Errorf("%+v: what only looks %s", test.policy, got)
		}
		if got := test.policy.Name(); got != test.name {
			t.Errorf("%+v is called %s, want %s", test.policy, got, test.name)
		}
	}
}

// gate answers every question so.
type gate struct {
	answer agent.Answer
	err    error
	asked  []agent.Question
}

func (g *gate) Ask(_ context.Context, q agent.Question) (func(context.Context) (agent.Answer, error), error) {
	g.asked = append(g.asked, q)
	return func(context.Context) (agent.Answer, error) { return g.answer, g.err }, nil
}

// does is a tool with that deed, which counts its runs.
type does struct {
	agent.Tool
	spec agent.ToolSpec
	runs int
}

func (d *does) Spec() agent.ToolSpec { return d.spec }

func (d *does) Run(context.Context, agent.Call) (agent.ToolResult, error) {
	d.runs++
	return agenttest.Text("done"), nil
}

func TestACallRunsByTheAnswer(t *testing.T) {
	fits := func(arguments json.RawMessage) error {
		if string(arguments) != "{}" {
			return errors.New("too much")
		}
		return nil
	}
	for name, test := range map[string]struct {
		policy    Policy
		deed      agent.Deed
		arguments string
		gate      *gate
		runs      int
		approved  *bool
		says      string
	}{
		"allowed":                    {Policy{Mode: Ask}, agent.DeedChange, "{}", &gate{answer: agent.Answer{Asked: true, Allowed: true}}, 1, models.Ptr(true), "done"},
		"allowed for the session":    {Policy{Mode: Ask}, agent.DeedChange, "{}", &gate{answer: agent.Answer{Allowed: true}}, 1, nil, "done"},
		"denied":                     {Policy{Mode: Ask}, agent.DeedChange, "{}", &gate{answer: agent.Answer{Asked: true}}, 0, models.Ptr(false), "denied it: does was not run"},
		"nobody can be asked":        {Policy{Mode: Ask}, agent.DeedChange, "{}", nil, 0, nil, "nobody can be asked"},
		"nothing to ask about":       {Policy{Mode: Auto}, agent.DeedChange, "{}", &gate{}, 1, nil, "done"},
		"no command is allowed":      {Policy{Mode: Ask, Sandbox: sandbox.Required}, agent.DeedCommand, "{}", &gate{answer: agent.Answer{Asked: true, Allowed: true}}, 0, nil, "OFFCUT_SANDBOX=required"},
		"the tool refuses it itself": {Policy{Mode: Ask}, agent.DeedChange, `{"a":1}`, &gate{}, 1, nil, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := &does{spec: agent.ToolSpec{Name: "does", Deed: test.deed, Fits: fits}}
			call := agent.Call{ID: "c1", Tool: "does", Arguments: json.RawMessage(test.arguments)}
			if test.gate != nil {
				call.Gate = test.gate
			}
			result, err := Wrap(tool, test.policy).Run(t.Context(), call)
			if err != nil || tool.runs != test.runs || !strings.Contains(result.Content, test.says) || result.IsError != (test.runs == 0) {
				t.Errorf("ran %d times: %q, %v", tool.runs, result.Content, err)
			}
			approved := result.Metadata.Approved
			if (approved == nil) != (test.approved == nil) || approved != nil && *approved != *test.approved {
				t.Errorf("approved is %v", approved)
			}
		})
	}
}

func TestAQuestionSaysWhatWouldHappen(t *testing.T) {
	g := &gate{answer: agent.Answer{Asked: true}}
	call := agent.Call{ID: "c1", Workspace: "/w", Arguments: json.RawMessage("{}"), Gate: g}
	if _, err := Wrap(&does{spec: agent.ToolSpec{Deed: agent.DeedCommand}}, Policy{Mode: Auto}).Run(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if len(g.asked) != 1 || !g.asked[0].Unconfined || g.asked[0].Deed != agent.DeedCommand || g.asked[0].Call.ID != "c1" || g.asked[0].Call.Workspace != "/w" {
		t.Errorf("asked %+v", g.asked)
	}
}

func TestAStoppedWaitIsACallThatNeverBegan(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(agent.ErrStopped)
	g := &gate{err: agent.ErrStopped}
	tool := &does{spec: agent.ToolSpec{Deed: agent.DeedChange}}
	result, err := Wrap(tool, Policy{Mode: Ask}).Run(ctx, agent.Call{ID: "c1", Gate: g})
	if err != nil || tool.runs != 0 || !strings.Contains(result.Content, "was not started: the user stopped it") {
		t.Errorf("%q, %v", result.Content, err)
	}
}
