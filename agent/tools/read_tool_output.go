package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/models"
)

//go:embed read_tool_output.md
var readToolOutputDescription string

type readToolOutputArgs struct {
	OutputID string `json:"output_id" jsonschema:"the output_id of the result's metadata"`
	Offset   int64  `json:"offset,omitempty" jsonschema:"where to begin, in bytes"`
	Limit    int    `json:"limit,omitempty" jsonschema:"the most bytes to return; clamped to 4 to 4096"`
}

type readToolOutput struct{ reader *retain.Reader }

func newReadToolOutput(r *retain.Reader) agent.Tool {
	t := readToolOutput{r}
	return newTyped(agent.ToolSpec{Name: "read_tool_output", Description: readToolOutputDescription, Whole: true}, t.run,
		standard("offset", 0), standard("limit", retain.MaxPageBytes))
}

func (t readToolOutput) run(ctx context.Context, call agent.Call, args readToolOutputArgs) (agent.ToolResult, error) {
	limit := min(max(args.Limit, retain.MinPageBytes), retain.MaxPageBytes)
	page, err := t.reader.Page(ctx, call.SessionID, args.OutputID, args.Offset, limit)
	if err != nil {
		return agent.ToolResult{}, toldOf(err)
	}
	meta := models.ResultMetadata{
		Truncated:  page.HasMore,
		Offset:     &page.Offset,
		NextOffset: &page.NextOffset,
		PageTotal:  &page.TotalBytes,
		HasMore:    &page.HasMore,
		Complete:   &page.Complete,
		Background: page.Background,
	}
	if page.End != nil {
		meta.ExitCode, meta.Signal, meta.TimedOut = page.End.ExitCode, page.End.Signal, page.End.TimedOut
	}
	return agent.ToolResult{Content: page.Text, Metadata: meta}, nil
}

// toldOf lets the model see an error that is written for people, with what it
// needs to mend the call, such as the nearest boundaries of an offset.
func toldOf(err error) error {
	var told *models.Error
	if !errors.As(err, &told) || errors.Is(err, models.ErrUnavailable) {
		return err
	}
	if len(told.Details) == 0 || !errors.Is(err, models.ErrMalformed) {
		return refusal(told.Message)
	}
	details, jsonErr := json.Marshal(told.Details)
	if jsonErr != nil {
		return refusal(told.Message)
	}
	return refusal(told.Message + "\n" + string(details))
}
