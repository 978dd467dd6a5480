package openai

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"offcut/agent/llm"
	"offcut/agent/llm/llmtest"
	"offcut/models"
)

func TestErrorsHaveACodeAndQuoteTheProvider(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		code   models.TurnErrorCode
		words  string
	}{
		{"a wrong key", 401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`, models.CodeProviderRefused, "Incorrect API key"},
		{"an unknown model", 404, `{"error":"model 'm' not found"}`, models.CodeProviderRefused, "model 'm' not found"},
		{"a message in its own form", 422, `{"detail":"field required"}`, models.CodeProviderRefused, "field required"},
		{"no JSON", 403, `<html>Forbidden by proxy</html>`, models.CodeProviderRefused, "Forbidden by proxy"},
		{"an empty body", 400, ``, models.CodeProviderRefused, "400"},
		{"an object of objects", 400, `{"error":{"error":{"message":"deep"}}}`, models.CodeProviderRefused, "deep"},
		{"a number for a code", 400, `{"error":{"message":"no","code":7}}`, models.CodeProviderRefused, "no"},
		{"too many requests", 429, `{"error":{"message":"Rate limit reached"}}`, models.CodeRateLimited, "Rate limit reached"},
		{"a failing server", 500, `{"error":{"message":"oops"}}`, models.CodeProviderError, "oops"},
		{"a gateway", 502, `bad gateway`, models.CodeProviderError, "bad gateway"},
		{"overflow by code", 400, `{"error":{"message":"Too long.","code":"context_length_exceeded"}}`, models.CodeContextOverflow, "Too long."},
		{"overflow as OpenAI says it", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`, models.CodeContextOverflow, "8192"},
		{"overflow as llama.cpp says it", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, models.CodeContextOverflow, "context size"},
		{"overflow as others say it", 413, `{"message":"prompt is too long: 9000 tokens"}`, models.CodeContextOverflow, "9000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := llmtest.Failure(t, served(t, llmtest.Refusal(tt.status, tt.body)))
			if got.Code != tt.code || got.Status != tt.status || got.Broken || !strings.Contains(got.Message, tt.words) {
				t.Errorf("%s %d broken=%v %q; want %s and %q", got.Code, got.Status, got.Broken, got.Message, tt.code, tt.words)
			}
		})
	}
}

func TestASentenceEndsOnceAfterAQuote(t *testing.T) {
	for words, want := range map[string]string{
		"no key": `(401): “no key”.`, "No key.": `(401): “No key.”`, "Why?": `(401): “Why?”`,
	} {
		got := llmtest.Failure(t, served(t, llmtest.Refusal(401, `{"error":{"message":"`+words+`"}}`)))
		if !strings.HasSuffix(got.Message, want) {
			t.Errorf("%q does not end with %q", got.Message, want)
		}
	}
}

func TestNoErrorShowsTheKey(t *testing.T) {
	const key = "s3cret-key-of-the-test"
	echo := `you sent "Authorization: Bearer ` + key + `" (key ` + key + `), an old one was sk-proj-abcdef123456`
	for name, handle := range map[string]http.HandlerFunc{
		"in an error":          llmtest.Refusal(401, `{"error":{"message":`+llmtest.Quoted(echo)+`}}`),
		"in a plain page":      llmtest.Refusal(500, echo),
		"in a stream's error":  llmtest.Streamed(events(`{"error":{"message":`+llmtest.Quoted(echo)+`}}`), 1<<20),
		"in what is no stream": llmtest.Streamed(strings.Repeat("x", 480)+echo+"\n", 1<<20),
		"at the quote's end":   llmtest.Refusal(401, `{"error":{"message":`+llmtest.Quoted(strings.Repeat("x", 470)+echo)+`}}`),
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

func TestAQuoteIsBoundedAndValid(t *testing.T) {
	got := llmtest.Failure(t, served(t, llmtest.Refusal(400, `{"error":{"message":"`+strings.Repeat("é", 100_000)+`"}}`)))
	quote := got.Message[strings.Index(got.Message, "“")+len("“") : strings.LastIndex(got.Message, "”")]
	if len(quote) > llm.MaxQuote || len(quote) < llm.MaxQuote-8 || !utf8.ValidString(got.Message) {
		t.Errorf("a quote of %d bytes", len(quote))
	}
}

func TestAWaitThatIsTooLongIsNamed(t *testing.T) {
	c := served(t, llmtest.Refusal(429, `{"error":{"message":"quota used up"}}`, "Retry-After", "277403"))
	c.http = &http.Client{Transport: llm.NewTransport(nil)}
	begin := time.Now()
	got := llmtest.Failure(t, c)
	at := begin.Add(277403 * time.Second).UTC().Format("2 January 2006")
	if got.Code != models.CodeRateLimited || got.RetryAfter != 277403*time.Second || !strings.Contains(got.Message, at) || !strings.Contains(got.Message, "quota used up") {
		t.Errorf("%s, %v, %q", got.Code, got.RetryAfter, got.Message)
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	c := New(Config{BaseURL: "http://name:pass-word@127.0.0.1:1/v1", HTTPClient: http.DefaultClient})
	got := llmtest.Failure(t, c)
	if got.Code != models.CodeProviderError || !strings.Contains(got.Message, "127.0.0.1:1") || !strings.Contains(got.Message, "refused") || strings.Contains(got.Message, "pass-word") {
		t.Errorf("%s, %q", got.Code, got.Message)
	}
}
