package anthropic

import (
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

// talk is a conversation with a recorded server.
type talk struct {
	t       *testing.T
	client  *Client
	server  *recorder
	history []models.Message
}

func newTalk(t *testing.T, cfg Config, answers ...string) *talk {
	t.Helper()
	c, r := recorded(t, cfg, answers...)
	return &talk{t: t, client: c, server: r}
}

// say adds messages, asks, and adds the reply as the store would give it back.
func (k *talk) say(messages ...models.Message) {
	k.t.Helper()
	k.history = append(k.history, messages...)
	reply, err := k.client.Stream(k.t.Context(), agent.Request{System: "s", Messages: k.history}, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	k.history = append(k.history, models.Message{
		Role: models.RoleAssistant, Content: reply.Content, Reasoning: reply.Reasoning, ReasoningData: reply.ReasoningData,
		ToolCalls: reply.ToolCalls, FinishReason: reply.FinishReason, State: models.StateDone,
	})
}

// kinds are the types of the blocks of each reply in the last request.
func (k *talk) kinds() string { return kindsOf(k.server.bodies[len(k.server.bodies)-1]) }

func kindsOf(body map[string]any) string {
	var out []string
	for _, m := range messagesOf(body) {
		if m["role"] != "assistant" {
			continue
		}
		var kinds []string
		for _, b := range m["content"].([]any) {
			kinds = append(kinds, b.(map[string]any)["type"].(string))
		}
		out = append(out, strings.Join(kinds, "+"))
	}
	return strings.Join(out, " ")
}

// last are the messages of the last request.
func (k *talk) last() []map[string]any { return messagesOf(k.server.bodies[len(k.server.bodies)-1]) }

func messagesOf(body map[string]any) []map[string]any {
	var out []map[string]any
	for _, m := range body["messages"].([]any) {
		out = append(out, m.(map[string]any))
	}
	return out
}

var (
	thinksAndCalls = answer("tool_use",
		thought("0", "First", "sig-1"), text("1", "I look."), opened("2", `{"type":"redacted_thinking","data":"hidden"}`), thought("3", "Second", "sig-2"),
		used("4", "a", "read", `{"p":1}`), text("5", "And there."), used("6", "b", "read", `{"p":2}`))
	thinksAndSays = answer("end_turn", thought("0", "Hm", "sig-3"), text("1", "Done."))
)

func TestThinkingGoesBackAsItCame(t *testing.T) {
	k := newTalk(t, Config{}, thinksAndCalls, thinksAndSays)
	k.say(asks("q"))
	if m := k.history[1]; m.Content != "I look.\n\nAnd there." || m.Reasoning != "First\n\nSecond" {
		t.Errorf("said %q, thought %q", m.Content, m.Reasoning)
	}
	k.say(result("a", "1", false), result("b", "2", false))
	wantJSON(t, `[
		{"type": "thinking", "thinking": "First", "signature": "sig-1"},
		{"type": "text", "text": "I look."},
		{"type": "redacted_thinking", "data": "hidden"},
		{"type": "thinking", "thinking": "Second", "signature": "sig-2"},
		{"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}},
		{"type": "text", "text": "And there."},
		{"type": "tool_use", "id": "b", "name": "read", "input": {"p": 2}}]`, k.last()[1]["content"])
	k.say(asks("and now?"))
	if got, want := k.kinds(), "thinking+text+redacted_thinking+thinking+tool_use+text+tool_use thinking+text"; got != want {
		t.Errorf("in the next turn: %s", got)
	}
}

func TestThinkingWithoutItsTextGoesBackToo(t *testing.T) {
	k := newTalk(t, Config{}, answer("end_turn", thought("0", "", "sig"), text("1", "Done.")), thinksAndSays)
	k.say(asks("q"))
	k.say(asks("r"))
	wantJSON(t, `[{"type": "thinking", "thinking": "", "signature": "sig"}, {"type": "text", "text": "Done."}]`, k.last()[1]["content"])
}

func TestThinkingStaysBehindWhereItWouldBeRefused(t *testing.T) {
	call := answer("tool_use", thought("0", "First", "sig-1"), used("1", "a", "read", "{}"))
	for _, tt := range []struct {
		name   string
		cfg    Config
		change func(*talk)
		want   string
	}{
		{"unchanged", Config{}, func(*talk) {}, "thinking+tool_use thinking+text"},
		{"an old result is shortened", Config{}, func(k *talk) { k.history[2].Content = "…" }, "tool_use text"},
		{"the question is another one", Config{}, func(k *talk) { k.history[0].Content = "p" }, "tool_use text"},
		{"the reply is another one", Config{}, func(k *talk) { k.history[1].Reasoning = "Last, and more" }, "tool_use thinking+text"},
		{"another model is asked", Config{}, func(k *talk) { k.client.config.Model = "n" }, "tool_use text"},
		{"no reasoning is sent", Config{OmitReasoning: true}, func(*talk) {}, "tool_use text"},
		{"a model with a budget, after a result was shortened", Config{ThinkingTokens: 1024}, func(k *talk) { k.history[2].Content = "…" }, "thinking+tool_use thinking+text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, tt.cfg, call, thinksAndSays)
			k.say(asks("q"))
			k.say(result("a", "1", false))
			tt.change(k)
			k.say(asks("r"))
			if got := k.kinds(); got != tt.want {
				t.Errorf("sent %s, want %s", got, tt.want)
			}
		})
	}
}

func TestThinkingBehindAChangeGoesBackAlone(t *testing.T) {
	k := newTalk(t, Config{}, thinksAndSays)
	k.say(asks("q"))
	k.say(asks("r"))
	k.history[2].Content = "edited"
	k.say(asks("s"))
	k.say(asks("t"))
	if got, want := k.kinds(), "text text thinking+text"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestThinkingThatIsRefusedIsLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		again       bool
	}{
		{"of another conversation", "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.", true},
		{"changed", "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", true},
		{"something else", "messages.1.content.0: Field required", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, Config{ThinkingTokens: 1024}, thinksAndCalls, "", thinksAndSays)
			k.server.answers[1] = llmtest.Refusal(400, `{"type":"error","error":{"type":"invalid_request_error","message":`+llmtest.Quoted(tt.words)+`}}`)
			k.say(asks("q"))
			k.history = append(k.history, result("a", "1", false), result("b", "2", false))
			_, err := k.client.Stream(t.Context(), agent.Request{System: "s", Messages: k.history}, nil)
			if (err == nil) != tt.again {
				t.Fatalf("error %v", err)
			}
			if !tt.again {
				return
			}
			if got := k.kinds(); got != "text+tool_use+tool_use" {
				t.Errorf("sent once more with %s", got)
			}
			if body := k.server.bodies[2]; body["thinking"] != nil {
				t.Errorf("thinking is %v", body["thinking"])
			}
		})
	}
}

