package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"offcut/agent"
	"offcut/agent/redact"
	"offcut/models"
)

// MaxQuote bounds the provider's own words within an error, in bytes.
const MaxQuote = 500

// ProviderError is an error that a provider reported in its own form.
type ProviderError struct {
	Status int // as the error itself names it; 0 where it does not
	Code   string
	Words  string
}

func (e *ProviderError) Error() string { return e.Words }

// IsProviderError reports whether err is, or wraps, a ProviderError.
func IsProviderError(err error) bool {
	var p *ProviderError
	return errors.As(err, &p)
}

// NewProviderError reads an error object, or a bare string.
func NewProviderError(raw []byte) *ProviderError {
	var object struct {
		Message lenient         `json:"message"`
		Detail  lenient         `json:"detail"`
		Type    lenient         `json:"type"`
		Code    json.RawMessage `json:"code"`
		Error   json.RawMessage `json:"error"`
	}
	var bare string
	switch {
	case json.Unmarshal(raw, &bare) == nil:
		return &ProviderError{Words: bare}
	case json.Unmarshal(raw, &object) != nil:
		return &ProviderError{Words: strings.TrimSpace(string(raw))}
	case len(object.Error) > 0 && object.Message == "":
		return NewProviderError(object.Error)
	}
	e := &ProviderError{Words: string(object.Message + object.Detail), Code: string(object.Type)}
	if json.Unmarshal(object.Code, &e.Status) != nil {
		var code string
		if json.Unmarshal(object.Code, &code) == nil && code != "" {
			e.Code = code
		}
	}
	if e.Words == "" {
		e.Words = strings.TrimSpace(string(raw))
	}
	return e
}

// lenient is a string, and nothing where something else stands in its place.
type lenient string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lenient) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*l = lenient(s)
	}
	return nil
}

// Server is a provider's server as its errors tell of it.
type Server struct {
	Host string
	keys redact.Redactor
}

// NewServer is the server at an address, whose key stands in no error; empty:
// there is none.
func NewServer(address, key string) Server {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	return Server{host, redact.New(keyMark, key)}
}

// keyMark stands where a key stood.
const keyMark = "[key]"

// Unreachable describes a request that got no answer.
func (s Server) Unreachable(err error, retries int) *agent.ModelError {
	what := fmt.Sprintf("The model's server at %s could not be reached%s", s.Host, after(retries))
	e := s.modelError(models.CodeProviderError, 0, what, err.Error(), err)
	e.Unreached = true
	return e
}

// Unsendable describes a request that the provider's library did not send.
func (s Server) Unsendable(err error) *agent.ModelError {
	return s.modelError(models.CodeProviderRefused, 0, "The request cannot be sent to this model", err.Error(), err)
}

// Refused describes an answer with an error's status.
func (s Server) Refused(status int, p *ProviderError, header http.Header, retries int) *agent.ModelError {
	wait, _ := RetryAfter(header, time.Now())
	code, what := models.CodeProviderRefused, fmt.Sprintf("The model's server refused the request (%d)", status)
	switch {
	case isOverflow(status, p):
		code, what = models.CodeContextOverflow, "The conversation is too long for this model"
	case wait > MaxRetryAfter:
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
	e := s.modelError(code, status, what, p.Words, p)
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

// Broken describes a stream that ended before it was whole. began: something of
// the reply had come.
//
// A stream that breaks off is a reply that was cut, also where nothing of it had
// come, and is asked for again as such. What is no stream at all, and one in which
// the provider says why there is no reply, are failures.
func (s Server) Broken(err error, events *EventReader, began bool) *agent.ModelError {
	var p *ProviderError
	var out *agent.ModelError
	switch {
	case errors.As(err, &p):
		out = s.reported(p)
	case events.Stalled():
		out = s.modelError(models.CodeStreamBroken, 0, fmt.Sprintf("The model's server sent nothing for %.0f minutes", StallLimit.Minutes()), "", err)
	case errors.Is(err, io.EOF) && len(events.Stray()) > 0:
		out = s.modelError(models.CodeStreamBroken, 0, "The model's server answered with something that is no stream of events", string(events.Stray()), err)
	case errors.Is(err, io.EOF):
		out = s.modelError(models.CodeStreamBroken, 0, "The answer broke off: the model's server ended it without saying that it was complete", "", err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		out = s.modelError(models.CodeStreamBroken, 0, "The answer broke off: the connection to the model's server was lost", "", err)
	default:
		out = s.modelError(models.CodeStreamBroken, 0, "The answer broke off", err.Error(), err)
	}
	out.Broken = began || (p == nil && len(events.Stray()) == 0)
	return out
}

// reported describes an error object inside a stream that began well.
func (s Server) reported(p *ProviderError) *agent.ModelError {
	code := models.CodeProviderError
	switch {
	case isOverflow(http.StatusBadRequest, p):
		code = models.CodeContextOverflow
	case p.Status == http.StatusTooManyRequests || strings.Contains(p.Code, "rate_limit"):
		code = models.CodeRateLimited
	case p.Status >= 400 && p.Status < 500 || slices.Contains(refusals, p.Code):
		code = models.CodeProviderRefused
	}
	return s.modelError(code, p.Status, "The model's server reported an error instead of the rest of its answer", p.Words, p)
}

// refusals are the codes of errors that the same request meets again.
var refusals = []string{
	"invalid_request_error", "authentication_error", "permission_error", "billing_error", "not_found_error", "request_too_large",
}

// overflowWords are how servers say that a request is longer than the model's
// context: OpenAI, Anthropic, vLLM, llama.cpp, OpenRouter, Ollama, Mistral, Groq,
// Gemini.
var overflowWords = regexp.MustCompile(`(?i)context[_ ]length|context[_ ]window|context[_ ]size|prompt is too long|prompt too long|` +
	`too many (input )?tokens|input is too long|reduce the length of the messages|maximum number of tokens|input token count.*exceeds|larger than the maximum context|exceed context limit|request_too_large`)

func isOverflow(status int, p *ProviderError) bool {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge && status != http.StatusUnprocessableEntity {
		return false
	}
	return overflowWords.MatchString(p.Code) || overflowWords.MatchString(p.Words)
}

// modelError is a sentence, with the provider's words in quotes after it.
func (s Server) modelError(code models.TurnErrorCode, status int, what, words string, err error) *agent.ModelError {
	sentence := what + "."
	if words = quotable(s.redact(words)); words != "" {
		sentence = fmt.Sprintf("%s: “%s”", what, words)
		if !strings.ContainsAny(words[len(words)-1:], ".!?") {
			sentence += "."
		}
	}
	return &agent.ModelError{Code: code, Status: status, Message: sentence, Err: errors.New(s.redact(err.Error()))}
}

// secrets are what an echoed request may hold beside the key as it is.
var secrets = regexp.MustCompile(`(?i)\bbearer\s+[^\s"',;<>]{8,}|\bsk-[A-Za-z0-9_*.-]{6,}`)

// redact takes the key, and whatever else looks like one, out of words.
func (s Server) redact(words string) string {
	return secrets.ReplaceAllString(s.keys.Text(words), keyMark)
}

// quotable is s as one line of at most MaxQuote bytes of valid UTF-8.
func quotable(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= MaxQuote {
		return s
	}
	cut := MaxQuote - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
