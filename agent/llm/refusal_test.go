package llm

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"offcut/agent"
)

// TestARefusalWhoseSocketStaysOpenEnds: what came of it is read, and what is to
// be sent again does not wait for it.
func TestARefusalWhoseSocketStaysOpenEnds(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadRequest}[tries]
		tries++
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"error":"all of it"}`)
		_ = http.NewResponseController(w).Flush() // fails where nobody reads any more
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	transport := NewTransport(nil)
	transport.wait = func(int) time.Duration { return time.Millisecond }
	transport.linger = 100 * time.Millisecond
	var announced []int
	ctx := WithRetryHook(t.Context(), func(r agent.Retry) { announced = append(announced, r.Attempt) })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("question"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadRequest || string(body) != `{"error":"all of it"}` || len(announced) != 2 {
		t.Errorf("%d %q, %v, after the retries %v", resp.StatusCode, body, err, announced)
	}
}

func TestARefusalIsBoundedInSize(t *testing.T) {
	resp, err := send(t.Context(), t, &script{answers: []func(http.ResponseWriter){func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, strings.Repeat("x", maxRefusal+1))
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != maxRefusal {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}
