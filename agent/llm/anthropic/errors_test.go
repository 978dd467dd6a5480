package anthropic

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

func reportedAs(kind, message string) string {
	return `{"type":"error","error":{"type":` + llmtest.Quoted(kind) + `,"message":` + llmtest.Quoted(message) + `},"request_id":"req_1"}`
}

func TestErrorsHaveACodeAndQuoteTheProvider(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		code   models.TurnErrorCode
		words  string
	}{
		{"a wrong key", 401, reportedAs("authentication_error", "invalid x-api-key"), models.CodeProviderRefused, "invalid x-api-key"},
		{"an unknown model", 404, reportedAs("not_found_error", "model: m"), models.CodeProviderRefused, "model: m"},
		{"a bad request", 400, reportedAs("invalid_request_error", "max_tokens: too many"), models.CodeProviderRefused, "max_tokens"},
		{"too many requests", 429, reportedAs("rate_limit_error", "Slow down"), models.CodeRateLimited, "Slow down"},
		{"a failing server", 500, reportedAs("api_error", "Internal server error"), models.CodeProviderError, "Internal server error"},
		{"an overloaded one", 529, reportedAs("overloaded_error", "Overloaded"), models.CodeProviderError, "Overloaded"},
		{"a gateway", 502, "<html>Bad gateway</html>", models.CodeProviderError, "Bad gateway"},
		{"an empty body", 400, "", models.CodeProviderRefused, "400"},
		{"a prompt that is too long", 400, reportedAs("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"), models.CodeContextOverflow, "200001"},
		{"no room for the bound", 400, reportedAs("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"), models.CodeContextOverflow, "190000"},
		{"a request of too many bytes", 413, reportedAs("request_too_large", "Request exceeds the maximum size"), models.CodeContextOverflow, "maximum size"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := llmtest.Failure(t, served(t, llmtest.Refusal(tt.status, tt.body)))
			if got.Code != tt.code || got.Status != tt.status || got.Broken || !strings.Contains(got.Message, tt.words) || got.Answer != tt.body {
				t.Errorf("%s %d broken=%v %q; want %s and %q", got.Code, got.Status, got.Broken, got.Message, tt.code, tt.words)
			}
		})
	}
}

func TestNoErrorShowsTheKey(t *testing.T) {
	echo := `you sent x-api-key: ` + testKey + `, an old one was sk-ant-api03-abcdef123456`
	for name, handle := range map[string]http.HandlerFunc{
		"in an error":          llmtest.Refusal(401, reportedAs("authentication_error", echo)),
		"in a plain page":      llmtest.Refusal(500, echo),
		"in a stream's error":  llmtest.Streamed(events(reportedAs("api_error", echo)), 1<<20),
		"in what is no stream": llmtest.Streamed(strings.Repeat("x", 480)+echo+"\n", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			got := llmtest.Failure(t, served(t, handle))
			for _, part := range []string{"s3cret", "abcdef"} {
				if strings.Contains(got.Message+fmt.Sprint(got.Err), part) {
					t.Errorf("it shows %q: %q, %v", part, got.Message, got.Err)
				}
			}
		})
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	got := llmtest.Failure(t, New(Config{BaseURL: "http://name:pass-word@127.0.0.1:1", HTTPClient: http.DefaultClient}))
	if got.Code != models.CodeProviderError || !strings.Contains(got.Message, "127.0.0.1:1") || !strings.Contains(got.Message, "refused") || strings.Contains(got.Message, "pass-word") {
		t.Errorf("%s, %q", got.Code, got.Message)
	}
}

func TestABusyServerIsAskedAgainByTheTransportAlone(t *testing.T) {
	for _, status := range []int{429, 529, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			c, r := recorded(t, Config{}, "", answer("end_turn", text("0", "Now.")))
			r.answers[0] = llmtest.Refusal(status, reportedAs("overloaded_error", "Overloaded"), "Retry-After", "0", "X-Should-Retry", "true")
			c.http = &http.Client{Transport: llm.NewTransport(nil)}
			var heard []agent.Retry
			got, err := c.Stream(t.Context(), agent.Request{OnRetry: func(r agent.Retry) { heard = append(heard, r) }}, nil)
			if err != nil || got.Content != "Now." || len(r.bodies) != 2 || len(heard) != 1 || heard[0].Wait != 0 || heard[0].Most != llm.MaxRetries {
				t.Errorf("%q, %v after %d requests and %+v", got.Content, err, len(r.bodies), heard)
			}
		})
	}
}

func TestWhatNoTryMendsIsAskedOnce(t *testing.T) {
	c, r := recorded(t, Config{}, "")
	r.answers[0] = llmtest.Refusal(400, reportedAs("invalid_request_error", "no"), "X-Should-Retry", "true")
	c.http = &http.Client{Transport: llm.NewTransport(nil)}
	if got := llmtest.Failure(t, c); got.Status != 400 || len(r.bodies) != 1 {
		t.Errorf("%v after %d requests", got, len(r.bodies))
	}
}

func TestAWaitThatIsTooLongIsNamed(t *testing.T) {
	c := served(t, llmtest.Refusal(429, reportedAs("rate_limit_error", "quota used up"), "Retry-After", "277403"))
	c.http = &http.Client{Transport: llm.NewTransport(nil)}
	at := time.Now().Add(277403 * time.Second).UTC().Format("2 January 2006")
	got := llmtest.Failure(t, c)
	if got.Code != models.CodeRateLimited || got.RetryAfter != 277403*time.Second || !strings.Contains(got.Message, at) {
		t.Errorf("%s, %v, %q", got.Code, got.RetryAfter, got.Message)
	}
}
