package mcp

import (
	"context"
	"errors"
	"fmt"
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

// quotedBytes bounds what is quoted of why arguments do not fit.
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
	if !t.server.offers(t.spec.Name) {
		return agent.ErrorResult(call.ID, "The MCP server %s has the tool %s no longer: its list of tools has changed, and %s was not run. What it has now is offered in the next turn.",
			t.server.cfg.Name, t.spec.Name, t.spec.Name), nil
	}
	params := &sdk.CallToolParams{Name: t.remote, Arguments: call.Arguments}
	token, end := link.watch(call)
	defer end()
	params.SetProgressToken(token)
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	var status status
	answer, err := link.session.CallTool(status.of(limited), params)
	return t.ended(ctx, call, answer, err, func() agent.ToolResult { return t.failed(ctx, call, link, &status, limited.Err() != nil, err) })
}

// ended is what came of a call. An answer that had come is one, also where a
// stop came in that moment.
func (t tool) ended(ctx context.Context, call agent.Call, answer *sdk.CallToolResult, err error, failed func() agent.ToolResult) (agent.ToolResult, error) {
	switch {
	case err == nil:
		if answer.Meta[largeKey] != nil {
			defer t.server.large.free()
		}
		return t.server.result(context.WithoutCancel(ctx), call, answer), nil
	case ctx.Err() != nil:
		return agent.ToolResult{}, context.Cause(ctx)
	}
	return failed(), nil
}

// notSent is the code of an error that the library has of its own, and no
// server: the message could not be sent, or was answered with a status of HTTP.
const notSent = -32005

// failed is the result of a call that came to none.
func (t tool) failed(ctx context.Context, call agent.Call, link *link, status *status, late bool, err error) agent.ToolResult {
	server := t.server.cfg.Name
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused) && refused.Code != notSent:
		// However long: its end may be the cause, and what is over a preview is kept.
		return agent.ErrorResult(call.ID, "The MCP server %s answered with an error: %s", server, t.server.scrub.text(said(refused)))
	case late:
		return agent.ErrorResult(call.ID, "%s had no result after %s, which is its time limit. The MCP server was told to end the call; its effects are unknown. Ask for less at once, or check what was done before you go on.",
			t.spec.Name, t.timeout)
	}
	t.server.opts.Log.WarnContext(ctx, "a call of an MCP tool broke off", "tool", t.spec.Name, "call", call.ID, "session", call.SessionID, "error", t.server.reason(err))
	if said := status.failure(); said != "" {
		return agent.ErrorResult(call.ID, "The MCP server %s answered %s with the HTTP status %s; its effects are unknown. Check what was done before you call it again.",
			server, t.spec.Name, said)
	}
	if !errors.Is(err, sdk.ErrConnectionClosed) && !link.lost.Load() {
		return agent.ErrorResult(call.ID, "The MCP server %s gave %s no answer that can be read; its effects are unknown. Check what was done before you call it again.",
			server, t.spec.Name)
	}
	link.lost.Store(true)
	why := ""
	if link.long.Load() {
		why = fmt.Sprintf(" (an answer may have at most %d MiB, and one had more: ask for less at once)", maxAnswerBytes>>20)
	}
	return agent.ErrorResult(call.ID, "The connection to the MCP server %s was lost before %s had a result%s; its effects are unknown. Check what was done before you call it again.",
		server, t.spec.Name, why)
}

// said is all that an error of the protocol says.
func said(refused *jsonrpc.Error) string {
	if len(refused.Data) == 0 || string(refused.Data) == "null" {
		return refused.Message
	}
	return refused.Message + "\nIts data: " + compact(string(refused.Data))
}
