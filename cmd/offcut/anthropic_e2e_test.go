package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"offcut/agent"
)

// messagesAPI is a scripted model behind Anthropic's Messages API. It plays its
// script, one answer to a request, and records what it was sent.
type messagesAPI struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	script []claudeReply
	sent   []claudeRequest
	keys   []string
}

type claudeRequest struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	Thinking  map[string]any `json:"thinking"`
	Messages  []struct {
		Role    string        `json:"role"`
		Content []claudeBlock `json:"content"`
	} `json:"messages"`
}

// claudeBlock is a block, of a request or of an answer.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   []claudeBlock   `json:"content,omitempty"`
}

// results are the texts of the tool results of a request, oldest first.
func (r claudeRequest) results() []string {
	var out []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				out = append(out, b.Content[0].Text)
			}
		}
	}
	return out
}

// kinds are the types of the blocks of each message.
func (r claudeRequest) kinds() string {
	var out []string
	for _, m := range r.Messages {
		var kinds []string
		for _, b := range m.Content {
			kinds = append(kinds, b.Type)
		}
		out = append(out, m.Role+":"+strings.Join(kinds, "+"))
	}
	return strings.Join(out, " ")
}

// claudeReply is one answer; refusal is what a request is refused with instead.
type claudeReply struct {
	blocks  []claudeBlock
	stop    string
	refusal string
}

func claudeSays(text string) claudeReply {
	return claudeReply{blocks: []claudeBlock{{Type: "text", Text: text}}, stop: "end_turn"}
}

// claudeRuns thinks, and calls for a command.
func claudeRuns(id, command string) claudeReply {
	input, _ := json.Marshal(args{"command": command})
	return claudeReply{stop: "tool_use", blocks: []claudeBlock{
		{Type: "thinking", Thinking: "I run it.", Signature: "signed-" + id},
		{Type: "tool_use", ID: id, Name: "run_command", Input: input},
	}}
}

func newMessagesAPI(t *testing.T, script ...claudeReply) *messagesAPI {
	t.Helper()
	m := &messagesAPI{t: t, script: script}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// requests are those that came so far.
func (m *messagesAPI) requests() []claudeRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]claudeRequest(nil), m.sent...)
}

