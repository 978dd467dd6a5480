package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"offcut/agent"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

// served is a client of a server that answers each request with handle.
func served(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return New(Config{BaseURL: server.URL + "/v1", APIKey: "s3cret-key-of-the-test", Model: "m", HTTPClient: server.Client()})
}

// events joins payloads to an event stream as OpenAI writes it.
func events(payloads ...string) string {
	return "data: " + strings.Join(payloads, "\n\ndata: ") + "\n\n"
}

func said(text string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":{"content":` + llmtest.Quoted(text) + `}}]}`
}

func ended(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func calls(fragments string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + fragments + `]}}]}`
}

const usageChunk = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`

func TestRepliesInEveryFormOfTheField(t *testing.T) {
	call := func(id, name, args string) models.ToolCall {
		return models.ToolCall{ID: id, Name: name, Arguments: args}
	}
	hello := agent.Reply{Content: "Hello", FinishReason: models.FinishStop}
	for _, tt := range []struct {
		name string
		raw  string
		want agent.Reply
	}{
		{
			"as OpenAI streams it",
			events(said("Hel"), said("lo"), ended("stop"), usageChunk, "[DONE]"),
			agent.Reply{Content: "Hello", FinishReason: models.FinishStop, Model: "m-1", Usage: models.Usage{InputTokens: 10, OutputTokens: 5, CachedTokens: 4, ReasoningTokens: 2}},
		},
		{"without [DONE]", events(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`), hello},
		{"lines that end in CRLF", strings.ReplaceAll(": hi\n\nevent: x\nid: 1\n"+events(`{"choices":[{"delta":{"content":"Hello"}}]}`, ended("stop"), "[DONE]"), "\n", "\r\n"), hello},
		{"data without a space", strings.ReplaceAll(events(`{"choices":[{"delta":{"content":"Hello"}}]}`, ended("stop"), "[DONE]"), "data: ", "data:"), hello},
		{"keep-alive comments", strings.Repeat(": keep-alive\n\n", 1000) + events(`{"choices":[{"delta":{"content":"Hello"}}]}`) + strings.Repeat(":\n", 1000) + events(ended("stop")), hello},
		{"data over several lines", "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n", hello},
		{"a last event without its blank line", events(said("Hello")) + "data: " + ended("stop"), agent.Reply{Content: "Hello", FinishReason: models.FinishStop, Model: "m-1"}},
		{"an answer that is not streamed", `{"model":"m-1","choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`, agent.Reply{Content: "Hello", FinishReason: models.FinishStop, Model: "m-1"}},
		{"content in parts", events(`{"choices":[{"delta":{"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}}]}`, ended("stop")), hello},
		{"a null beside the error key", events(`{"error":null,"choices":[{"delta":{"content":"Hello"}}]}`, ended("stop")), hello},
		{"a second choice is not followed", events(`{"choices":[{"index":1,"delta":{"content":"No"}},{"index":0,"delta":{"content":"Hello"}}]}`, ended("stop")), hello},
		{"a refusal is text", events(`{"choices":[{"delta":{"refusal":"Hello"}}]}`, ended("stop")), hello},
		{"another word for the limit", events(`{"choices":[{"delta":{"content":"Hello"}}]}`, ended("MAX_TOKENS")), agent.Reply{Content: "Hello", FinishReason: models.FinishLength}},
		{"reasoning_content", events(`{"choices":[{"delta":{"reasoning_content":"Hm"}}]}`, ended("stop")), agent.Reply{Reasoning: "Hm", FinishReason: models.FinishStop}},
		{"reasoning under its other name", events(`{"choices":[{"delta":{"reasoning":"Hm"}}]}`, ended("stop")), agent.Reply{Reasoning: "Hm", FinishReason: models.FinishStop}},
		{"reasoning under both names", events(`{"choices":[{"delta":{"reasoning":"Hm","reasoning_content":"Hm"}}]}`, ended("stop")), agent.Reply{Reasoning: "Hm", FinishReason: models.FinishStop}},

		{
			"a call in fragments",
			events(calls(`{"index":0,"id":"a","type":"function","function":{"name":"run","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"x\""}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`)}},
		},
		{
			"two calls whose fragments alternate",
			events(calls(`{"index":0,"id":"a","function":{"name":"run"}},{"index":1,"id":"b","function":{"name":"read"}}`), calls(`{"index":1,"function":{"arguments":"{\"y\":2}"}},{"index":0,"function":{"arguments":"{\"x\":1}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`), call("b", "read", `{"y":2}`)}},
		},
		{
			"two calls without index",
			events(calls(`{"id":"a","function":{"name":"run","arguments":"{\"x\":"}}`), calls(`{"function":{"arguments":"1}"}}`), calls(`{"id":"b","function":{"name":"run","arguments":"{\"x\":2}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`), call("b", "run", `{"x":2}`)}},
		},
		{
			"two calls without index and id",
			events(calls(`{"function":{"name":"run","arguments":"{\"x\":"}}`), calls(`{"function":{"arguments":"1}"}}`), calls(`{"function":{"name":"run","arguments":"{\"x\":2}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("", "run", `{"x":1}`), call("", "run", `{"x":2}`)}},
		},
		{
			"two calls that are both number 0",
			events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{}"}}`), calls(`{"index":0,"id":"b","function":{"name":"run","arguments":"{}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{}`), call("b", "run", `{}`)}},
		},
		{
			"two calls of one id",
			events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"read","arguments":"{}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{}`), call("a", "read", `{}`)}},
		},
		{
			"a name and an id that come with each fragment",
			events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{\"x\""}}`), calls(`{"index":0,"id":"a","function":{"name":"run","arguments":":1}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`)}},
		},
		{
			"arguments that are an object", events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":{ "x": 1 }}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`)}},
		},
		{
			"arguments that are a string of JSON", events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"\"{\\\"x\\\":1}\""}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`)}},
		},
		{
			"arguments that are empty or null", events(calls(`{"index":0,"id":"a","function":{"name":"list","arguments":""}},{"index":1,"id":"b","function":{"name":"list","arguments":null}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "list", `{}`), call("b", "list", `{}`)}},
		},
		{
			"arguments lost in a cut stay empty", events(calls(`{"index":0,"id":"a","function":{"name":"list","arguments":""}}`), ended("length")),
			agent.Reply{FinishReason: models.FinishLength, ToolCalls: []models.ToolCall{call("a", "list", "")}},
		},
		{
			"a call with finish reason stop", events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{}"}}`), ended("stop")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{}`)}},
		},
		{"a character cut between two events", events(`{"choices":[{"delta":{"content":"a\ud83c"}}]}`, `{"choices":[{"delta":{"content":"\udf89b"}}]}`, ended("stop")), agent.Reply{Content: "a🎉b", FinishReason: models.FinishStop}},
		{"half a character and no more", events(`{"choices":[{"delta":{"content":"a\ud83c"}}]}`, `{"choices":[{"delta":{"content":"b\udf89\\ud83c"}}]}`, ended("stop")), agent.Reply{Content: "a\uFFFDb\uFFFD\\ud83c", FinishReason: models.FinishStop}},
		{"half a character at the end", events(`{"choices":[{"delta":{"content":"a","reasoning":"\ud83c"}}]}`, ended("stop")), agent.Reply{Content: "a", Reasoning: "\uFFFD", FinishReason: models.FinishStop}},
		{"a character cut within arguments", events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{\"x\":\"\ud83c"}}`), calls(`{"index":0,"function":{"arguments":"\udf89\"}"}}`), ended("tool_calls")), agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":"🎉"}`)}}},
		{"a byte order mark before the stream", "\uFEFF" + events(`{"choices":[{"delta":{"content":"Hello"}}]}`, ended("stop")), hello},
		{"more after [DONE]", events(`{"choices":[{"delta":{"content":"Hello"}}]}`, ended("stop"), "[DONE]", said("No"), "[DONE]"), hello},
		{"nothing in the places of pieces", events(`{"choices":[{"delta":null}]}`, `{"choices":null}`, `{"choices":[{"delta":{"content":"Hello","tool_calls":null,"reasoning":null},"finish_reason":""}]}`, ended("stop")), hello},
		{"usage beside no choices at all", events(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`, `{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":2}}`), agent.Reply{Content: "Hello", FinishReason: models.FinishStop, Usage: models.Usage{InputTokens: 1, OutputTokens: 2}}},
		{"usage with every piece, of which the last counts", events(`{"choices":[{"delta":{"content":"Hel"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, `{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), agent.Reply{Content: "Hello", FinishReason: models.FinishStop, Usage: models.Usage{InputTokens: 1, OutputTokens: 2}}},
		{"usage in numbers of another kind", events(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1.0,"completion_tokens":"2","prompt_tokens_details":null}}`), agent.Reply{Content: "Hello", FinishReason: models.FinishStop, Usage: models.Usage{InputTokens: 1, OutputTokens: 2}}},
		{
			"an index that is text and an id that is a number",
			events(calls(`{"index":"0","id":7,"function":{"name":"run","arguments":"{\"x\""}}`), calls(`{"index":"0","function":{"arguments":":1}"}}`), ended("tool_calls")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("7", "run", `{"x":1}`)}},
		},
		{
			"an id in the first fragment alone, and no index",
			events(calls(`{"id":"a","function":{"name":"run","arguments":"{\"x\""}}`), calls(`{"function":{"arguments":":"}}`), calls(`{"id":"","function":{"name":"","arguments":"1}"}}`), ended("stop")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "run", `{"x":1}`)}},
		},
		{
			"a call whose arguments are an object, and no finish reason of its own",
			events(calls(`{"function":{"name":"run","arguments":{"x":1}}},{"function":{"name":"run","arguments":{"x":2}}}`), ended("stop")),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("", "run", `{"x":1}`), call("", "run", `{"x":2}`)}},
		},
		{"characters of four bytes", events(`{"choices":[{"delta":{"content":"naïve 🎉 文"}}]}`, ended("stop")), agent.Reply{Content: "naïve 🎉 文", FinishReason: models.FinishStop}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 1} {
				c := served(t, llmtest.Streamed(tt.raw, size))
				var heard agent.Reply
				got, err := c.Stream(t.Context(), agent.Request{}, func(d agent.Delta) {
					heard.Content += d.Text
					heard.Reasoning += d.Reasoning
				})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("in parts of %d bytes: %s", size, diff)
				}
				if heard.Content != got.Content || heard.Reasoning != got.Reasoning {
					t.Errorf("what streamed (%q, %q) is not the reply", heard.Content, heard.Reasoning)
				}
			}
		})
	}
}

func TestStreamsThatBreakKeepWhatCame(t *testing.T) {
	for _, tt := range []struct {
		name   string
		raw    string
		code   models.TurnErrorCode
		words  string
		text   string
		broken bool
	}{
		{"no finish reason", events(said("Hel")), models.CodeStreamBroken, "without saying", "Hel", true},
		{"[DONE] without a finish reason", events(said("Hel"), "[DONE]"), models.CodeStreamBroken, "without saying", "Hel", true},
		{"a page instead of a stream", "<html><body>Sign in to the proxy</body></html>", models.CodeStreamBroken, "Sign in to the proxy", "", false},
		{"a cut event", events(said("Hel")) + `data: {"choices":[{"del`, models.CodeStreamBroken, "broke off", "Hel", true},
		{"an error before any text", events(`{"error":{"message":"no GPU left","code":503}}`), models.CodeProviderError, "no GPU left", "", false},
		{"an error after a part of a call", events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{\"x\""}}`), `{"error":{"message":"no GPU left","type":"server_error"}}`), models.CodeProviderError, "no GPU left", "", true},
		{"a call and no finish reason", events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{}"}}`), "[DONE]"), models.CodeStreamBroken, "without saying", "", true},
		{"garbage between events", events(said("Hel"), `{"choices":[{"delta":`, ended("stop")), models.CodeStreamBroken, "broke off", "Hel", true},
		{"a reply that is begun, and no more", events(`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`), models.CodeStreamBroken, "without saying", "", true},
		{"a reply that is begun, and an error", events(`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`, `{"error":{"message":"no GPU left","code":503}}`), models.CodeProviderError, "no GPU left", "", false},
		{"nothing at all", "", models.CodeStreamBroken, "without saying", "", true},
		{"[DONE] and nothing before it", events("[DONE]"), models.CodeStreamBroken, "without saying", "", true},
		{"keep-alive comments and no more", strings.Repeat(": keep-alive\n\n", 9), models.CodeStreamBroken, "without saying", "", true},
		{"an error after text", events(said("Hel"), `{"error":{"message":"no GPU left","type":"server_error"}}`), models.CodeProviderError, "no GPU left", "Hel", true},
		{"an error beside other keys", events(said("Hel"), `{"id":"x","error":{"message":"slow down","code":429},"choices":[]}`), models.CodeRateLimited, "slow down", "Hel", true},
		{"an error that is the event", events(said("Hel"), `{"object":"error","message":"no GPU left","type":"InternalServerError","code":500}`), models.CodeProviderError, "no GPU left", "Hel", true},
		{"an error in the choice", events(said("Hel"), `{"choices":[{"index":0,"delta":{"content":""},"error":{"message":"no GPU left","code":502}}]}`), models.CodeProviderError, "no GPU left", "Hel", true},
		{"an error that is a string", events(`{"error":"no such model"}`), models.CodeProviderError, "no such model", "", false},
		{"an error after the finish reason", events(said("Hel"), ended("stop"), `{"error":{"message":"late"}}`), models.CodeProviderError, "late", "Hel", true},
		{"finish reason error", events(said("Hel"), ended("error")), models.CodeProviderError, "finish_reason error", "Hel", true},
		{"an error document with status 200", `{"error":{"message":"bad request","type":"invalid_request_error"}}`, models.CodeProviderRefused, "bad request", "", false},
		{"too long, said in the stream", events(`{"error":{"message":"the request exceeds the available context size"}}`), models.CodeContextOverflow, "available context size", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := served(t, llmtest.Streamed(tt.raw, 7))
			got, err := c.Stream(t.Context(), agent.Request{}, nil)
			var failed *agent.ModelError
			if !errors.As(err, &failed) {
				t.Fatalf("error %v, want a ModelError", err)
			}
			if failed.Code != tt.code || failed.Broken != tt.broken || !strings.Contains(failed.Message, tt.words) {
				t.Errorf("%s, broken %v, %q; want %s, %v and %q in it", failed.Code, failed.Broken, failed.Message, tt.code, tt.broken, tt.words)
			}
			if got.Content != tt.text {
				t.Errorf("kept %q, want %q", got.Content, tt.text)
			}
		})
	}
}

func TestALostConnectionIsSaidInOurWords(t *testing.T) {
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		llmtest.Streamed(events(said("Hel")), 1<<20)(w, r)
		panic(http.ErrAbortHandler) // closes the connection in the middle of the body
	})
	got, err := c.Stream(t.Context(), agent.Request{}, nil)
	var failed *agent.ModelError
	if !errors.As(err, &failed) || !failed.Broken || got.Content != "Hel" {
		t.Fatalf("%q, %v", got.Content, err)
	}
	if want := "The answer broke off: the connection to the model's server was lost."; failed.Message != want {
		t.Errorf("it says %q, want %q", failed.Message, want)
	}
}

