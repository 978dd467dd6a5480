package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"offcut/agent"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

const testKey = "s3cret-key-of-the-test"

// served is a client of a server that answers each request with handle.
func served(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return New(Config{BaseURL: server.URL, APIKey: testKey, Model: "m", HTTPClient: server.Client()})
}

// events writes payloads as the API does: each with its type as its name.
func events(payloads ...string) string {
	var out strings.Builder
	for _, p := range payloads {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(p), &kind)
		out.WriteString("event: " + kind.Type + "\ndata: " + p + "\n\n")
	}
	return out.String()
}

const (
	begin = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}`
	ping  = `{"type":"ping"}`
	end   = `{"type":"message_stop"}`
)

func opened(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func grown(index, delta string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`
}

func closed(index string) string { return `{"type":"content_block_stop","index":` + index + `}` }

func said(text string) string {
	return grown("0", `{"type":"text_delta","text":`+llmtest.Quoted(text)+`}`)
}

func text(index, s string) string {
	return opened(index, `{"type":"text","text":""}`) + "\x00" + grown(index, `{"type":"text_delta","text":`+llmtest.Quoted(s)+`}`) + "\x00" + closed(index)
}

func thought(index, s, signature string) string {
	out := opened(index, `{"type":"thinking","thinking":"","signature":""}`) + "\x00" + grown(index, `{"type":"thinking_delta","thinking":`+llmtest.Quoted(s)+`}`)
	if signature != "" {
		out += "\x00" + grown(index, `{"type":"signature_delta","signature":`+llmtest.Quoted(signature)+`}`)
	}
	return out + "\x00" + closed(index)
}

func used(index, id, name string, fragments ...string) string {
	out := opened(index, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}`)
	for _, f := range fragments {
		out += "\x00" + grown(index, `{"type":"input_json_delta","partial_json":`+llmtest.Quoted(f)+`}`)
	}
	return out + "\x00" + closed(index)
}

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":5,"output_tokens_details":{"thinking_tokens":2}}}`
}

// answer is a whole stream around blocks, each of which may be several events.
func answer(reason string, blocks ...string) string {
	payloads := []string{begin, ping}
	for _, b := range blocks {
		payloads = append(payloads, strings.Split(b, "\x00")...)
	}
	return events(append(payloads, ended(reason), end)...)
}

var usage = models.Usage{InputTokens: 20, OutputTokens: 5, CachedTokens: 7, ReasoningTokens: 2}

