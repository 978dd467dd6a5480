// Package openai speaks to any server that offers OpenAI's chat completions:
// OpenAI itself, Ollama, vLLM, llama.cpp, OpenRouter, DeepSeek and others. It
// is the only package that knows go-openai. Servers bend the protocol in many
// ways; what they send is straightened out here, so that the loop sees one
// form only.
package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"offcut/agent"
	"offcut/agent/llm"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says where a model is.
type Config struct {
	// BaseURL ends before /chat/completions; empty: DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token; empty: none is sent.
	APIKey string
	// Model is asked where a request names none.
	Model string
	// MaxOutputTokens bounds one reply; 0: the server's own bound.
	MaxOutputTokens int
	// OmitReasoning leaves earlier reasoning out of requests, for servers that
	// refuse the field.
	OmitReasoning bool
	// HTTPClient sends the requests; nil: one that retries as package llm does.
	HTTPClient *http.Client
}

// Client is an agent.Model. It is safe for concurrent use.
type Client struct {
	config Config
	server llm.Server
	http   *http.Client
	linger time.Duration
}

var _ agent.Model = (*Client)(nil)

// New returns a client for cfg. It does not connect.
func New(cfg Config) *Client {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	c := &Client{config: cfg, http: cfg.HTTPClient, linger: llm.LingerLimit}
	c.server = llm.NewServer(cfg.BaseURL, cfg.APIKey)
	if c.http == nil {
		c.http = &http.Client{Transport: llm.NewTransport(nil)}
	}
	return c
}

// Stream implements agent.Model.
func (c *Client) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	hooked, retries := llm.CountRetries(ctx, req.OnRetry)
	door := &exchange{client: c.http, linger: c.linger, fillReasoning: c.lacksReasoning(req.Messages)}
	config := openai.DefaultConfig(c.config.APIKey)
	config.BaseURL = strings.TrimRight(c.config.BaseURL, "/")
	config.HTTPClient = door

	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(hooked, c.request(req))
	if err != nil {
		if ctx.Err() != nil {
			return agent.Reply{}, ctx.Err()
		}
		refused := c.requestError(err, door.header, retries())
		refused.Answer = string(door.refusal)
		return agent.Reply{}, refused
	}
	defer func() { _ = stream.Close() }()
	return c.receive(ctx, stream, door.events, emit)
}

// receive reads the stream to its end.
func (c *Client) receive(ctx context.Context, stream *openai.ChatCompletionStream, events *llm.EventReader, emit func(agent.Delta)) (agent.Reply, error) {
	asm := newAssembler(emit)
	for {
		raw, err := stream.RecvRaw()
		if err == nil {
			if err = asm.add(raw); err == nil {
				if asm.finished() {
					events.LingerFrom()
				}
				continue
			}
		}
		reply := asm.reply()
		switch {
		case ctx.Err() != nil:
			return reply, ctx.Err()
		case asm.finished() && !llm.IsProviderError(err):
			// The provider has said why it ended: whatever became of the
			// socket after that takes nothing away.
			return reply, nil
		}
		return reply, c.server.Broken(err, events, asm.began())
	}
}

// exchange carries one request and remembers what go-openai does not hand on:
// the answer's header, and the reader under the stream.
type exchange struct {
	client        *http.Client
	linger        time.Duration
	fillReasoning bool // see withReasoning
	header        http.Header
	refusal       []byte // the body of an answer with an error's status
	events        *llm.EventReader
}

// Do implements go-openai's HTTPDoer.
func (e *exchange) Do(req *http.Request) (*http.Response, error) {
	if e.fillReasoning {
		if err := rewriteBody(req, withReasoning); err != nil {
			return nil, err
		}
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	e.header = resp.Header
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		e.refusal, _ = io.ReadAll(resp.Body) // as far as it came; the transport bounds it
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(e.refusal))
		return resp, nil
	}
	e.events = newEventReader(resp.Body, llm.StallLimit, e.linger)
	resp.Body = e.events
	return resp, nil
}

// newEventReader gives the stream to go-openai in the form that it reads: one
// "data: …" line for each event.
func newEventReader(body io.ReadCloser, stall, linger time.Duration) *llm.EventReader {
	return llm.NewEventReader(body, stall, linger, func(out, _, payload []byte) []byte {
		out = append(out, "data: "...)
		if bytes.HasPrefix(payload, []byte(`{"error":`)) {
			// go-openai would swallow an event that begins so and wait for the
			// line after it, which may never come.
			out, payload = append(out, "{ "...), payload[1:]
		}
		return append(append(out, payload...), '\n')
	})
}