func TestASocketThatStaysOpenDoesNotHoldTheReply(t *testing.T) {
	for name, raw := range map[string]string{
		"after [DONE]":            events(said("Hello"), ended("stop"), "[DONE]"),
		"after the finish reason": events(said("Hello"), ended("stop")),
		"after an error":          events(said("Hello"), `{"error":{"message":"gone"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			c := served(t, func(w http.ResponseWriter, r *http.Request) {
				llmtest.Streamed(raw, 1<<20)(w, r)
				<-r.Context().Done()
			})
			c.linger = 50 * time.Millisecond
			begin := time.Now()
			got, _ := c.Stream(t.Context(), agent.Request{}, nil)
			if got.Content != "Hello" || time.Since(begin) > 2*time.Second {
				t.Errorf("%q after %v", got.Content, time.Since(begin))
			}
		})
	}
}

func TestAStopEndsTheStreamAtOnceAndKeepsWhatCame(t *testing.T) {
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		llmtest.Streamed(events(said("Hel")), 1<<20)(w, r)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	begin := time.Now()
	got, err := c.Stream(ctx, agent.Request{}, func(agent.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || got.Content != "Hel" || time.Since(begin) > time.Second {
		t.Errorf("%q, %v after %v", got.Content, err, time.Since(begin))
	}
}

func TestASilentServerIsGivenUp(t *testing.T) {
	body, writer := io.Pipe()
	defer writer.Close()
	r := newEventReader(body, 20*time.Millisecond, time.Second)
	if _, err := r.Read(make([]byte, 10)); err == nil || !r.Stalled() {
		t.Errorf("error %v, stalled %v", err, r.Stalled())
	}
}

func TestCallsAreAnnouncedAsTheyAreWritten(t *testing.T) {
	c := served(t, llmtest.Streamed(events(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":"{\"x\""}}`), calls(`{"index":0,"function":{"arguments":":1}"}}`), ended("tool_calls")), 1<<20))
	var heard []agent.CallDelta
	if _, err := c.Stream(t.Context(), agent.Request{}, func(d agent.Delta) { heard = append(heard, *d.Call) }); err != nil {
		t.Fatal(err)
	}
	want := []agent.CallDelta{{Index: 0, Name: "run", Arguments: `{"x"`}, {Index: 0, Name: "run", Arguments: `:1}`}}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

