package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// provider is a scripted model behind an OpenAI-compatible endpoint. It
// answers by what the latest user message holds, and records what it was sent.
type provider struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	scripts  []*script
	calls    int
}

// request is what a provider is sent, as far as tests look at it.
type request struct {
	Model    string        `json:"model"`
	Messages []sentMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// sentMessage is one message of a request.
type sentMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
	// Images are the addresses of the pictures among the parts of the content.
	Images []string `json:"-"`
}

// UnmarshalJSON takes a content in parts as one text, and its pictures.
func (m *sentMessage) UnmarshalJSON(data []byte) error {
	type plain sentMessage
	var parted struct {
		Content []struct {
			Text  string `json:"text"`
			Image struct {
				URL string `json:"url"`
			} `json:"image_url"`
		} `json:"content"`
	}
	if json.Unmarshal(data, &parted) != nil {
		return json.Unmarshal(data, (*plain)(m))
	}
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(data, &rest); err != nil {
		return err
	}
	delete(rest, "content")
	raw, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, (*plain)(m)); err != nil {
		return err
	}
	for _, part := range parted.Content {
		m.Content += part.Text
		if part.Image.URL != "" {
			m.Images = append(m.Images, part.Image.URL)
		}
	}
	return nil
}

// result is a tool message: its metadata line and its body.
func (m sentMessage) result(t *testing.T) (map[string]any, string) {
	t.Helper()
	line, body, found := strings.Cut(m.Content, "\n")
	meta := map[string]any{}
	if err := json.Unmarshal([]byte(line), &meta); err != nil || !found {
		t.Fatalf("a tool message begins with a line of JSON: %v: %.200q", err, m.Content)
	}
	return meta, body
}

// results are the tool messages of the request, oldest first.
func (r request) results() []sentMessage {
	var results []sentMessage
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results = append(results, m)
		}
	}
	return results
}

// reply is one scripted answer.
type reply struct {
	text      []string // chunks
	reasoning string
	calls     []toolCall
	finish    string        // default: stop, or tool_calls where there are calls
	wait      time.Duration // between chunks
	hold      <-chan struct{}
	tokens    int  // of input that it says it used, and a tenth of that of output; 0: it says nothing
	cut       bool // the connection closes without an end
	status    int
	message   string            // of an HTTP error
	headers   map[string]string // of an HTTP error
}

type toolCall struct {
	name string
	args any // a string is sent as it is
}

func says(chunks ...string) reply { return reply{text: chunks} }

func calls(list ...toolCall) reply { return reply{calls: list} }

func call(name string, args any) toolCall { return toolCall{name, args} }

type args map[string]any

func runs(command string) reply { return calls(call("run_command", args{"command": command})) }

// answerer makes an answer out of what was sent; used where the script has to
// look at earlier results.
type answerer func(request) reply

type script struct {
	key    string
	answer []answerer
	next   int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// on answers messages that hold key with the replies in turn; the last repeats.
func (p *provider) on(key string, replies ...reply) {
	answers := make([]answerer, len(replies))
	for i, r := range replies {
		answers[i] = func(request) reply { return r }
	}
	p.onFunc(key, answers...)
}

func (p *provider) onFunc(key string, answers ...answerer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts = append(p.scripts, &script{key: key, answer: answers})
}

// sent are the requests in which a user message holds key, oldest first.
func (p *provider) sent(key string) []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []request
	for _, r := range p.requests {
		for _, m := range r.Messages {
			if m.Role == "user" && strings.Contains(m.Content, key) {
				found = append(found, r)
				break
			}
		}
	}
	return found
}

// lastSent is the newest of them.
func (p *provider) lastSent(t *testing.T, key string) request {
	t.Helper()
	sent := p.sent(key)
	if len(sent) == 0 {
		t.Fatalf("the model was never asked %q", key)
	}
	return sent[len(sent)-1]
}

func (p *provider) choose(r request) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role != "user" {
			continue
		}
		for _, s := range p.scripts {
			if strings.Contains(r.Messages[i].Content, s.key) {
				answer := s.answer[min(s.next, len(s.answer)-1)]
				s.next++
				return answer(r)
			}
		}
	}
	return says("There is no script for this message.")
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	var body request
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := p.choose(body)
	if answer.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		for name, value := range answer.headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(answer.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": answer.message, "type": "error"}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	p.stream(w, r, answer)
}

func (p *provider) stream(w http.ResponseWriter, r *http.Request, answer reply) {
	event := func(delta map[string]any, finish any) {
		data, _ := json.Marshal(map[string]any{
			"id": "chatcmpl-e2e", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
	event(map[string]any{"role": "assistant"}, nil)
	if answer.reasoning != "" {
		event(map[string]any{"reasoning_content": answer.reasoning}, nil)
	}
	for _, chunk := range answer.text {
		event(map[string]any{"content": chunk}, nil)
		if !pause(r, answer.wait) {
			return
		}
	}
	if answer.hold != nil {
		select {
		case <-answer.hold:
		case <-r.Context().Done():
			return
		}
	}
	if answer.cut {
		panic(http.ErrAbortHandler) // the way to close a connection in mid-answer
	}
	finish := "stop"
	for i, c := range answer.calls {
		finish = "tool_calls"
		event(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": p.callID(), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": argumentsOf(c)},
		}}}, nil)
	}
	if answer.finish != "" {
		finish = answer.finish
	}
	event(map[string]any{}, finish)
	if answer.tokens > 0 {
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n", answer.tokens, answer.tokens/10)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

func (p *provider) callID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	return fmt.Sprintf("call_e2e_%d", p.calls)
}

func argumentsOf(c toolCall) string {
	if text, ok := c.args.(string); ok {
		return text
	}
	data, _ := json.Marshal(c.args)
	return string(data)
}

// pause waits, and reports whether the client is still there.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}
