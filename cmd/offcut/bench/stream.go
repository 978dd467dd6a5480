package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const chunks = 5000

// provider streams an answer of many chunks, as fast as it is read.
type provider struct {
	text  []string
	begun atomic.Int64 // when the first chunk was written, in Unix nanoseconds
}

func newProvider() *provider {
	p := &provider{}
	for i := range chunks {
		word := fmt.Sprintf("word%d ", i)
		if i%50 == 49 {
			word += "\n\n"
		}
		p.text = append(p.text, word)
	}
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	flush := w.(http.Flusher).Flush
	flush()
	time.Sleep(50 * time.Millisecond) // the model thinks; connections are warm by then
	p.begun.Store(time.Now().UnixNano())
	for _, word := range p.text {
		content, _ := json.Marshal(word)
		_, _ = fmt.Fprintf(w, `data: {"model":"bench","choices":[{"index":0,"delta":{"content":%s}}]}`+"\n\n", content)
		flush()
	}
	_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// sinceBegun is the time from the provider's first chunk until now.
func (p *provider) sinceBegun() time.Duration {
	return time.Since(time.Unix(0, p.begun.Load()))
}

// stream compares an answer through the program with the same one through a
// plain relay.
func (b *bench) stream(ctx context.Context) error {
	p := newProvider()
	upstream := httptest.NewServer(p)
	defer upstream.Close()
	program, err := b.startProgram(ctx, "stream", "OPENAI_BASE_URL="+upstream.URL, "OFFCUT_MODEL=bench", "OPENAI_API_KEY=k")
	if err != nil {
		return err
	}
	defer program.stop()
	relay := httptest.NewServer(relayOf(upstream.URL))
	defer relay.Close()

	const times = 7
	var firsts []time.Duration
	ours, err := median(times, func(int) (time.Duration, error) {
		first, whole, err := program.answer(ctx, p)
		firsts = append(firsts, first)
		return whole, err
	})
	if err != nil {
		return err
	}
	theirs, err := median(times, func(int) (time.Duration, error) { return throughRelay(ctx, relay.URL, p) })
	if err != nil {
		return err
	}
	first, err := median(len(firsts), func(i int) (time.Duration, error) { return firsts[i], nil })
	if err != nil {
		return err
	}
	b.delay("first token: from the provider's to the browser's", first, 10*time.Millisecond)
	b.ratio("5,000 chunks to a browser : through a plain relay", ours, theirs, 1.5)
	return nil
}

// relayOf reads the provider's lines and writes a frame for each.
func relayOf(upstream string) http.HandlerFunc {
	var upgrader websocket.Upgrader
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		resp, err := http.Post(upstream, "application/json", strings.NewReader("{}"))
		if err != nil {
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if len(lines.Bytes()) > 0 && conn.WriteMessage(websocket.TextMessage, lines.Bytes()) != nil {
				return
			}
		}
	}
}

// throughRelay is the time from the provider's first chunk to the last frame.
func throughRelay(ctx context.Context, address string, p *provider) (time.Duration, error) {
	conn, resp, err := websocket.DefaultDialer.DialContext(ctx, "ws"+strings.TrimPrefix(address, "http"), nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close(); _ = conn.Close() }()
	got := 0
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			return 0, err
		}
		if strings.Contains(string(frame), "[DONE]") {
			if got < chunks {
				return 0, fmt.Errorf("the relay lost %d chunks", chunks-got)
			}
			return p.sinceBegun(), nil
		}
		got++
	}
}
