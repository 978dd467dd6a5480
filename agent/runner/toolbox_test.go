package runner

import (
	"context"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
)

func TestATurnIsOfferedTheToolsThatThereAreWhenItBegins(t *testing.T) {
	later := []agent.Tool{agenttest.Returns("first", "of the first")}
	h := newHouse(t, func(cfg *Config) {
		cfg.MoreTools = func(context.Context) []agent.Tool { return later }
	}, agenttest.Calls("first", `{}`), agenttest.Says("done"), agenttest.Calls("first", `{}`), agenttest.Says("done"))
	session := h.session()
	h.rest(h.send(session, "one"))
	later = []agent.Tool{agenttest.Returns("second", "of the second")}
	h.rest(h.send(session, "two"))

	var offered []string
	for _, req := range h.script.Requests() {
		names := ""
		for _, spec := range req.Tools {
			names += spec.Name + " "
		}
		offered = append(offered, names)
	}
	if len(offered) != 4 || offered[1] != "look first " || offered[2] != "look second " {
		t.Errorf("offered %q", offered)
	}
	all := h.messages(session)
	if got := all[2].Content; got != "of the first" {
		t.Errorf("the tool said %q", got)
	}
	if last := all[6]; last.Metadata == nil || !last.Metadata.IsError {
		t.Errorf("a tool that is gone ran: %+v", last)
	}
}

func TestACallKnowsTheToolsOfItsTurn(t *testing.T) {
	var inner string
	outer := agenttest.ToolFunc("outer", func(ctx context.Context, c agent.Call) (agent.ToolResult, error) {
		tool, ok := c.Tools.Tool("look")
		if !ok {
			return agenttest.Text("none"), nil
		}
		result, err := tool.Run(ctx, c)
		inner = result.Content
		return result, err
	})
	h := newHouse(t, func(cfg *Config) { cfg.Tools = append(cfg.Tools, outer) }, agenttest.Calls("outer", `{}`), agenttest.Says("done"))
	h.rest(h.send(h.session(), "go"))
	if inner != "seen" {
		t.Errorf("the inner call said %q", inner)
	}
}
