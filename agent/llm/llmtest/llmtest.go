// Package llmtest is what the tests of the models' clients have in common: servers
// that answer as those of providers do, one of them written by others.
package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"offcut/agent"
)

// Streamed writes raw as an event stream, in parts of at most size bytes.
func Streamed(raw string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for rest := raw; len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = io.WriteString(w, rest[:n])
			rest = rest[n:]
			w.(http.Flusher).Flush()
		}
	}
}

// Refusal answers with an error. header are names, each with its value after it.
func Refusal(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Failure is the error of a model that is asked and fails.
func Failure(t *testing.T, model agent.Model) *agent.ModelError {
	t.Helper()
	_, err := model.Stream(t.Context(), agent.Request{}, nil)
	var failed *agent.ModelError
	if !errors.As(err, &failed) {
		t.Fatalf("error %v, want a ModelError", err)
	}
	return failed
}

// Quoted is a text as a string of JSON.
func Quoted(text string) string {
	out, _ := json.Marshal(text) // a text always has one
	return string(out)
}