func TestRepliesOfEveryKind(t *testing.T) {
	call := func(id, name, args string) models.ToolCall {
		return models.ToolCall{ID: id, Name: name, Arguments: args}
	}
	for _, tt := range []struct {
		name string
		raw  string
		want agent.Reply
	}{
		{"text", answer("end_turn", text("0", "Hello")), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"a stop sequence", answer("stop_sequence", text("0", "Hello")), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"cut by the bound", answer("max_tokens", text("0", "Hel")), agent.Reply{Content: "Hel", FinishReason: models.FinishLength}},
		{"refused", answer("refusal", text("0", "I")), agent.Reply{Content: "I", FinishReason: models.FinishContentFilter}},
		{"a reason of tomorrow", answer("tired", text("0", "x")), agent.Reply{Content: "x", FinishReason: "tired"}},
		{"nothing", answer("end_turn"), agent.Reply{FinishReason: models.FinishStop}},
		{"two paragraphs", answer("end_turn", text("0", "One."), text("1", "Two.")), agent.Reply{Content: "One.\n\nTwo.", FinishReason: models.FinishStop}},
		{
			"calls at the same time", answer("tool_use", text("0", "I look."), used("1", "toolu_1", "read", `{"pa`, `th":"a"}`), used("2", "toolu_2", "read", `{"path":"b"}`)),
			agent.Reply{Content: "I look.", FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("toolu_1", "read", `{"path":"a"}`), call("toolu_2", "read", `{"path":"b"}`)}},
		},
		{
			"calls whose fragments are mixed", answer("tool_use",
				opened("0", `{"type":"tool_use","id":"a","name":"read","input":{}}`)+"\x00"+opened("1", `{"type":"tool_use","id":"b","name":"list","input":{}}`)+"\x00"+
					grown("1", `{"type":"input_json_delta","partial_json":"{\"b\":"}`)+"\x00"+grown("0", `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`)+"\x00"+grown("1", `{"type":"input_json_delta","partial_json":"2}"}`)),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "read", `{"a":1}`), call("b", "list", `{"b":2}`)}},
		},
		{"a call without arguments", answer("tool_use", used("0", "a", "list")), agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "list", "{}")}}},
		{"a call that ended the turn", answer("end_turn", used("0", "a", "list", "{}")), agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "list", "{}")}}},
		{
			"a call that came whole", answer("tool_use", opened("0", `{"type":"tool_use","id":"a","name":"read","input":{"path":"x"}}`)),
			agent.Reply{FinishReason: models.FinishToolCalls, ToolCalls: []models.ToolCall{call("a", "read", `{"path":"x"}`)}},
		},
		{
			"arguments cut by the bound", answer("max_tokens", used("0", "a", "write", `{"path":"a.txt","content":"one`)),
			agent.Reply{FinishReason: models.FinishLength, ToolCalls: []models.ToolCall{call("a", "write", `{"path":"a.txt","content":"one`)}},
		},
		{"a call cut before its arguments", answer("max_tokens", used("0", "a", "write")), agent.Reply{FinishReason: models.FinishLength, ToolCalls: []models.ToolCall{call("a", "write", "")}}},
		{"thinking that was cut", answer("max_tokens", thought("0", "Let me", "")), agent.Reply{Reasoning: "Let me", FinishReason: models.FinishLength}},
		{"lines that end in CRLF", strings.ReplaceAll(answer("end_turn", text("0", "Hello")), "\n", "\r\n"), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"comments and pings", strings.ReplaceAll(answer("end_turn", text("0", "Hello")), "\n\n", "\n\n: alive\n\n"+events(ping)), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"events without names", strings.ReplaceAll(answer("end_turn", text("0", "Hello")), "event: ", "id: "), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"data without a space", strings.ReplaceAll(answer("end_turn", text("0", "Hello")), ": {", ":{"), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"a last event without its blank line", strings.TrimSuffix(answer("end_turn", text("0", "Hello")), "\n\n"), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"no end after the reason", strings.TrimSuffix(answer("end_turn", text("0", "Hello")), events(end)), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
		{"events of tomorrow", answer("end_turn", `{"type":"mood","mood":"good"}`, opened("0", `{"type":"song"}`)+"\x00"+grown("0", `{"type":"note_delta"}`), text("1", "Hello")), agent.Reply{Content: "Hello", FinishReason: models.FinishStop}},
	} {
		for _, size := range []int{1 << 20, 1} {
			t.Run(tt.name, func(t *testing.T) {
				var heard agent.Reply
				got, err := served(t, llmtest.Streamed(tt.raw, size)).Stream(t.Context(), agent.Request{}, func(d agent.Delta) {
					heard.Content, heard.Reasoning = heard.Content+d.Text, heard.Reasoning+d.Reasoning
				})
				if err != nil {
					t.Fatal(err)
				}
				tt.want.Usage, tt.want.Model = usage, "m-1"
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				if heard.Content != got.Content || heard.Reasoning != got.Reasoning {
					t.Errorf("heard %q and %q", heard.Content, heard.Reasoning)
				}
			})
		}
	}
}

func TestAStreamThatBreaksKeepsWhatCame(t *testing.T) {
	overloaded := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	first := events(begin, opened("0", `{"type":"text","text":""}`))
	for _, tt := range []struct {
		name   string
		raw    string
		kept   string
		code   models.TurnErrorCode
		words  string
		broken bool
	}{
		{"an error before the text", events(overloaded), "", models.CodeProviderError, "Overloaded", false},
		{"an error after the start", events(begin, overloaded), "", models.CodeProviderError, "Overloaded", false},
		{"an error after text", first + events(said("Hel"), overloaded), "Hel", models.CodeProviderError, "Overloaded", true},
		{"an error without a name", first + events(said("Hel")) + "data: " + overloaded + "\n\n", "Hel", models.CodeProviderError, "Overloaded", true},
		{"too many requests", events(`{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}`), "", models.CodeRateLimited, "Slow down", false},
		{"a wrong key", events(`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`), "", models.CodeProviderRefused, "invalid x-api-key", false},
		{"the window is full", answer("model_context_window_exceeded", text("0", "Hel")), "Hel", models.CodeContextOverflow, "window was full", true},
		{"a pause", answer("pause_turn", text("0", "Hel")), "Hel", models.CodeStreamBroken, "paused", true},
		{"no reason for the end", first + events(said("Hel"), closed("0"), end), "Hel", models.CodeStreamBroken, "complete", true},
		{"a stream that ends", first + events(said("Hel")), "Hel", models.CodeStreamBroken, "complete", true},
		{"no event at all", "", "", models.CodeStreamBroken, "complete", true},
		{"no stream", "<html>maintenance</html>\n", "", models.CodeStreamBroken, "maintenance", false},
		{"an event that does not parse", first + events(said("Hel")) + "event: content_block_delta\ndata: {\"type\":\n\n", "Hel", models.CodeStreamBroken, "broke off", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := served(t, llmtest.Streamed(tt.raw, 1<<20)).Stream(t.Context(), agent.Request{}, nil)
			var failed *agent.ModelError
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			if failed.Code != tt.code || failed.Broken != tt.broken || !strings.Contains(failed.Message, tt.words) || got.Content != tt.kept || got.FinishReason != "" {
				t.Errorf("%s broken=%v %q, kept %q (%s)", failed.Code, failed.Broken, failed.Message, got.Content, got.FinishReason)
			}
		})
	}
}

