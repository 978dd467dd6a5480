package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"offcut/agent"
)

// script answers one request after the other, the last answer for ever, and
// keeps what it was sent.
type script struct {
	answers []func(w http.ResponseWriter)
	bodies  []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.bodies = append(s.bodies, string(body))
	s.answers[min(len(s.bodies), len(s.answers))-1](w)
}

func status(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, http.StatusText(code))
	}
}

func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// send posts through a transport whose own waits are short.
func send(ctx context.Context, t *testing.T, s *script) (*http.Response, error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	transport := NewTransport(nil)
	transport.wait = func(int) time.Duration { return time.Millisecond }
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewBufferString("question"))
	if err != nil {
		t.Fatal(err)
	}
	return (&http.Client{Transport: transport}).Do(req)
}

func TestBusyAndFailingServersAreAskedAgain(t *testing.T) {
	past := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	for _, tt := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		status  int
		tries   int
	}{
		{"an answer at once", []func(http.ResponseWriter){status(200)}, 200, 1},
		{"429, then an answer", []func(http.ResponseWriter){status(429), status(200)}, 200, 2},
		{"every 5xx", []func(http.ResponseWriter){status(500), status(501), status(502), status(503), status(504), status(529), status(200)}, 200, 7},
		{"a connection that fails", []func(http.ResponseWriter){hangUp, status(200)}, 200, 2},
		{"Retry-After in seconds", []func(http.ResponseWriter){status(500, "Retry-After", "0"), status(200)}, 200, 2},
		{"Retry-After as a date", []func(http.ResponseWriter){status(503, "Retry-After", past), status(200)}, 200, 2},
		{"Retry-After that says nothing", []func(http.ResponseWriter){status(429, "Retry-After", "soon"), status(200)}, 200, 2},
		{"ten retries and no more", []func(http.ResponseWriter){status(503)}, 503, 11},
		{"a wait of days is not waited", []func(http.ResponseWriter){status(429, "Retry-After", "277403")}, 429, 1},
		{"400 is not asked again", []func(http.ResponseWriter){status(400)}, 400, 1},
		{"404 is not asked again", []func(http.ResponseWriter){status(404)}, 404, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{answers: tt.answers}
			resp, err := send(t.Context(), t, s)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.status || string(body) != http.StatusText(tt.status) || len(s.bodies) != tt.tries {
				t.Errorf("%d %q after %d tries, want %d after %d", resp.StatusCode, body, len(s.bodies), tt.status, tt.tries)
			}
			for _, sent := range s.bodies {
				if sent != "question" {
					t.Errorf("a try sent %q", sent)
				}
			}
		})
	}
}

func TestEachWaitIsAnnounced(t *testing.T) {
	var heard []agent.Retry
	ctx := WithRetryHook(t.Context(), func(r agent.Retry) { heard = append(heard, r) })
	resp, err := send(ctx, t, &script{answers: []func(http.ResponseWriter){status(503), hangUp, status(429, "Retry-After", "0"), status(529), status(200)}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	want := []agent.Retry{
		{Attempt: 1, Most: 10, Wait: time.Millisecond, Reason: "The model's server answered 503 (service unavailable)."},
		{Attempt: 2, Most: 10, Wait: time.Millisecond, Reason: "The model's server could not be reached.", Unreached: true},
		{Attempt: 3, Most: 10, Reason: "The model's server answered 429 (too many requests)."},
		{Attempt: 4, Most: 10, Wait: time.Millisecond, Reason: "The model's server answered 529."},
	}
	if diff := cmp.Diff(want, heard, cmpopts.IgnoreFields(agent.Retry{}, "Now", "Last")); diff != "" {
		t.Error(diff)
	}
}

func TestWhoIsToldOfAWaitCanMakeTheNextTryTheLast(t *testing.T) {
	ctx := WithRetryHook(t.Context(), func(r agent.Retry) { r.Last() })
	server := &script{answers: []func(http.ResponseWriter){status(429, "Retry-After", "300"), status(503), status(200)}}
	resp, err := send(ctx, t, server)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 503 || len(server.bodies) != 2 {
		t.Errorf("%d after %d tries", resp.StatusCode, len(server.bodies))
	}
}

func TestAStopEndsAWaitAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx = WithRetryHook(ctx, func(agent.Retry) { time.AfterFunc(20*time.Millisecond, cancel) })
	begin := time.Now()
	resp, err := send(ctx, t, &script{answers: []func(http.ResponseWriter){status(429, "Retry-After", "300")}})
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, context.Canceled) || time.Since(begin) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestWhoIsToldOfAWaitCanEndIt(t *testing.T) {
	ctx := WithRetryHook(t.Context(), func(r agent.Retry) {
		for range 2 { // a second time changes nothing
			go r.Now()
		}
	})
	begin := time.Now()
	s := &script{answers: []func(http.ResponseWriter){status(429, "Retry-After", "300"), status(200)}}
	resp, err := send(ctx, t, s)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 || len(s.bodies) != 2 || time.Since(begin) > 10*time.Second {
		t.Errorf("%d after %d tries and %v", resp.StatusCode, len(s.bodies), time.Since(begin))
	}
}

func TestBackoffDoublesWithinItsJitterAndBound(t *testing.T) {
	for n, base := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, 32 * time.Second, 32 * time.Second} {
		least, most := base, time.Duration(0)
		for range 500 {
			wait := Backoff(n)
			least, most = min(least, wait), max(most, wait)
		}
		if least < base*3/4 || most > min(base*5/4, 32*time.Second) || least == most {
			t.Errorf("retry %d waits %v to %v around %v", n, least, most, base)
		}
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "1.5": 1500 * time.Millisecond, "0": 0,
		"Wed, 04 Mar 2026 05:07:07 GMT": time.Minute,
		"Wed, 04 Mar 2026 05:00:00 GMT": 0,
		"1e300":                         3e9 * time.Second,
	} {
		if got, ok := RetryAfter(http.Header{"Retry-After": {value}}, now); !ok || got != want {
			t.Errorf("%q is %v, %v; want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", "-1", "NaN", "soon"} {
		if got, ok := RetryAfter(http.Header{"Retry-After": {value}}, now); ok {
			t.Errorf("%q is %v", value, got)
		}
	}
}
