package agenttest

import (
	"context"
	"encoding/json"

	"offcut/agent"
	"offcut/models"
)

// RunFunc is what a tool does.
type RunFunc func(ctx context.Context, call agent.Call) (agent.ToolResult, error)

// ToolFunc makes a tool out of a function. It takes any arguments.
func ToolFunc(name string, run RunFunc) agent.Tool {
	return tool{spec: agent.ToolSpec{Name: name, Description: "A tool of a test.", Parameters: json.RawMessage(`{"type":"object"}`)}, run: run}
}

// Returns makes a tool that always gives the same text.
func Returns(name, text string) agent.Tool {
	return ToolFunc(name, func(context.Context, agent.Call) (agent.ToolResult, error) {
		return Text(text), nil
	})
}

// Text is a result that holds only text.
func Text(text string) agent.ToolResult {
	return agent.ToolResult{Content: text, Metadata: models.ResultMetadata{Retention: models.RetentionNotNeeded}}
}

type tool struct {
	spec agent.ToolSpec
	run  RunFunc
}

func (t tool) Spec() agent.ToolSpec { return t.spec }

func (t tool) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	return t.run(ctx, call)
}
