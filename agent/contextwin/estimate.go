package contextwin

import (
	"offcut/agent"
	"offcut/models"
)

// perMessage is what roles and separators cost, in tokens.
const perMessage = 4

// Estimate is about how many tokens a request takes.
func Estimate(req agent.Request) int {
	bytes := frame(req)
	for _, m := range req.Messages {
		bytes += size(m)
	}
	return tokens(bytes, len(req.Messages))
}

// tokens is about how many tokens so many bytes in so many messages take.
func tokens(bytes, messages int) int {
	return perMessage*(messages+1) + (bytes+agent.BytesPerToken-1)/agent.BytesPerToken
}

// frame is the size of a request without its messages, in bytes.
func frame(req agent.Request) int {
	bytes := len(req.System)
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return bytes
}

func size(m models.Message) int {
	if m.Role == models.RoleTool {
		return len(agent.ToolText(models.Message{Metadata: m.Metadata})) + len(m.Content)
	}
	n := len(m.Content) + len(m.Reasoning) + len(m.Images)*agent.ImageTokens*agent.BytesPerToken
	for _, c := range m.ToolCalls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return n
}