func FuzzEventReader(f *testing.F) {
	f.Add([]byte(events(said("Hello"), ended("stop"), "[DONE]")), 3)
	f.Add([]byte("data:a\r\n\r\n: c\ndata: b\ndata: c"), 1)
	f.Add([]byte(`{"error":{}}`), 2)
	f.Add([]byte("data: {\"error\":1}\n\nx"), 1)
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		whole := canonical(t, raw, len(raw)+1)
		if parts := canonical(t, raw, 1+abs(size)%16); parts != whole {
			t.Fatalf("in parts %q, at once %q", parts, whole)
		}
		for line := range strings.Lines(whole) {
			payload, ok := strings.CutPrefix(line, "data: ")
			if !ok || !strings.HasSuffix(line, "\n") || strings.TrimSpace(payload) == "" {
				t.Fatalf("line %q is not an event", line)
			}
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// canonical is raw, read in parts of size bytes, as the event reader gives it.
func canonical(t *testing.T, raw []byte, size int) string {
	t.Helper()
	r := newEventReader(io.NopCloser(&slowReader{raw, size}), time.Minute, time.Minute)
	defer r.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

type slowReader struct {
	rest []byte
	size int
}

func (s *slowReader) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest[:min(s.size, len(s.rest))])
	s.rest = s.rest[n:]
	return n, nil
}

func FuzzAssembler(f *testing.F) {
	f.Add([]byte(calls(`{"index":0,"id":"a","function":{"name":"run","arguments":{}}}`)), []byte(ended("stop")))
	f.Add([]byte(`{"choices":[{"delta":{"content":"\ud83c"}}]}`), []byte(`{"choices":[{"delta":{"content":["\udf89"]}}]}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		heard := ""
		asm := newAssembler(func(d agent.Delta) { heard += d.Text })
		for _, raw := range [][]byte{first, second} {
			if asm.add(raw) != nil {
				break
			}
		}
		reply := asm.reply()
		if reply.Content != heard || !utf8.ValidString(reply.Content) {
			t.Fatalf("heard %q, got %q", heard, reply.Content)
		}
		for _, call := range reply.ToolCalls {
			if !utf8.ValidString(call.Arguments) {
				t.Fatalf("arguments %q", call.Arguments)
			}
		}
	})
}
