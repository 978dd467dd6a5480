package tools

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"strings"

	"offcut/agent"
	"offcut/models"
)

//go:embed query_tool_output.md
var queryToolOutputDescription string

// Querier answers jq filters over kept copies, one JSON value per line. Where
// others run it waits a while, and then it is models.ErrLimited.
type Querier interface {
	Query(ctx context.Context, asker, sessionID, outputID, filter string) ([]byte, error)
}

type queryToolOutputArgs struct {
	OutputID string `json:"output_id" jsonschema:"the output_id of the result's metadata"`
	Filter   string `json:"filter" jsonschema:"a jq filter, such as .items[] | select(.state == \"failed\") | .id"`
}

type queryToolOutput struct{ querier Querier }

// newQueryToolOutput makes a reader whose result is shown and kept like that of
// any other tool: unlike a page it has no bound of its own.
func newQueryToolOutput(q Querier) agent.Tool {
	t := queryToolOutput{q}
	return newTyped(agent.ToolSpec{Name: "query_tool_output", Description: queryToolOutputDescription}, t.run)
}

func (t queryToolOutput) run(ctx context.Context, call agent.Call, args queryToolOutputArgs) (agent.ToolResult, error) {
	values, err := t.query(ctx, call, args)
	if err != nil {
		return agent.ToolResult{}, toldOf(err)
	}
	result := agent.ToolResult{
		Content: strings.TrimSuffix(string(values), "\n"),
		Entries: models.Ptr(int64(bytes.Count(values, []byte("\n")))),
	}
	if len(values) == 0 {
		result.Notes = []string{"(the filter gives no value)"}
	}
	return result, nil
}

// query asks. Of a script, which may well ask about many copies at the same
// time, each query waits for its place for as long as the script does.
func (t queryToolOutput) query(ctx context.Context, call agent.Call, args queryToolOutputArgs) ([]byte, error) {
	for {
		values, err := t.querier.Query(ctx, call.OwnerID, call.SessionID, args.OutputID, args.Filter)
		if call.Parent == "" || !errors.Is(err, models.ErrLimited) || ctx.Err() != nil {
			return values, err
		}
	}
}
