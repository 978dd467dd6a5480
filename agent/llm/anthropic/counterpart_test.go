package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

// counterpart is a client of a server that others wrote.
func counterpart(t *testing.T, script string) *Client {
	t.Helper()
	return New(Config{BaseURL: llmtest.Aimock(t, script), APIKey: "k", Model: "claude-sonnet-4-5", HTTPClient: &http.Client{}})
}

func asked(text string) agent.Request {
	return agent.Request{
		Messages: []models.Message{{Role: models.RolePerson, Content: text}},
		Tools:    []agent.ToolSpec{{Name: "run", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
}

func TestAServerByOthersIsUnderstood(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "greet"}, "response": {"content": "Hello, world. 🎉", "finishReason": "stop"}, "options": {"chunkSize": 1}},
		{"match": {"userMessage": "think"}, "response": {"content": "Forty-two.", "reasoning": "Let me think."}},
		{"match": {"userMessage": "two tools"}, "response": {"toolCalls": [{"name": "run", "arguments": "{\"x\":1}"}, {"name": "run", "arguments": "{\"x\":2}"}]}, "options": {"chunkSize": 2}},
		{"match": {"userMessage": "too much"}, "response": {"content": "It goes on and", "finishReason": "length"}}
	]`)
	for _, tt := range []struct {
		question string
		want     agent.Reply
	}{
		{"greet", agent.Reply{Content: "Hello, world. 🎉", FinishReason: models.FinishStop}},
		{"think", agent.Reply{Content: "Forty-two.", Reasoning: "Let me think.", FinishReason: models.FinishStop}},
		{"two tools", agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{{Name: "run", Arguments: `{"x":1}`}, {Name: "run", Arguments: `{"x":2}`}}}},
		{"too much", agent.Reply{Content: "It goes on and", FinishReason: models.FinishLength}},
	} {
		t.Run(tt.question, func(t *testing.T) {
			got, err := c.Stream(t.Context(), asked(tt.question), nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.ToolCalls {
				if got.ToolCalls[i].ID == "" {
					t.Error("a call has no id")
				}
				got.ToolCalls[i].ID = "" // random there
			}
			got.Usage, got.Model, got.ReasoningData = models.Usage{}, "", ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAServerByOthersTakesAConversation(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "look", "hasToolResult": true}, "response": {"content": "Seen."}},
		{"match": {"userMessage": "look"}, "response": {"reasoning": "I look.", "toolCalls": [{"name": "run", "arguments": "{}"}]}}
	]`)
	req := asked("look")
	first, err := c.Stream(t.Context(), req, nil)
	if err != nil || len(first.ToolCalls) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	req.Messages = append(req.Messages,
		models.Message{Role: models.RoleAssistant, Content: first.Content, Reasoning: first.Reasoning, ReasoningData: first.ReasoningData, ToolCalls: first.ToolCalls},
		result(first.ToolCalls[0].ID, "a thing", false))
	if second, err := c.Stream(t.Context(), req, nil); err != nil || second.Content != "Seen." {
		t.Errorf("%q, %v", second.Content, err)
	}
}

func TestAServerByOthersFailsAsItShould(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "busy"}, "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429, "retryAfter": 277403}},
		{"match": {"userMessage": "broken"}, "response": {"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529}},
		{"match": {"userMessage": "wrong"}, "response": {"error": {"message": "No such model", "type": "not_found_error"}, "status": 404}},
		{"match": {"userMessage": "cut"}, "response": {"content": "This will be cut short before it has come to its end."}, "options": {"chunkSize": 5, "latency": 10, "truncateAfterChunks": 6}},
		{"match": {"userMessage": "garbage"}, "response": {"content": "x"}, "options": {"chaos": {"malformedRate": 1}}}
	]`)
	for question, code := range map[string]models.TurnErrorCode{
		"busy": models.CodeRateLimited, "broken": models.CodeProviderError, "wrong": models.CodeProviderRefused,
		"cut": models.CodeStreamBroken, "garbage": models.CodeStreamBroken,
	} {
		t.Run(question, func(t *testing.T) {
			got, err := c.Stream(t.Context(), asked(question), nil)
			var failed *agent.ModelError
			if !errors.As(err, &failed) || failed.Code != code {
				t.Fatalf("error %v, want %s", err, code)
			}
			if question == "cut" && (!failed.Broken || !strings.HasPrefix("This will be cut short", got.Content) || got.Content == "") {
				t.Errorf("broken %v, kept %q", failed.Broken, got.Content)
			}
		})
	}
}

func TestAServerByOthersIsAskedAgainAfterItsRetryAfter(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "busy", "sequenceIndex": 0}, "response": {"error": {"message": "Rate limited"}, "status": 429, "retryAfter": 1}},
		{"match": {"userMessage": "busy", "sequenceIndex": 1}, "response": {"content": "Now."}}
	]`)
	c.http = &http.Client{Transport: llm.NewTransport(nil)}
	req := asked("busy")
	var waits []time.Duration
	req.OnRetry = func(r agent.Retry) { waits = append(waits, r.Wait) }
	got, err := c.Stream(t.Context(), req, nil)
	if err != nil || got.Content != "Now." || len(waits) != 1 || waits[0] != time.Second {
		t.Errorf("%q, %v after waits of %v", got.Content, err, waits)
	}
}
