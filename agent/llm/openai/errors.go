package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"

	"offcut/agent"
	"offcut/agent/llm"
	"offcut/models"
)

// maxQuote bounds the provider's own words within an error, in bytes.
const maxQuote = 500

// providerError is an error that the provider reported in its own form.
type providerError struct {
	status int // as the error itself names it; 0 where it does not
	code   string
	words  string
}

func (e *providerError) Error() string { return e.words }

func isProviderError(err error) bool {
	var p *providerError
	return errors.As(err, &p)
}

// newProviderError reads an error object, or a bare string.
func newProviderError(raw []byte) *providerError {
	var object struct {
		Message text            `json:"message"`
		Detail  text            `json:"detail"`
		Type    text            `json:"type"`
		Code    json.RawMessage `json:"code"`
		Error   json.RawMessage `json:"error"`
	}
	var bare string
	switch {
	case json.Unmarshal(raw, &bare) == nil:
		return &providerError{words: bare}
	case json.Unmarshal(raw, &object) != nil:
		return &providerError{words: strings.TrimSpace(string(raw))}
	case len(object.Error) > 0 && object.Message == "":
		return newProviderError(object.Error)
	}
	e := &providerError{words: string(object.Message + object.Detail), code: string(object.Type)}
	if json.Unmarshal(object.Code, &e.status) != nil {
		var code string
		if json.Unmarshal(object.Code, &code) == nil && code != "" {
			e.code = code
		}
	}
	if e.words == "" {
		e.words = strings.TrimSpace(string(raw))
	}
	return e
}

// requestError describes a request that got no stream.
func (c *Client) requestError(err error, header http.Header, retries int) *agent.ModelError {
	var api *openai.APIError
	var raw *openai.RequestError
	switch {
	case errors.As(err, &raw): // first: it may wrap an APIError that was only half read
		return c.refused(raw.HTTPStatusCode, newProviderError(raw.Body), header, retries)
	case errors.As(err, &api):
		code, _ := api.Code.(string)
		return c.refused(api.HTTPStatusCode, &providerError{code: code + " " + api.Type, words: api.Message}, header, retries)
	}
	var transport *url.Error
	var network net.Error
	if !errors.As(err, &transport) && !errors.As(err, &network) {
		// go-openai refused the request itself.
		return c.modelError(models.CodeProviderRefused, 0, "The request cannot be sent to this model", err.Error(), err)
	}
	if transport != nil {
		err = transport.Err
	}
	what := fmt.Sprintf("The model's server at %s could not be reached%s", c.host, after(retries))
	return c.modelError(models.CodeProviderError, 0, what, err.Error(), err)
}

// refused describes an answer with an error's status.
func (c *Client) refused(status int, p *providerError, header http.Header, retries int) *agent.ModelError {
	wait, _ := llm.RetryAfter(header, time.Now())
	code, what := models.CodeProviderRefused, fmt.Sprintf("The model's server refused the request (%d)", status)
	switch {
	case isOverflow(status, p):
		code, what = models.CodeContextOverflow, "The conversation is too long for this model"
	case wait > llm.MaxRetryAfter:
		code = models.CodeProviderError
		if status == http.StatusTooManyRequests {
			code = models.CodeRateLimited
		}
		what = fmt.Sprintf("The model's server (%d) asks to wait until %s, which is too long for this answer", status,
			time.Now().Add(wait).UTC().Format("15:04 UTC on 2 January 2006"))
	case status == http.StatusTooManyRequests:
		code, what = models.CodeRateLimited, fmt.Sprintf("The model's server takes no more requests for now (429)%s", after(retries))
	case status >= 500 || status < 400:
		code, what = models.CodeProviderError, fmt.Sprintf("The model's server failed (%d)%s", status, after(retries))
	}
	e := c.modelError(code, status, what, p.words, p)
	e.RetryAfter = wait
	return e
}

func after(retries int) string {
	switch retries {
	case 0:
		return ""
	case 1:
		return ", also after 1 retry"
	}
	return fmt.Sprintf(", also after %d retries", retries)
}

// streamError describes a stream that ended before it was whole.
func (c *Client) streamError(err error, events *eventReader, began bool) *agent.ModelError {
	var p *providerError
	var out *agent.ModelError
	switch {
	case errors.As(err, &p):
		out = c.reported(p)
	case events.stalled.Load():
		out = c.modelError(models.CodeStreamBroken, 0, fmt.Sprintf("The model's server sent nothing for %.0f minutes", stallLimit.Minutes()), "", err)
	case errors.Is(err, io.EOF) && len(events.stray) > 0:
		out = c.modelError(models.CodeStreamBroken, 0, "The model's server answered with something that is no stream of events", string(events.stray), err)
	case errors.Is(err, io.EOF):
		out = c.modelError(models.CodeStreamBroken, 0, "The answer broke off: the model's server ended it without saying that it was complete", "", err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		out = c.modelError(models.CodeStreamBroken, 0, "The answer broke off: the connection to the model's server was lost", "", err)
	default:
		out = c.modelError(models.CodeStreamBroken, 0, "The answer broke off", err.Error(), err)
	}
	out.Broken = began
	return out
}

// reported describes an error object inside a stream that began well.
func (c *Client) reported(p *providerError) *agent.ModelError {
	code := models.CodeProviderError
	switch {
	case isOverflow(http.StatusBadRequest, p):
		code = models.CodeContextOverflow
	case p.status == http.StatusTooManyRequests || strings.Contains(p.code, "rate_limit"):
		code = models.CodeRateLimited
	case p.status >= 400 && p.status < 500 || p.code == "invalid_request_error":
		code = models.CodeProviderRefused
	}
	return c.modelError(code, p.status, "The model's server reported an error instead of the rest of its answer", p.words, p)
}

// overflowWords are how servers say that a request is longer than the model's
// context: OpenAI, vLLM, llama.cpp, OpenRouter, Ollama, Mistral, Groq, Gemini.
var overflowWords = regexp.MustCompile(`(?i)context[_ ]length|context[_ ]window|context[_ ]size|prompt is too long|prompt too long|` +
	`too many (input )?tokens|input is too long|reduce the length of the messages|maximum number of tokens|input token count.*exceeds|larger than the maximum context`)

func isOverflow(status int, p *providerError) bool {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge && status != http.StatusUnprocessableEntity {
		return false
	}
	return overflowWords.MatchString(p.code) || overflowWords.MatchString(p.words)
}

// modelError is a sentence, with the provider's words in quotes after it.
func (c *Client) modelError(code models.TurnErrorCode, status int, what, words string, err error) *agent.ModelError {
	sentence := what + "."
	if words = quotable(c.redact(words)); words != "" {
		sentence = fmt.Sprintf("%s: “%s”", what, words)
		if !strings.ContainsAny(words[len(words)-1:], ".!?") {
			sentence += "."
		}
	}
	return &agent.ModelError{Code: code, Status: status, Message: sentence, Err: errors.New(c.redact(err.Error()))}
}

// secrets are what an echoed request may hold beside the key as it is.
var secrets = regexp.MustCompile(`(?i)\bbearer\s+[^\s"',;<>]{8,}|\bsk-[A-Za-z0-9_*.-]{6,}`)

// redact takes the key, and whatever else looks like one, out of s.
func (c *Client) redact(s string) string {
	if c.config.APIKey != "" {
		s = strings.ReplaceAll(s, c.config.APIKey, "[key]")
	}
	return secrets.ReplaceAllString(s, "[key]")
}

// quotable is s as one line of at most maxQuote bytes of valid UTF-8.
func quotable(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= maxQuote {
		return s
	}
	cut := maxQuote - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
