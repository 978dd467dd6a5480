package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"offcut/agent"
	"offcut/models"
)

// request turns r into the provider's form. The provider's cache is told of the
// ends of what comes again: the tools, the instructions, and the conversation as
// far as it goes now and as far as it went in the request before.
func (c *Client) request(r agent.Request, o outline) anthropic.MessageNewParams {
	out := anthropic.MessageNewParams{
		Model:     o.model,
		MaxTokens: int64(c.config.MaxOutput()),
		Tools:     toolsOf(r.Tools),
		Messages:  messages(r, o),
		Thinking:  c.thinking(o),
	}
	if strings.TrimSpace(r.System) != "" {
		out.System = []anthropic.TextBlockParam{{Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	markEnds(out.Messages)
	return out
}

// thinking says whether the model shall think. A budget for thinking wants the
// thinking of the turn's earlier calls back: where one goes without, there is none.
func (c *Client) thinking(o outline) anthropic.ThinkingConfigParamUnion {
	switch {
	case c.config.ThinkingTokens > 0 && o.plain:
		return anthropic.ThinkingConfigParamUnion{}
	case c.config.ThinkingTokens > 0:
		return anthropic.ThinkingConfigParamOfEnabled(int64(c.config.ThinkingTokens))
	case c.config.Thinking == ThinkingAdaptive:
		// Some models leave out the text of their thinking unless it is asked for.
		return anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{
			Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized,
		}}
	case c.config.Thinking == ThinkingOff:
		return anthropic.ThinkingConfigParamUnion{OfDisabled: &anthropic.ThinkingConfigDisabledParam{}}
	}
	return anthropic.ThinkingConfigParamUnion{}
}

// messages makes the conversation: messages of the user and of the model in
// turn, none of them empty, the first the user's. The results of a reply's calls
// come first in the user's message after it.
func messages(r agent.Request, o outline) []anthropic.MessageParam {
	var talk conversation
	for i, m := range r.Messages {
		switch m.Role {
		case models.RoleAssistant:
			talk.say(true, replyBlocks(m, o, o.sendsThoughts && i >= o.from))
		case models.RoleTool:
			talk.say(false, []anthropic.ContentBlockParamUnion{resultBlock(m)})
		case models.RolePerson, models.RoleSystem:
			talk.say(false, saidBlocks(m))
		}
	}
	return talk.messages()
}

// conversation joins what one side says in a row.
type conversation []side

type side struct {
	assistant bool
	blocks    []anthropic.ContentBlockParamUnion
}

func (c *conversation) say(assistant bool, blocks []anthropic.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if len(*c) == 0 && assistant {
		c.say(false, appendText(nil, agent.OpeningText))
	}
	if last := len(*c) - 1; last >= 0 && (*c)[last].assistant == assistant {
		(*c)[last].blocks = append((*c)[last].blocks, blocks...)
		return
	}
	*c = append(*c, side{assistant, blocks})
}

func (c *conversation) messages() []anthropic.MessageParam {
	var out []anthropic.MessageParam
	for _, s := range *c {
		if s.assistant {
			out = append(out, anthropic.NewAssistantMessage(s.blocks...))
		} else {
			out = append(out, anthropic.NewUserMessage(s.blocks...))
		}
	}
	return out
}

// markEnds marks the end of the last two messages of the user, up to which the
// provider's cache is to hold: the older one is what the last request wrote to
// it, and the newer one may lie too far behind that for it to be found.
func markEnds(messages []anthropic.MessageParam) {
	marked := 0
	for i := len(messages) - 1; i >= 0 && marked < 2; i-- {
		user := messages[i].OfUser
		if user == nil {
			continue
		}
		if mark := user.Content[len(user.Content)-1].GetCacheControl(); mark != nil {
			*mark = anthropic.NewCacheControlEphemeralParam()
		}
		marked++
	}
}

// saidBlocks are what a person wrote, with the pictures that came with it.
func saidBlocks(m models.Message) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	for _, image := range m.Images {
		out = append(out, anthropic.NewImageBlockBase64(image.Type, base64.StdEncoding.EncodeToString(image.Data)))
	}
	return appendText(out, m.Content)
}

// replyBlocks are the blocks of an earlier reply: as they came, where its
// thinking is sent. Thinking that was all of a reply that was cut off is sent as
// text where it cannot be sent as what it was: it shall not be lost.
func replyBlocks(m models.Message, o outline, thoughts bool) []anthropic.ContentBlockParamUnion {
	if thoughts {
		if l, ok := o.layout(m); ok {
			if blocks, ok := l.blocks(m); ok {
				return blocks
			}
		}
	}
	var out []anthropic.ContentBlockParamUnion
	if m.Content == agent.UnfinishedThinking {
		out = appendText(out, m.Reasoning)
	}
	out = appendText(out, m.Content)
	for _, c := range m.ToolCalls {
		out = append(out, callBlock(c))
	}
	return out
}

// appendText appends a block of text. The API refuses one that is blank.
func appendText(blocks []anthropic.ContentBlockParamUnion, text string) []anthropic.ContentBlockParamUnion {
	if strings.TrimSpace(text) == "" {
		return blocks
	}
	return append(blocks, anthropic.NewTextBlock(text))
}

func callBlock(c models.ToolCall) anthropic.ContentBlockParamUnion {
	return anthropic.NewToolUseBlock(c.ID, json.RawMessage(c.ArgumentsOrEmpty()), toolName(c.Name))
}

func resultBlock(m models.Message) anthropic.ContentBlockParamUnion {
	failed := m.Metadata != nil && m.Metadata.IsError
	return anthropic.NewToolResultBlock(m.ToolCallID, agent.ToolText(m), failed)
}

// maxToolName is the longest name of a tool that the API takes, in bytes.
const maxToolName = 128

// toolName makes a name one that the API takes back: other models call tools by
// names that there cannot be.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxToolName)]
}

// toolsOf are the tools; the last one is an end of what comes again.
func toolsOf(specs []agent.ToolSpec) []anthropic.ToolUnionParam {
	var out []anthropic.ToolUnionParam
	for _, s := range specs {
		schema := param.Override[anthropic.ToolInputSchemaParam](s.Parameters)
		tool := anthropic.ToolUnionParamOfTool(schema, s.Name)
		tool.OfTool.Description = anthropic.String(s.Description)
		out = append(out, tool)
	}
	if len(out) > 0 {
		out[len(out)-1].OfTool.CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	return out
}