func (m *messagesAPI) serve(w http.ResponseWriter, r *http.Request) {
	var body claudeRequest
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/messages" {
		m.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	m.mu.Lock()
	m.sent, m.keys = append(m.sent, body), append(m.keys, r.Header.Get("Authorization"))
	reply := claudeSays("The script is over.")
	if len(m.sent) <= len(m.script) {
		reply = m.script[len(m.sent)-1]
	}
	m.mu.Unlock()
	if reply.refusal != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(args{"type": "error", "error": args{"type": "invalid_request_error", "message": reply.refusal}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	reply.write(w)
}

func (r claudeReply) write(w http.ResponseWriter) {
	event := func(kind string, payload args) {
		payload["type"] = kind
		data, _ := json.Marshal(payload)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		_ = http.NewResponseController(w).Flush()
	}
	event("message_start", args{"message": args{"model": "claude-scripted-1", "usage": args{"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}}})
	for i, b := range r.blocks {
		start, delta := args{"type": b.Type}, args{}
		switch b.Type {
		case "text":
			start["text"], delta = "", args{"type": "text_delta", "text": b.Text}
		case "thinking":
			start["thinking"], delta = "", args{"type": "thinking_delta", "thinking": b.Thinking}
		case "tool_use":
			start["id"], start["name"], start["input"] = b.ID, b.Name, args{}
			delta = args{"type": "input_json_delta", "partial_json": string(b.Input)}
		}
		event("content_block_start", args{"index": i, "content_block": start})
		event("content_block_delta", args{"index": i, "delta": delta})
		if b.Signature != "" {
			event("content_block_delta", args{"index": i, "delta": args{"type": "signature_delta", "signature": b.Signature}})
		}
		event("content_block_stop", args{"index": i})
	}
	event("message_delta", args{"delta": args{"stop_reason": r.stop}, "usage": args{"output_tokens": 7}})
	event("message_stop", args{})
}

// startClaude runs the program with the scripted model as its default one, and
// more settings.
func startClaude(t *testing.T, m *messagesAPI, settings string) *server {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("sk-ant-e2e-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, newProvider(t), "OFFCUT_MODEL=claude-scripted", withSettings(t, fmt.Sprintf(`models:
  - name: claude-scripted
    provider: anthropic
    baseURL: %s
    apiKeyFile: %s
    contextTokens: 24000
    maxOutputTokens: 1024
%s`, m.URL, key, settings)))
}

func TestATurnRunsOverAnthropic(t *testing.T) {
	m := newMessagesAPI(t,
		claudeRuns("toolu_1", "echo one two"),
		claudeReply{blocks: []claudeBlock{{Type: "text", Text: "It printed one"}}, stop: "max_tokens"},
		claudeSays(" and two."),
		claudeSays("You are welcome."),
	)
	s := startClaude(t, m, "    thinking: adaptive\n")
	session := s.newSession()
	turn := s.say(session, "run it")
	if turn.State != "done" || turn.Continuations != 1 {
		t.Fatalf("the turn is %s after %d continuations: %s", turn.State, turn.Continuations, turn.Error)
	}
	sent := m.requests()
	if len(sent) != 3 {
		t.Fatalf("%d requests", len(sent))
	}
	if got, want := sent[2].kinds(), "user:text assistant:thinking+tool_use user:tool_result assistant:text user:text"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	if sent[2].Messages[4].Content[0].Text != agent.ContinuationText || sent[2].MaxTokens != 1024 || sent[0].Thinking["type"] != "adaptive" || m.keys[0] != "Bearer sk-ant-e2e-secret" {
		t.Errorf("sent %+v with the key %q", sent[2], m.keys[0])
	}
	if result := sent[1].results()[0]; !strings.HasPrefix(result, "{") || !strings.HasSuffix(result, "\none two\n") {
		t.Errorf("the result was sent as %q", result)
	}

	// The next turn reads the conversation from the database: also after a
	// restart the thinking goes back with its signature.
	s.terminate()
	s.launch()
	if turn := s.say(session, "thanks"); turn.State != "done" {
		t.Fatalf("the turn is %s: %s", turn.State, turn.Error)
	}
	sent = m.requests()
	if b := sent[3].Messages[1].Content[0]; b.Type != "thinking" || b.Thinking != "I run it." || b.Signature != "signed-toolu_1" {
		t.Errorf("after a restart the thinking is %+v in %s", b, sent[3].kinds())
	}
	if strings.Contains(s.log.String(), "sk-ant-e2e-secret") {
		t.Error("the log shows the key")
	}
}

func TestOldResultsAreShortenedOnceTheCacheOfAnthropicHasExpired(t *testing.T) {
	m := newMessagesAPI(t, claudeRuns("toolu_1", "seq 1 4000"), claudeSays("A long list."))
	s := startClaude(t, m, "contextPruning:\n  ttl: 1s\n  hardClearRatio: 1\n  keepLastAssistants: 1\n")
	session := s.newSession()
	s.say(session, "list")
	whole := m.requests()[1].results()[0]
	if len(whole) < 18_000 {
		t.Fatalf("the result has %d bytes in its own turn", len(whole))
	}
	time.Sleep(1100 * time.Millisecond) // the cache expires
	s.say(session, "once more")
	s.say(session, "and at once again")
	sent := m.requests()
	short, again := sent[2].results()[0], sent[3].results()[0]
	line, body, _ := strings.Cut(short, "\n")
	if len(short) > 4000 || !strings.HasPrefix(body, "1\n2\n3\n") || !strings.Contains(body, "…") || !strings.HasSuffix(body, "4000\n") ||
		!strings.Contains(line, `"pruning"`) || !strings.Contains(line, `"tool":"run_command"`) || !strings.Contains(line, `"output_id"`) {
		t.Errorf("the old result is %.300q", short)
	}
	if again != short {
		t.Errorf("it was sent as %.200q, and next as %.200q", short, again)
	}
	// Thinking behind what was changed would be refused.
	if got, want := sent[3].kinds(), "user:text assistant:thinking+tool_use user:tool_result assistant:text user:text assistant:text user:text"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	for _, msg := range s.messages(session, false) {
		if msg.Role == "tool" && !strings.Contains(msg.Content, "\n2000\n") {
			t.Error("what is stored was shortened too")
		}
	}
}

func TestARequestThatAnthropicFindsTooLongIsShortenedAndSentAgain(t *testing.T) {
	m := newMessagesAPI(t,
		claudeRuns("toolu_1", "seq 1 4000"), claudeSays("A long list."),
		claudeReply{refusal: "prompt is too long: 24001 tokens > 24000 maximum"}, claudeSays("Now it fits."),
	)
	s := startClaude(t, m, "")
	session := s.newSession()
	s.say(session, "list")
	turn := s.say(session, "once more")
	sent := m.requests()
	if turn.State != "done" || len(sent) != 4 {
		t.Fatalf("the turn is %s after %d requests: %s", turn.State, len(sent), turn.Error)
	}
	if before, after := len(sent[2].results()[0]), len(sent[3].results()[0]); after > before/2 {
		t.Errorf("a result of %d bytes was sent again with %d", before, after)
	}
}
