package demodata

import (
	"encoding/json"
	"time"

	"offcut/agent"
	"offcut/models"
)

// topic is what a conversation is about: its turns, of which a session plays the
// first ones.
type topic struct {
	name  string
	turns []func(*teller) turn
	// often is how often it comes, against the others.
	often int
}

// turn is a question and how it is answered.
type turn struct {
	ask   string
	steps []step
}

// step is one reply of the model, and what the tool returns that it calls.
type step struct {
	// reply makes the reply out of what the model was sent.
	reply  func(agent.Request) agent.Reply
	result *result
	// retries is how often the provider was busy before it answered.
	retries int
}

// result is what a scripted tool returns.
type result struct {
	text  string
	exit  int // of a command
	took  time.Duration
	error bool
	// lost: its copy cannot be stored.
	lost bool
}

// args are the arguments of a tool call.
type args map[string]any

func (a args) String() string {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // they stand in this package
	}
	return string(text)
}

// says ends a turn.
func says(text string) step {
	return replies(agent.Reply{Content: text, FinishReason: models.FinishStop})
}

// cut is a text that hits the bound of a reply: another step goes on with it.
func cut(text string) step {
	return replies(agent.Reply{Content: text, FinishReason: models.FinishLength})
}

func replies(r agent.Reply) step { return step{reply: func(agent.Request) agent.Reply { return r }} }

// calls asks for a tool, which returns a result.
func calls(tool string, a args, r result) step {
	s := replies(calling(tool, a.String(), models.FinishToolCalls))
	s.result = &r
	return s
}

// broken asks for a tool with arguments that end in the middle.
func broken(tool, arguments string, r *result) step {
	s := replies(calling(tool, arguments, models.FinishLength))
	s.result = r
	return s
}

// reads asks for a page of the output that was kept last.
func reads(offset int64) step {
	return step{reply: func(req agent.Request) agent.Reply {
		return calling("read_tool_output", args{"output_id": lastKept(req), "offset": offset}.String(), models.FinishToolCalls)
	}}
}

// searches asks for a text in the output that was kept last.
func searches(pattern string) step {
	return step{reply: func(req agent.Request) agent.Reply {
		return calling("search_tool_output", args{"output_id": lastKept(req), "pattern": pattern}.String(), models.FinishToolCalls)
	}}
}

func calling(tool, arguments string, why models.FinishReason) agent.Reply {
	return agent.Reply{FinishReason: why, ToolCalls: []models.ToolCall{{Name: tool, Arguments: arguments}}}
}

// lastKept is the output that was kept last of those that the model was told of.
func lastKept(req agent.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if meta := req.Messages[i].Metadata; meta != nil && meta.OutputID != "" && meta.Offset == nil {
			return meta.OutputID
		}
	}
	return "out_none"
}

// busy has the provider refuse a step first, so many times.
func busy(times int, s step) step {
	s.retries = times
	return s
}

// thinks has a step begin with reasoning.
func thinks(thought string, s step) step {
	inner := s.reply
	s.reply = func(req agent.Request) agent.Reply {
		r := inner(req)
		r.Reasoning = thought
		return r
	}
	return s
}
