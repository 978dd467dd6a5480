package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"offcut/models"
)

// Server is a running demo model.
type Server struct {
	key  string
	addr string
	http *http.Server
}

// Start serves the demo model on a free loopback port, to whoever knows its
// random key: other processes of the machine can reach the port, and have no
// business there.
func Start() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo model: %w", err)
	}
	s := &Server{key: rand.Text(), addr: listener.Addr().String()}
	s.http = &http.Server{Handler: guarded(s.key, Handler()), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }() // ends with Close
	return s, nil
}

// BaseURL is the address that a client is given.
func (s *Server) BaseURL() string { return "http://" + s.addr + "/v1" }

// Key is the API key that a client is given.
func (s *Server) Key() string { return s.key }

// Close ends the server and the answers that are under way.
func (s *Server) Close() error { return s.http.Close() }

func guarded(key string, next http.Handler) http.Handler {
	want := []byte("Bearer " + key)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			refuse(w, http.StatusUnauthorized, "this endpoint is for the program that serves it")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxRequest bounds a request, in bytes: a long history with its previews.
const maxRequest = 64 << 20

// Handler is the endpoint itself: POST /v1/chat/completions, streaming only.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var req request
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil {
			refuse(w, http.StatusBadRequest, "the request is not the JSON of a chat completion: "+err.Error())
			return
		}
		if !req.Stream {
			refuse(w, http.StatusBadRequest, "the demo model only streams: set stream to true")
			return
		}
		out := &writer{w: w, ctx: r.Context(), model: req.Model, pause: wordPause}
		out.answer(next(conversation{messages: req.Messages, tools: req.toolNames()}), promptTokens(req.Messages))
	})
	return mux
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message, "type": "invalid_request_error"}})
}

// promptTokens is a guess at four bytes for each token.
func promptTokens(messages []message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)
	}
	return n/4 + 1
}

type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Stream   bool      `json:"stream"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

func (r request) toolNames() map[string]bool {
	names := map[string]bool{}
	for _, t := range r.Tools {
		names[t.Function.Name] = true
	}
	return names
}

type message struct {
	Role       models.Role `json:"role"`
	Content    string      `json:"content"`
	ToolCalls  []call      `json:"tool_calls"`
	ToolCallID string      `json:"tool_call_id"`
}

type call struct {
	ID       string   `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// argument is one argument of a call, as text.
func (c call) argument(name string) string {
	var args map[string]any
	_ = json.Unmarshal([]byte(c.Function.Arguments), &args) // what is no object has no argument
	if args[name] == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(args[name]))
}
