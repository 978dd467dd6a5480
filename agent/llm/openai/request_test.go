package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"offcut/agent"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

// sent is the request's body as the server got it.
func sent(t *testing.T, cfg Config, req agent.Request) map[string]any {
	t.Helper()
	var body map[string]any
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &body)
		llmtest.Streamed(events(ended("stop")), 1<<20)(w, r)
	})
	cfg.BaseURL, cfg.HTTPClient = c.config.BaseURL, c.http
	if _, err := New(cfg).Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestARequestIsInTheProvidersForm(t *testing.T) {
	body := sent(t, Config{Model: "m", MaxOutputTokens: 99}, agent.Request{
		System: "Be exact.",
		Messages: []models.Message{
			{Role: models.RolePerson, Content: "list"},
			{Role: models.RoleAssistant, Reasoning: "Hm", ToolCalls: []models.ToolCall{{ID: "a", Name: "list", Arguments: `{"p":"."}`}, {ID: "b", Name: "list", Arguments: `{"p":`}}},
			{Role: models.RoleTool, ToolCallID: "a", Content: "x.txt", Metadata: &models.ResultMetadata{}},
			{Role: models.RoleTool, ToolCallID: "b", Content: "cut", Metadata: &models.ResultMetadata{IsError: true}},
			{Role: models.RoleAssistant, Content: "One file."},
		},
		Tools: []agent.ToolSpec{{Name: "list", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object"}`)}},
	})
	var want map[string]any
	if err := json.Unmarshal([]byte(`{
		"model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 99,
		"tools": [{"type": "function", "function": {"name": "list", "description": "Lists.", "parameters": {"type": "object"}}}],
		"messages": [
			{"role": "system", "content": "Be exact."},
			{"role": "user", "content": "list"},
			{"role": "assistant", "reasoning_content": "Hm", "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "list", "arguments": "{\"p\":\".\"}"}},
				{"id": "b", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "a", "content": "{\"is_error\":false,\"truncated\":false}\nx.txt"},
			{"role": "tool", "tool_call_id": "b", "content": "{\"is_error\":true,\"truncated\":false}\ncut"},
			{"role": "assistant", "content": "One file.", "reasoning_content": ""}]
	}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestEarlierRepliesAreNeverSentAsNothing(t *testing.T) {
	thought := models.Message{Role: models.RoleAssistant, Reasoning: "Hm"}
	for _, tt := range []struct {
		name  string
		omit  bool
		reply models.Message
		want  map[string]any
	}{
		{"reasoning alone", false, thought, map[string]any{"role": "assistant", "reasoning_content": "Hm", "content": agent.UnfinishedThinking}},
		{"reasoning alone, to a server that refuses it", true, thought, nil},
		{
			"thinking that was cut off, to a server that refuses it", true,
			models.Message{Role: models.RoleAssistant, Content: agent.UnfinishedThinking, Reasoning: "Hm"},
			map[string]any{"role": "assistant", "content": "Hm\n\n" + agent.UnfinishedThinking},
		},
		{"nothing", false, models.Message{Role: models.RoleAssistant}, nil},
		{"text and reasoning", false, models.Message{Role: models.RoleAssistant, Content: "x", Reasoning: "Hm"}, map[string]any{"role": "assistant", "reasoning_content": "Hm", "content": "x"}},
		{"text and reasoning, to a server that refuses it", true, models.Message{Role: models.RoleAssistant, Content: "x", Reasoning: "Hm"}, map[string]any{"role": "assistant", "content": "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := sent(t, Config{OmitReasoning: tt.omit}, agent.Request{Messages: []models.Message{{Role: models.RolePerson, Content: "q"}, tt.reply}})
			messages := body["messages"].([]any)
			if tt.want == nil {
				if len(messages) != 1 {
					t.Errorf("sent %v", messages[1:])
				}
				return
			}
			if diff := cmp.Diff(tt.want, messages[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheOutputBoundGoesWhereTheModelTakesIt(t *testing.T) {
	for model, field := range map[string]string{"llama3": "max_tokens", "o3-mini": "max_completion_tokens", "gpt-5": "max_completion_tokens"} {
		body := sent(t, Config{Model: model, MaxOutputTokens: 5}, agent.Request{})
		if body[field] != 5.0 {
			t.Errorf("%s: %s is %v", model, field, body[field])
		}
	}
	if c := New(Config{}); !c.newTokenField("any") {
		t.Error("OpenAI itself takes max_completion_tokens for every model")
	}
}

func TestAKeyIsSentOnlyWhereThereIsOne(t *testing.T) {
	for key, want := range map[string]string{"": "", "k": "Bearer k"} {
		var got string
		c := served(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Authorization")
			llmtest.Streamed(events(ended("stop")), 1<<20)(w, r)
		})
		if _, err := New(Config{BaseURL: c.config.BaseURL + "/", APIKey: key, HTTPClient: c.http}).Stream(t.Context(), agent.Request{}, nil); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("key %q: header %q", key, got)
		}
	}
}

func TestWhereSomeRepliesReasonedTheOthersSayThatTheyDidNot(t *testing.T) {
	body := sent(t, Config{}, agent.Request{Messages: []models.Message{
		{Role: models.RolePerson, Content: "q <&>"},
		{Role: models.RoleAssistant, Reasoning: "Hm", ToolCalls: []models.ToolCall{{ID: "a", Name: "x", Arguments: "{}"}}},
		{Role: models.RoleTool, ToolCallID: "a"},
		{Role: models.RoleAssistant, ToolCalls: []models.ToolCall{{ID: "b", Name: "x", Arguments: "{}"}}},
		{Role: models.RoleTool, ToolCallID: "b"},
	}})
	var got []any
	for _, m := range body["messages"].([]any) {
		got = append(got, m.(map[string]any)["reasoning_content"])
	}
	if diff := cmp.Diff([]any{nil, "Hm", nil, "", nil}, got); diff != "" {
		t.Error(diff)
	}
	if got := body["messages"].([]any)[0].(map[string]any)["content"]; got != "q <&>" {
		t.Errorf("the question became %q", got)
	}
}

func TestPicturesGoWithTheMessageThatTheyCameWith(t *testing.T) {
	body := sent(t, Config{Model: "m"}, agent.Request{Messages: []models.Message{
		{Role: models.RolePerson, Content: "what is it", Images: []models.Image{{Type: "image/png", Data: []byte("\x89PNG")}}},
	}})
	want := []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "what is it"},
		map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,iVBORw=="}},
	}}}
	if diff := cmp.Diff(want, body["messages"]); diff != "" {
		t.Error(diff)
	}
}
