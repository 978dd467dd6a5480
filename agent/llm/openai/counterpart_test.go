package openai

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
	return New(Config{BaseURL: llmtest.Aimock(t, script) + "/v1", APIKey: "k", Model: "gpt-4o", HTTPClient: &http.Client{}})
}

func asked(text string) agent.Request {
	return agent.Request{
		Messages: []models.Message{{Role: models.RolePerson, Content: text}},
		Tools:    []agent.ToolSpec{{Name: "run", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
}

func TestAServerByOthersIsUnderstood(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "greet"}, "response": {"content": "Hello, world. 🎉", "finishReason": "stop", "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}, "options": {"chunkSize": 1}},
		{"match": {"userMessage": "think"}, "response": {"content": "Forty-two.", "reasoning": "Let me think."}},
		{"match": {"userMessage": "two tools"}, "response": {"toolCalls": [{"name": "run", "arguments": "{\"x\":1}"}, {"name": "run", "arguments": "{\"x\":2}"}]}, "options": {"chunkSize": 2}},
		{"match": {"userMessage": "too much"}, "response": {"content": "It goes on and", "finishReason": "length"}}
	]`)
	for _, tt := range []struct {
		question string
		want     agent.Reply
	}{
		{"greet", agent.Reply{Content: "Hello, world. 🎉", FinishReason: models.FinishStop, Usage: models.Usage{InputTokens: 11, OutputTokens: 7}}},
		{"think", agent.Reply{Content: "Forty-two.", Reasoning: "Let me think.", FinishReason: models.FinishStop}},
		{"two tools", agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{{Name: "run", Arguments: `{"x":1}`}, {Name: "run", Arguments: `{"x":2}`}}}},
		{"too much", agent.Reply{Content: "It goes on and", FinishReason: models.FinishLength}},
	} {
		t.Run(tt.question, func(t *testing.T) {
			got, err := c.Stream(t.Context(), asked(tt.question), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Usage.OutputTokens == 0 {
				t.Error("no usage was reported")
			}
			for i := range got.ToolCalls {
				if got.ToolCalls[i].ID == "" {
					t.Error("a call has no id")
				}
				got.ToolCalls[i].ID = "" // random there
			}
			if tt.want.Usage.OutputTokens == 0 {
				got.Usage = models.Usage{} // an estimate of theirs
			}
			got.Model = ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAServerByOthersFailsAsItShould(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "busy"}, "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429, "retryAfter": 277403}},
		{"match": {"userMessage": "broken"}, "response": {"error": {"message": "Overloaded", "type": "server_error"}, "status": 503}},
		{"match": {"userMessage": "wrong"}, "response": {"error": {"message": "No such model", "type": "invalid_request_error"}, "status": 404}},
		{"match": {"userMessage": "too long"}, "response": {"error": {"message": "This model's maximum context length is 8192 tokens.", "type": "invalid_request_error", "code": "context_length_exceeded"}, "status": 400}},
		{"match": {"userMessage": "cut"}, "response": {"content": "This will be cut short before it has come to its end."}, "options": {"chunkSize": 5, "latency": 10, "truncateAfterChunks": 4}},
		{"match": {"userMessage": "garbage"}, "response": {"content": "x"}, "options": {"chaos": {"malformedRate": 1}}}
	]`)
	for question, code := range map[string]models.TurnErrorCode{
		"busy": models.CodeRateLimited, "broken": models.CodeProviderError, "wrong": models.CodeProviderRefused,
		"too long": models.CodeContextOverflow,
		"cut":      models.CodeStreamBroken, "garbage": models.CodeStreamBroken,
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

func TestAServerByOthersIsAskedAgainAfterAnError(t *testing.T) {
	c := counterpart(t, `[
		{"match": {"userMessage": "broken", "sequenceIndex": 0}, "response": {"error": {"message": "Overloaded"}, "status": 503}},
		{"match": {"userMessage": "broken", "sequenceIndex": 1}, "response": {"content": "Now."}}
	]`)
	c.http = &http.Client{Transport: llm.NewTransport(nil)}
	req := asked("broken")
	tries := 0
	req.OnRetry = func(agent.Retry) { tries++ }
	if got, err := c.Stream(t.Context(), req, nil); err != nil || got.Content != "Now." || tries != 1 {
		t.Errorf("%q, %v after %d tries", got.Content, err, tries)
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
