package approve

import (
	"context"

	"offcut/agent"
	"offcut/models"
)

// Wrap makes a tool ask, where the policy wants it, before each of its calls.
func Wrap(t agent.Tool, p Policy) agent.Tool { return asking{t, p} }

type asking struct {
	agent.Tool
	policy Policy
}

// Ask puts a call to the gate that the call came with. A call with arguments
// that the tool refuses anyway is not worth asking about.
func (a asking) Ask(ctx context.Context, call agent.Call) (func(context.Context) (agent.Tool, error), error) {
	spec := a.Spec()
	unfit := spec.Fits != nil && spec.Fits(call.Arguments) != nil
	if !a.policy.asks(spec.Deed) || unfit || call.Gate == nil {
		return nil, nil
	}
	wait, err := call.Gate.Ask(ctx, agent.Question{Call: call, Deed: spec.Deed, Unconfined: a.policy.unconfined(spec.Deed)})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (agent.Tool, error) {
		answer, err := wait(ctx)
		return answered{a.Tool, answer}, err
	}, nil
}

// Run asks and waits, where somebody has to allow the call.
func (a asking) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	deed := a.Spec().Deed
	if why := a.policy.refuses(deed); why != "" {
		return refused(call, why), nil
	}
	wait, err := a.Ask(ctx, call)
	switch {
	case err != nil:
		return agent.ToolResult{}, err
	case wait == nil && call.Gate == nil && a.policy.asks(deed):
		return refused(call, refusedNobody), nil
	case wait == nil:
		return a.Tool.Run(ctx, call)
	}
	tool, err := wait(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return agent.NotStarted(call.ID, context.Cause(ctx)), nil
	case err != nil:
		return agent.ToolResult{}, err
	}
	return tool.Run(ctx, call)
}

func refused(call agent.Call, why string) agent.ToolResult {
	return agent.ErrorResult(call.ID, "%s was not run: %s.", call.Tool, why)
}

// answered is a tool about a call of which somebody has decided.
type answered struct {
	agent.Tool
	answer agent.Answer
}

// Run runs the tool, or tells the model that it may not. The result says that
// somebody was asked, and what they said.
func (a answered) Run(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
	if !a.answer.Allowed {
		result := agent.ErrorResult(call.ID, "The user was asked about this call and denied it: %s was not run, and nothing was changed by it. Do not try to reach the same in another way. Say what you wanted to do and why, or go on without it.", call.Tool)
		result.Metadata.Approved = models.Ptr(false)
		return result, nil
	}
	result, err := a.Tool.Run(ctx, call)
	if a.answer.Asked {
		result.Metadata.Approved = models.Ptr(true)
	}
	return result, err
}
