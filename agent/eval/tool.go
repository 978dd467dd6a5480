package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"offcut/agent"
	"offcut/models"
)

// scripted is a tool of a fixture.
type scripted struct {
	spec    agent.ToolSpec
	replies []Reply
}

// tools are the tools of a fixture, before anything keeps their long results.
func (f Fixture) tools() ([]agent.Tool, error) {
	var made []agent.Tool
	for _, t := range f.Tools {
		parameters := t.Parameters
		if parameters == nil {
			parameters = map[string]any{"type": "object"}
		}
		schema, err := json.Marshal(parameters)
		if err != nil {
			return nil, fmt.Errorf("fixture: %s: parameters: %w", t.Name, err)
		}
		made = append(made, scripted{agent.ToolSpec{Name: t.Name, Description: t.Description, Parameters: schema}, t.Replies})
	}
	return made, nil
}

func (t scripted) Spec() agent.ToolSpec { return t.spec }

// Run answers with the first reply that fits.
func (t scripted) Run(_ context.Context, call agent.Call) (agent.ToolResult, error) {
	var given map[string]any
	if err := json.Unmarshal(call.Arguments, &given); err != nil {
		return agent.ErrorResult(call.ID, "The arguments are no JSON object."), nil
	}
	for _, reply := range t.replies {
		if !reply.fits(given) {
			continue
		}
		content, err := reply.bytes()
		if err != nil {
			return agent.ToolResult{}, err
		}
		return agent.ToolResult{
			ToolCallID: call.ID, Content: string(content), IsError: reply.Error,
			Metadata: models.ResultMetadata{IsError: reply.Error, Retention: models.RetentionNotNeeded},
		}, nil
	}
	return agent.ErrorResult(call.ID, "%s has no answer to these arguments.", t.spec.Name), nil
}

// fits: the arguments hold all that the reply is for.
func (r Reply) fits(given map[string]any) bool {
	for key, want := range r.When {
		if !same(want, given[key]) {
			return false
		}
	}
	return true
}

// same compares a value of YAML with one of JSON, by their JSON.
func same(a, b any) bool {
	normal := func(v any) (out any) {
		raw, err := json.Marshal(v)
		if err == nil {
			_ = json.Unmarshal(raw, &out) // it was just made
		}
		return out
	}
	return reflect.DeepEqual(normal(a), normal(b))
}