func TestALostConnectionIsSaidToBe(t *testing.T) {
	got, err := served(t, func(w http.ResponseWriter, r *http.Request) {
		llmtest.Streamed(events(begin, opened("0", `{"type":"text","text":""}`), said("Hel")), 1<<20)(w, r)
		panic(http.ErrAbortHandler)
	}).Stream(t.Context(), agent.Request{}, nil)
	var failed *agent.ModelError
	if !errors.As(err, &failed) || failed.Code != models.CodeStreamBroken || !failed.Broken || !strings.Contains(failed.Message, "connection") || got.Content != "Hel" {
		t.Errorf("%v, kept %q", err, got.Content)
	}
}

func TestASocketLeftOpenDoesNotHoldTheAnswer(t *testing.T) {
	gone := make(chan struct{})
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		llmtest.Streamed(answer("end_turn", text("0", "Hello")), 1<<20)(w, r)
		<-gone
	})
	t.Cleanup(func() { close(gone) }) // before the server waits for its handlers
	begun := time.Now()
	got, err := c.Stream(t.Context(), agent.Request{}, nil)
	if err != nil || got.Content != "Hello" || time.Since(begun) > 2*time.Second {
		t.Errorf("%q, %v after %v", got.Content, err, time.Since(begun))
	}
}

func TestAStopEndsTheStreamAtOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	got, err := served(t, func(w http.ResponseWriter, r *http.Request) {
		llmtest.Streamed(events(begin, opened("0", `{"type":"text","text":""}`), said("Hel")), 1<<20)(w, r)
		<-r.Context().Done()
	}).Stream(ctx, agent.Request{}, func(d agent.Delta) {
		if d.Text != "" {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || got.Content != "Hel" {
		t.Errorf("%v, kept %q", err, got.Content)
	}
}

func TestCallsAreAnnouncedAsTheyAreWritten(t *testing.T) {
	var heard []agent.CallDelta
	_, err := served(t, llmtest.Streamed(answer("tool_use", used("0", "a", "run", `{"x"`, `:1}`)), 1<<20)).Stream(t.Context(), agent.Request{}, func(d agent.Delta) {
		heard = append(heard, *d.Call)
	})
	want := []agent.CallDelta{{Name: "run"}, {Name: "run", Arguments: `{"x"`}, {Name: "run", Arguments: `:1}`}}
	if diff := cmp.Diff(want, heard, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func FuzzAssembler(f *testing.F) {
	f.Add([]byte(opened("0", `{"type":"tool_use","id":"a","name":"run","input":{}}`)), []byte(grown("0", `{"type":"input_json_delta","partial_json":"{"}`)))
	f.Add([]byte(opened("0", `{"type":"thinking","thinking":"a","signature":"s"}`)), []byte(said("\u00e9")))
	f.Add([]byte(opened("0", `{"type":"redacted_thinking","data":"d"}`)), []byte(ended("end_turn")))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		heard := ""
		asm := newAssembler(outline{model: "m"}, func(d agent.Delta) { heard += d.Text })
		for _, raw := range [][]byte{first, second, first} {
			var e anthropic.MessageStreamEventUnion
			if json.Unmarshal(raw, &e) != nil {
				break
			}
			asm.add(e)
		}
		reply := asm.reply()
		if reply.Content != heard || !utf8.ValidString(reply.Content) {
			t.Fatalf("heard %q, got %q", heard, reply.Content)
		}
		m := models.Message{Role: models.RoleAssistant, Content: reply.Content, Reasoning: reply.Reasoning, ReasoningData: reply.ReasoningData, ToolCalls: reply.ToolCalls}
		if l, ok := (outline{model: "m"}).layout(m); ok {
			if _, ok := l.blocks(m); !ok {
				t.Fatalf("a reply is not as it was laid out: %+v", reply)
			}
		}
	})
}
