package anthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"offcut/agent"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

// recorder answers each request with the next of its answers, the last again
// and again, and keeps what it was sent.
type recorder struct {
	t       *testing.T
	answers []http.HandlerFunc
	bodies  []map[string]any
	headers []http.Header
	paths   []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		r.t.Errorf("the request is no JSON: %v", err)
	}
	r.bodies, r.headers, r.paths = append(r.bodies, body), append(r.headers, req.Header), append(r.paths, req.URL.Path)
	r.answers[min(len(r.bodies), len(r.answers))-1](w, req)
}

// recorded is a client whose server keeps what it is sent.
func recorded(t *testing.T, cfg Config, answers ...string) (*Client, *recorder) {
	t.Helper()
	r := &recorder{t: t}
	for _, a := range answers {
		r.answers = append(r.answers, llmtest.Streamed(a, 1<<20))
	}
	c := served(t, r.ServeHTTP)
	cfg.BaseURL, cfg.HTTPClient = c.config.BaseURL+cfg.BaseURL, c.http
	if cfg.Model == "" {
		cfg.Model = "m"
	}
	return New(cfg), r
}

// sent is the body of one request.
func sent(t *testing.T, cfg Config, req agent.Request) map[string]any {
	t.Helper()
	c, r := recorded(t, cfg, answer("end_turn"))
	if _, err := c.Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return r.bodies[0]
}

func wantJSON(t *testing.T, want string, got any) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(want), &value); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value, got); diff != "" {
		t.Error(diff)
	}
}

func asks(content string) models.Message {
	return models.Message{Role: models.RolePerson, Content: content}
}

func result(id, body string, failed bool) models.Message {
	return models.Message{Role: models.RoleTool, ToolCallID: id, Content: body, Metadata: &models.ResultMetadata{IsError: failed}}
}

func TestARequestIsInTheProvidersForm(t *testing.T) {
	body := sent(t, Config{MaxOutputTokens: 99}, agent.Request{
		System: "Be exact.",
		Messages: []models.Message{
			asks("list <&>"),
			{Role: models.RoleAssistant, Content: "I look.", ToolCalls: []models.ToolCall{{ID: "a", Name: "list", Arguments: `{"p":"."}`}, {ID: "b", Name: "func.list:1", Arguments: `{"p":`}}},
			result("a", "x.txt", false),
			result("b", "cut", true),
			{Role: models.RolePerson, Content: "Go on.", IsMeta: true},
			{Role: models.RoleAssistant, Content: "One file."},
			asks("thanks"),
			asks("and now?"),
		},
		Tools: []agent.ToolSpec{
			{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string"}},"required":["p"],"additionalProperties":false}`)},
			{Name: "list", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object"}`)},
		},
	})
	wantJSON(t, `{
		"model": "m", "stream": true, "max_tokens": 99,
		"system": [{"type": "text", "text": "Be exact.", "cache_control": {"type": "ephemeral"}}],
		"tools": [
			{"name": "read", "description": "Reads.", "input_schema": {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"], "additionalProperties": false}},
			{"name": "list", "description": "Lists.", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}],
		"messages": [
			{"role": "user", "content": [{"type": "text", "text": "list <&>"}]},
			{"role": "assistant", "content": [
				{"type": "text", "text": "I look."},
				{"type": "tool_use", "id": "a", "name": "list", "input": {"p": "."}},
				{"type": "tool_use", "id": "b", "name": "func_list_1", "input": {}}]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "a", "is_error": false, "content": [{"type": "text", "text": "{\"is_error\":false,\"truncated\":false}\nx.txt"}]},
				{"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [{"type": "text", "text": "{\"is_error\":true,\"truncated\":false}\ncut"}]},
				{"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}}]},
			{"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
			{"role": "user", "content": [{"type": "text", "text": "thanks"}, {"type": "text", "text": "and now?", "cache_control": {"type": "ephemeral"}}]}]
	}`, body)
}

func TestWhatTheProviderRefusesIsNotSent(t *testing.T) {
	body := sent(t, Config{}, agent.Request{Messages: []models.Message{
		{Role: models.RoleAssistant, Content: "Earlier."},
		asks("q"),
		{Role: models.RoleAssistant, Content: " \n"},
		{Role: models.RoleAssistant, Reasoning: "of another model"},
		asks("r"),
	}})
	wantJSON(t, `[
		{"role": "user", "content": [{"type": "text", "text": "(The conversation begins with the assistant.)", "cache_control": {"type": "ephemeral"}}]},
		{"role": "assistant", "content": [{"type": "text", "text": "Earlier."}]},
		{"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "text", "text": "r", "cache_control": {"type": "ephemeral"}}]}]`, body["messages"])
	if _, there := body["system"]; there {
		t.Error("empty instructions were sent")
	}
}

func TestABoundIsAlwaysSent(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want float64
	}{{Config{}, DefaultMaxOutputTokens}, {Config{MaxOutputTokens: 5}, 5}, {Config{ThinkingTokens: 2000}, DefaultMaxOutputTokens + 2000}} {
		if body := sent(t, tt.cfg, agent.Request{}); body["max_tokens"] != tt.want {
			t.Errorf("%+v: %v", tt.cfg, body["max_tokens"])
		}
	}
}

func TestThinkingIsAskedForAsConfigured(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, `null`},
		{Config{Thinking: ThinkingAdaptive}, `{"type": "adaptive", "display": "summarized"}`},
		{Config{Thinking: ThinkingOff}, `{"type": "disabled"}`},
		{Config{ThinkingTokens: 4096}, `{"type": "enabled", "budget_tokens": 4096}`},
	} {
		wantJSON(t, tt.want, sent(t, tt.cfg, agent.Request{})["thinking"])
	}
}

func TestOnlyWhatIsConfiguredReachesTheServer(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "of-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: yes")
	bearer := map[string]string{"": "", "k": "Bearer k"}
	for base, path := range map[string]string{"": "/v1/messages", "/v1": "/v1/messages", "/proxy/v1/": "/proxy/v1/messages"} {
		for _, key := range []string{"", "k"} {
			c, r := recorded(t, Config{BaseURL: base, APIKey: key}, answer("end_turn"))
			if _, err := c.Stream(t.Context(), agent.Request{}, nil); err != nil {
				t.Fatal(err)
			}
			h := r.headers[0]
			if h.Get("Authorization") != bearer[key] || h.Get("X-Api-Key") != "" || h.Get("X-Custom") != "" || h.Get("Anthropic-Version") == "" || r.paths[0] != path {
				t.Errorf("%s: key %q, headers %v", r.paths[0], key, h)
			}
		}
	}
}

func TestARequestNamesItsModel(t *testing.T) {
	if body := sent(t, Config{Model: "own"}, agent.Request{Model: "other"}); body["model"] != "other" {
		t.Errorf("asked %v", body["model"])
	}
	if name := toolName(strings.Repeat("é", 200)); len(name) != maxToolName {
		t.Errorf("a name of %d bytes", len(name))
	}
}

func TestPicturesGoBeforeTheTextThatTheyCameWith(t *testing.T) {
	m := asks("what is it")
	m.Images = []models.Image{{Type: "image/webp", Data: []byte("RIFF")}}
	body := sent(t, Config{Model: "m"}, agent.Request{Messages: []models.Message{m}})
	wantJSON(t, `[{"role": "user", "content": [
		{"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "UklGRg=="}},
		{"type": "text", "text": "what is it", "cache_control": {"type": "ephemeral"}}
	]}]`, body["messages"])
}
