package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"offcut/models"
)

// Servers of models that think refuse a history in which some replies have
// their reasoning and others lack the key. go-openai leaves an empty one out,
// so it is put back into what is sent.

// lacksReasoning reports whether a history is of that kind.
func (c *Client) lacksReasoning(history []models.Message) bool {
	some, none := false, false
	for _, m := range history {
		if m.Role == models.RoleAssistant {
			some, none = some || m.Reasoning != "", none || m.Reasoning == ""
		}
	}
	return some && none && !c.config.OmitReasoning
}

// withReasoning gives every reply in a request's body a reasoning_content.
func withReasoning(body []byte) ([]byte, error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	var messages []map[string]json.RawMessage
	if err := json.Unmarshal(request["messages"], &messages); err != nil {
		return nil, err
	}
	for _, m := range messages {
		if string(m["role"]) == `"assistant"` && m["reasoning_content"] == nil {
			m["reasoning_content"] = json.RawMessage(`""`)
		}
	}
	var err error
	if request["messages"], err = json.Marshal(messages); err != nil {
		return nil, err
	}
	return json.Marshal(request)
}

// rewriteBody puts change between a request and its body.
func rewriteBody(req *http.Request, change func([]byte) ([]byte, error)) error {
	body, err := io.ReadAll(req.Body)
	if err == nil {
		body, err = change(body)
	}
	if err != nil {
		return fmt.Errorf("body of the request: %w", err)
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}
