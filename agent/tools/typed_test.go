package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"offcut/agent"
)

type sample struct {
	Name  string   `json:"name" jsonschema:"whose it is"`
	Count int64    `json:"count,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

func sampleTool(run func(sample) (agent.ToolResult, error)) agent.Tool {
	return newTyped(agent.ToolSpec{Name: "sample", Description: " A sample.\n"},
		func(_ context.Context, _ agent.Call, args sample) (agent.ToolResult, error) { return run(args) },
		within("count", 1, 10), standard("count", 5))
}

func TestSpecOfTypedTool(t *testing.T) {
	spec := sampleTool(nil).Spec()
	var schema struct {
		Type       string                    `json:"type"`
		Required   []string                  `json:"required"`
		Properties map[string]map[string]any `json:"properties"`
		Additional any                       `json:"additionalProperties"`
	}
	if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || len(schema.Required) != 1 || schema.Required[0] != "name" || spec.Description != "A sample." {
		t.Errorf("spec is %+v, %s", spec, spec.Parameters)
	}
	if count := schema.Properties["count"]; count["minimum"] != 1.0 || count["maximum"] != 10.0 || count["default"] != 5.0 {
		t.Errorf("count is %v", count)
	}
}

func TestArguments(t *testing.T) {
	var got sample
	tool := sampleTool(func(args sample) (agent.ToolResult, error) {
		got = args
		return agent.ToolResult{Content: "done"}, nil
	})
	for _, tt := range []struct {
		name, args string
		want       sample
		says       string // empty: it runs
	}{
		{"the least", `{"name":"x"}`, sample{Name: "x", Count: 5}, ""},
		{"all", `{"name":"x","count":7,"tags":["a"]}`, sample{Name: "x", Count: 7, Tags: []string{"a"}}, ""},
		{"null is left out", `{"name":"x","count":null}`, sample{Name: "x", Count: 5}, ""},
		{"a missing one", `{"count":1}`, sample{}, `missing properties: ["name"]`},
		{"null for one that must be", `{"name":null}`, sample{}, `missing properties: ["name"]`},
		{"nothing", ``, sample{}, `missing properties`},
		{"a wrong type", `{"name":5}`, sample{}, `"string"`},
		{"a number as text", `{"name":"x","count":"5"}`, sample{}, `"integer"`},
		{"a broken number", `{"name":"x","count":1.5}`, sample{}, `"integer"`},
		{"out of bounds", `{"name":"x","count":11}`, sample{}, `maximum`},
		{"an unknown one", `{"name":"x","colour":"red"}`, sample{}, `colour`},
		{"a list", `["x"]`, sample{}, "not an object"},
		{"null", `null`, sample{}, "no JSON object"},
		{"cut", `{"name":"x`, sample{}, "no valid JSON"},
		{"two objects", `{"name":"x"}{"name":"y"}`, sample{}, "no valid JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got = sample{}
			result, err := tool.Run(t.Context(), agent.Call{ID: "c1", Arguments: json.RawMessage(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			if tt.says == "" {
				if result.IsError || result.ToolCallID != "c1" || got.Name != tt.want.Name || got.Count != tt.want.Count || len(got.Tags) != len(tt.want.Tags) {
					t.Errorf("got %+v, %q", got, result.Content)
				}
				return
			}
			if !result.IsError || !result.Metadata.IsError || !strings.Contains(result.Content, tt.says) {
				t.Errorf("answered %q", result.Content)
			}
			if !strings.Contains(result.Content, "Received: "+tt.args) || !strings.Contains(result.Content, `"additionalProperties"`) {
				t.Errorf("what was received, or the schema, is missing: %q", result.Content)
			}
			if strings.Contains(result.Content, "tools.") || got.Name != "" {
				t.Errorf("names Go types, or ran: %q", result.Content)
			}
		})
	}
}

func TestLongArgumentsAreQuotedInPart(t *testing.T) {
	result, err := sampleTool(nil).Run(t.Context(), agent.Call{Arguments: json.RawMessage(`{"name":"` + strings.Repeat("ä", 100_000))})
	if err != nil || !result.IsError || len(result.Content) > 3000 || !strings.Contains(result.Content, "200009 bytes in all") {
		t.Errorf("%d bytes, %v", len(result.Content), err)
	}
}

func TestPanicIsCaught(t *testing.T) {
	result, err := sampleTool(func(sample) (agent.ToolResult, error) { panic("at /srv/secret/place") }).
		Run(t.Context(), agent.Call{ID: "c1", Arguments: json.RawMessage(`{"name":"x"}`)})
	if err != nil || !result.IsError || strings.Contains(result.Content, "secret") || result.ToolCallID != "c1" {
		t.Errorf("%q, %v", result.Content, err)
	}
}

func TestErrorOfTool(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := sampleTool(func(sample) (agent.ToolResult, error) { return agent.ToolResult{}, broken }).
		Run(t.Context(), agent.Call{ID: "c1", Arguments: json.RawMessage(`{"name":"x"}`)})
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	result, err := sampleTool(func(sample) (agent.ToolResult, error) { return agent.ToolResult{}, refusef("No \x00\xff.") }).
		Run(t.Context(), agent.Call{ID: "c1", Arguments: json.RawMessage(`{"name":"x"}`)})
	if err != nil || result.Content != "No \uFFFD\uFFFD." {
		t.Errorf("%q, %v", result.Content, err)
	}
}