// After a change of account, say, each step of each session would else be sent
// twice.
func TestThinkingIsRefusedOnce(t *testing.T) {
	const call = "tool_use"
	for _, tt := range []struct {
		name  string
		cfg   Config
		kinds []string // of what is sent after the refusal
		think []bool
	}{
		{
			"of a model with a budget",
			Config{ThinkingTokens: 1024},
			[]string{"tool_use", "tool_use tool_use", "tool_use tool_use text", "tool_use tool_use text thinking+tool_use"},
			[]bool{false, false, true, true},
		},
		{
			"of a model that decides itself",
			Config{Thinking: ThinkingAdaptive},
			[]string{"tool_use", "tool_use thinking+tool_use", "tool_use thinking+tool_use thinking+text", "tool_use thinking+tool_use thinking+text thinking+tool_use"},
			[]bool{true, true, true, true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := func(id string, thinks bool) string {
				if thinks {
					return answer(call, thought("0", "I "+id, "sig-"+id), used("1", id, "read", "{}"))
				}
				return answer(call, used("0", id, "read", "{}"))
			}
			says := answer("end_turn", text("0", "So."))
			if tt.think[1] {
				says = thinksAndSays
			}
			k := newTalk(t, tt.cfg, calls("a", true), "", calls("b", tt.think[0]), says, calls("c", true), thinksAndSays)
			k.server.answers[1] = llmtest.Refusal(400, `{"type":"error","error":{"type":"invalid_request_error","message":"Invalid `+"`signature` in `thinking` block"+`"}}`)
			k.say(asks("q"))
			k.say(result("a", "1", false))
			k.say(result("b", "1", false))
			k.say(asks("r"))
			k.say(result("c", "1", false))
			if n := len(k.server.bodies); n != 6 {
				t.Errorf("%d requests for five steps and one refusal", n)
			}
			for i, want := range tt.kinds {
				body := k.server.bodies[2+i]
				if got := kindsOf(body); got != want {
					t.Errorf("step %d was sent %q, want %q", i+1, got, want)
				}
				if thinks := body["thinking"] != nil; thinks != tt.think[i] {
					t.Errorf("step %d: thinking is %v", i+1, body["thinking"])
				}
			}
		})
	}
}

func TestUnfinishedThinkingIsNotLost(t *testing.T) {
	for _, tt := range []struct {
		name, answer, want string
	}{
		{"without a signature", answer("max_tokens", thought("0", "Let me", "")), `[{"type": "text", "text": "Let me"}, {"type": "text", "text": ` + llmtest.Quoted(agent.UnfinishedThinking) + `}]`},
		{"with one", answer("max_tokens", thought("0", "Let me", "sig")), `[{"type": "thinking", "thinking": "Let me", "signature": "sig"}, {"type": "text", "text": ` + llmtest.Quoted(agent.UnfinishedThinking) + `}]`},
		{
			"with one and one without", answer("max_tokens", thought("0", "Let me", "sig"), thought("1", "see", "")),
			`[{"type": "thinking", "thinking": "Let me", "signature": "sig"}, {"type": "text", "text": "see"}, {"type": "text", "text": ` + llmtest.Quoted(agent.UnfinishedThinking) + `}]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newTalk(t, Config{}, tt.answer, thinksAndSays)
			k.say(asks("q"))
			k.history[1].Content = agent.UnfinishedThinking // as the window makes it
			k.say(models.Message{Role: models.RolePerson, Content: agent.ContinuationText, IsMeta: true})
			wantJSON(t, tt.want, k.last()[1]["content"])
		})
	}
}
