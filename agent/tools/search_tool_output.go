package tools

import (
	"context"
	_ "embed"
	"fmt"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/models"
)

//go:embed search_tool_output.md
var searchToolOutputDescription string

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
		standard("regexp", false), within("max", 1, retain.MaxMatches), standard("max", retain.DefaultMatches))
}

func (t searchToolOutput) run(ctx context.Context, call agent.Call, args searchToolOutputArgs) (agent.ToolResult, error) {
	found, err := t.reader.Find(ctx, call.SessionID, args.OutputID, retain.Query{Asker: call.OwnerID, Pattern: args.Pattern, Regexp: args.Regexp, Most: args.Max})
	if err != nil {
		return agent.ToolResult{}, toldOf(err)
	}
	hits := bounded{entries: args.Max, bytes: pageBudget(call)}
	var shown []models.Range
	for _, m := range found.Matches {
		if hits.add(fmt.Sprintf("offset %d, line %d: %s", m.Offset, m.Line, clean(m.Text))) {
			shown = append(shown, m.Shown)
		}
	}
	result := hits.result(notesOf(found, hits), found.More)
	// Of many lines apart from each other the metadata name the first: coverage
	// then counts less than what was seen, and never more.
	shown = models.MergeRanges(shown)
	result.Metadata.Shown = shown[:min(len(shown), retain.MaxShownRanges)]
	result.Metadata.Complete = &found.Complete
	return result, nil
}

// notesOf says what the list of hits is not: all, or of all that there was.
func notesOf(found retain.Found, hits bounded) []string {
	var notes []string
	left := found.Matches[hits.taken:]
	switch {
	case len(left) > 0:
		notes = append(notes, fmt.Sprintf("(there is no room for more matches: search again with a narrower pattern, or read on from the next one at offset %d)", left[0].Offset))
	case found.More:
		notes = append(notes, fmt.Sprintf("(there are more than these %d matches: search with a narrower pattern, or ask for more with max, which is %d at most)", hits.taken, retain.MaxMatches))
	case hits.total == 0:
		notes = append(notes, "(no match)")
	}
	if !found.Complete {
		notes = append(notes, "(the kept copy is not complete: what is missing was not searched)")
	}
	return notes
}
