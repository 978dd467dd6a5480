package openai

import (
	"encoding/base64"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"offcut/agent"
	"offcut/models"
)

// request turns r into the provider's form.
func (c *Client) request(r agent.Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model:         r.Model,
		Messages:      c.messages(r),
		Tools:         toolsOf(r.Tools),
		Stream:        true,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	if out.Model == "" {
		out.Model = c.config.Model
	}
	if c.newTokenField(out.Model) {
		out.MaxCompletionTokens = c.config.MaxOutputTokens
	} else {
		out.MaxTokens = c.config.MaxOutputTokens //nolint:staticcheck // deprecated at OpenAI, and what the others know
	}
	return out
}

// newTokenField reports whether the bound goes into max_completion_tokens:
// OpenAI's reasoning models refuse max_tokens, and many other servers know
// nothing else.
func (c *Client) newTokenField(model string) bool {
	if c.server.Host == "api.openai.com" {
		return true
	}
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

func (c *Client) messages(r agent.Request) []openai.ChatCompletionMessage {
	out := make([]openai.ChatCompletionMessage, 0, len(r.Messages)+1)
	if r.System != "" {
		out = append(out, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: r.System})
	}
	for _, m := range r.Messages {
		switch m.Role {
		case models.RoleAssistant:
			if msg, ok := c.assistant(m); ok {
				out = append(out, msg)
			}
		case models.RoleTool:
			out = append(out, openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleTool, ToolCallID: m.ToolCallID, Content: agent.ToolText(m),
			})
		case models.RolePerson, models.RoleSystem:
			out = append(out, userMessage(m))
		}
	}
	return out
}

// userMessage is what a person wrote, with the pictures that came with it.
func userMessage(m models.Message) openai.ChatCompletionMessage {
	if len(m.Images) == 0 {
		return openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content}
	}
	parts := []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: m.Content}}
	for _, image := range m.Images {
		parts = append(parts, openai.ChatMessagePart{
			Type:     openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: "data:" + image.Type + ";base64," + base64.StdEncoding.EncodeToString(image.Data)},
		})
	}
	return openai.ChatCompletionMessage{Role: string(m.Role), MultiContent: parts}
}

// assistant is an earlier reply as it is sent back; false: it holds nothing,
// and a message of nothing is refused. Thinking that was all of a reply that was
// cut off is sent as text where the server takes none: it shall not be lost.
func (c *Client) assistant(m models.Message) (openai.ChatCompletionMessage, bool) {
	out := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant, Content: m.Content}
	switch {
	case !c.config.OmitReasoning:
		out.ReasoningContent = m.Reasoning
	case m.Content == agent.UnfinishedThinking && m.Reasoning != "":
		out.Content = m.Reasoning + "\n\n" + m.Content
	}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: call.ArgumentsOrEmpty()},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		if out.ReasoningContent == "" {
			return out, false
		}
		out.Content = agent.UnfinishedThinking
	}
	return out, true
}

func toolsOf(specs []agent.ToolSpec) []openai.Tool {
	var out []openai.Tool
	for _, s := range specs {
		out = append(out, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: s.Name, Description: s.Description, Parameters: s.Parameters,
		}})
	}
	return out
}
