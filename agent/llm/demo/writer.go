package demo

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// wordPause is the time between two words: fast, and seen to stream.
const wordPause = 4 * time.Millisecond

// action is what the model does next: it says something, and then calls tools
// or rests.
type action struct {
	say   string
	calls []call
	pause time.Duration // between words; 0: wordPause
}

// writer streams one answer as OpenAI does.
type writer struct {
	w     http.ResponseWriter
	ctx   context.Context
	model string
	pause time.Duration
	words int
}

func (o *writer) answer(a action, promptTokens int) {
	o.w.Header().Set("Content-Type", "text/event-stream")
	if a.pause > 0 {
		o.pause = a.pause
	}
	o.delta(map[string]any{"role": "assistant", "content": ""})
	if !o.say(a.say) {
		return
	}
	reason := "stop"
	for i, c := range a.calls {
		reason = "tool_calls"
		o.call(i, c)
	}
	o.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}})
	o.event(map[string]any{"choices": []any{}, "usage": map[string]int{
		"prompt_tokens": promptTokens, "completion_tokens": o.words, "total_tokens": promptTokens + o.words,
	}})
	o.line("[DONE]")
}

// say streams text word by word; false: the reader has gone.
func (o *writer) say(text string) bool {
	for _, word := range strings.SplitAfter(text, " ") {
		if word == "" {
			continue
		}
		o.words++
		o.delta(map[string]any{"content": word})
		select {
		case <-o.ctx.Done():
			return false
		case <-time.After(o.pause):
		}
	}
	return true
}

// call streams a tool call: its head first, then its arguments.
func (o *writer) call(index int, c call) {
	o.words += 1 + len(c.Function.Arguments)/4
	o.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": index, "id": c.ID, "type": "function", "function": map[string]string{"name": c.Function.Name, "arguments": ""},
	}}})
	o.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": index, "function": map[string]string{"arguments": c.Function.Arguments},
	}}})
}

func (o *writer) delta(delta map[string]any) {
	o.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
}

func (o *writer) event(event map[string]any) {
	event["id"], event["object"], event["model"] = "demo", "chat.completion.chunk", o.model
	raw, err := json.Marshal(event)
	if err != nil {
		return // plain values: this does not happen
	}
	o.line(string(raw))
}

func (o *writer) line(data string) {
	_, _ = o.w.Write([]byte("data: " + data + "\n\n")) // a reader who has gone is seen by ctx
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
}
