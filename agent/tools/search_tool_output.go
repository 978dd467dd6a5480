package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"offcut/agent"
	"offcut/agent/retain"
)

//go:embed search_tool_output.md
var searchToolOutputDescription string

const (
	// defaultHits and maxHits bound how many matches are returned.
	defaultHits = 20
	maxHits     = 200
)

type searchToolOutputArgs struct {
	OutputID string `json:"output_id" jsonschema:"the output_id of the result's metadata"`
	Pattern  string `json:"pattern" jsonschema:"what to find"`
	Regexp   bool   `json:"regexp,omitempty" jsonschema:"the pattern is a regular expression in RE2 syntax"`
	Max      int    `json:"max,omitempty" jsonschema:"the most matches to return"`
}

type searchToolOutput struct{ reader *retain.Reader }

func newSearchToolOutput(r *retain.Reader) agent.Tool {
	t := searchToolOutput{r}
	return newTyped(agent.ToolSpec{Name: "search_tool_output", Description: searchToolOutputDescription, Whole: true}, t.run,
		standard("regexp", false), within("max", 1, maxHits), standard("max", defaultHits))
}

func (t searchToolOutput) run(ctx context.Context, call agent.Call, args searchToolOutputArgs) (agent.ToolResult, error) {
	matches, err := t.reader.Search(ctx, call.SessionID, args.OutputID, args.Pattern, args.Regexp, args.Max)
	if err != nil {
		return agent.ToolResult{}, toldOf(err)
	}
	var body strings.Builder
	for _, m := range matches {
		fmt.Fprintf(&body, "offset %d, line %d: %s\n", m.Offset, m.Line, clean(m.Text))
	}
	if len(matches) == 0 {
		body.WriteString("(no match)")
	}
	return agent.ToolResult{Content: strings.TrimSuffix(body.String(), "\n")}, nil
}
