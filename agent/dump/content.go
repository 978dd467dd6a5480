package dump

import (
	"bytes"
	"encoding/json"
	"time"

	"offcut/agent"
	"offcut/models"
)

// maxMessages bounds the text of the messages in one file, in bytes: twenty of
// them must not fill a temporary folder that lies in memory. What is over it is
// left out from the oldest on, and counted.
const maxMessages = 16 << 20

// content is a dump as it stands in its file.
type content struct {
	About    head           `json:"about"`
	Answer   string         `json:"answer"` // the provider's, as it came
	Model    map[string]any `json:"model"`
	Omitted  int            `json:"messages_omitted,omitempty"`
	Messages []message      `json:"messages"`
	Tools    []tool         `json:"tools"`
}

// head says what a dump is about. It comes first, so that a list need not read
// the rest.
type head struct {
	At        string               `json:"time"`
	SessionID string               `json:"session_id"`
	TurnID    string               `json:"turn_id"`
	Name      string               `json:"model"`
	Status    int                  `json:"status"`
	Code      models.TurnErrorCode `json:"error_code"`
	Error     string               `json:"error"`
}

// message is one message as the model was to see it.
type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	Reasoning  string `json:"reasoning,omitempty"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode is the file of a refusal. Each text in it is cleaned before it becomes
// JSON, so that the file can be read whatever a secret looks like.
func (d *Dumps) encode(r agent.Refusal) ([]byte, error) {
	clean := d.redact.Text
	answer := r.Err.Answer
	if answer == "" && r.Err.Err != nil {
		answer = r.Err.Err.Error()
	}
	c := content{
		About: head{
			At: r.At.UTC().Format(time.RFC3339Nano), SessionID: r.SessionID, TurnID: r.TurnID, Name: clean(r.Request.Model),
			Status: r.Err.Status, Code: r.Err.Code, Error: clean(r.Err.Message),
		},
		Answer: clean(answer), Model: cleanSettings(r.Settings, clean), Messages: []message{}, Tools: []tool{},
	}
	if r.Request.System != "" {
		c.Messages = append(c.Messages, message{Role: "system", Content: clean(r.Request.System)})
	}
	c.Omitted = omitted(r.Request.Messages)
	for _, m := range r.Request.Messages[c.Omitted:] {
		c.Messages = append(c.Messages, messageOf(m, clean))
	}
	for _, t := range r.Request.Tools {
		c.Tools = append(c.Tools, tool{clean(t.Name), clean(t.Description), cleanJSON(t.Parameters, clean)})
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(c); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// omitted is how many messages, from the oldest on, are over the bound.
func omitted(messages []models.Message) int {
	room := maxMessages
	for i := len(messages) - 1; i >= 0; i-- {
		room -= len(messages[i].Content) + len(messages[i].Reasoning)
		if room < 0 {
			return i + 1
		}
	}
	return 0
}

func messageOf(m models.Message, clean func(string) string) message {
	out := message{
		Role: string(m.Role), Content: clean(m.Content), Reasoning: clean(m.Reasoning), ToolCallID: clean(m.ToolCallID),
	}
	if m.Role == models.RoleTool {
		out.Content = clean(agent.ToolText(m))
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, call{clean(c.ID), clean(c.Name), clean(c.Arguments)})
	}
	return out
}

// cleanJSON is null where no JSON is left of a value without its secrets.
func cleanJSON(value json.RawMessage, clean func(string) string) json.RawMessage {
	cleaned := json.RawMessage(clean(string(value)))
	if !json.Valid(cleaned) {
		return json.RawMessage("null")
	}
	return cleaned
}

func cleanSettings(settings map[string]any, clean func(string) string) map[string]any {
	out := make(map[string]any, len(settings))
	for name, value := range settings {
		if text, ok := value.(string); ok {
			value = clean(text)
		}
		out[name] = value
	}
	return out
}
