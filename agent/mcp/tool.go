package mcp

import (
	"context"
	"errors"
	"time"

	"offcut/agent"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one tool of a server.
type tool struct {
	spec    agent.ToolSpec
	remote  string // its name at the server
	server  *server
	timeout time.Duration
}

func (t tool) Spec() agent.ToolSpec { return t.spec }

// quotedBytes bounds what of a server's error is told a model.
const quotedBytes = 4 << 10

// Run calls the tool at its server. A stop, and the end of its time, are told
// the server, which may still have done what was asked.
func (t tool) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	if t.spec.Fits != nil {
		if err := t.spec.Fits(call.Arguments); err != nil {
			return agent.ErrorResult(call.ID, "The arguments of %s are wrong: %s.\nThey must fit this JSON schema: %s",
				t.spec.Name, bounded(t.server.scrub.text(legible(err.Error())), quotedBytes), t.spec.Parameters), nil
		}
	}
	link, err := t.server.running(ctx)
	if ctx.Err() != nil {
		return agent.NotStarted(call.ID, context.Cause(ctx)), nil
	}
	if err != nil {
		return agent.ErrorResult(call.ID, "%s was not run: %v. Try it once more, or go on without it and say so.", t.spec.Name, err), nil
	}
	params := &sdk.CallToolParams{Name: t.remote, Arguments: call.Arguments}
	token, end := link.watch(call)
	defer end()
	params.SetProgressToken(token)
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	answer, err := link.session.CallTool(limited, params)
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return agent.ToolResult{}, context.Cause(ctx)
	case errors.As(err, &refused):
		return agent.ErrorResult(call.ID, "The MCP server %s answered with an error: %s",
			t.server.cfg.Name, bounded(t.server.scrub.text(legible(refused.Message)), quotedBytes)), nil
	case limited.Err() != nil:
		return agent.ErrorResult(call.ID, "%s had no result after %s, which is its time limit. The MCP server was told to end the call; its effects are unknown. Ask for less at once, or check what was done before you go on.",
			t.spec.Name, t.timeout), nil
	case err != nil:
		t.server.opts.Log.WarnContext(ctx, "a call of an MCP tool broke off", "tool", t.spec.Name, "call", call.ID, "session", call.SessionID, "error", t.server.reason(err))
		return agent.ErrorResult(call.ID, "The connection to the MCP server %s was lost before %s had a result (an answer may have at most %d MiB); its effects are unknown. Check what was done before you call it again.",
			t.server.cfg.Name, t.spec.Name, maxAnswerBytes>>20), nil
	}
	return t.server.result(ctx, call, answer), nil
}
