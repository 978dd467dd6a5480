// Package anthropic speaks Anthropic's Messages API. It is the only package
// that knows its SDK.
package anthropic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
	lru "github.com/hashicorp/golang-lru/v2"

	"offcut/agent"
	"offcut/agent/llm"
)

// DefaultBaseURL is Anthropic's own address.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxOutputTokens bounds a reply where nothing is configured: the API
// wants a bound, and every model that is served takes this one.
const DefaultMaxOutputTokens = 16_384

// Thinking says whether a model thinks before it answers.
type Thinking string

// The ways to think. The zero value leaves it to the model.
const (
	// ThinkingAdaptive lets the model decide when and how much. Models before
	// Claude 4.6 do not know it.
	ThinkingAdaptive Thinking = "adaptive"
	ThinkingOff      Thinking = "off"
)

// Config says where a model is.
type Config struct {
	// BaseURL ends before /v1/messages; empty: DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token; empty: none is sent.
	APIKey string
	// Model is asked where a request names none.
	Model string
	// MaxOutputTokens bounds one reply with its thinking; 0: what MaxOutput
	// says.
	MaxOutputTokens int
	Thinking        Thinking
	// ThinkingTokens is a budget for thinking, for models that are not adaptive:
	// from 1,024 to less than MaxOutputTokens; 0: none. It replaces Thinking.
	ThinkingTokens int
	// OmitReasoning leaves earlier reasoning out of requests.
	OmitReasoning bool
	// HTTPClient sends the requests; nil: one that retries as package llm does.
	HTTPClient *http.Client
}

// MaxOutput is the bound of one reply, in tokens.
func (c Config) MaxOutput() int {
	if c.MaxOutputTokens > 0 {
		return c.MaxOutputTokens
	}
	return DefaultMaxOutputTokens + c.ThinkingTokens
}

// refusalsKept is of how many replies it is remembered that their thinking was
// refused, at 32 bytes each. One that was forgotten costs a refused request.
const refusalsKept = 10_000

// Client is an agent.Model. It is safe for concurrent use.
type Client struct {
	config Config
	server llm.Server
	http   *http.Client
	// refused are replies whose thinking, and all before it, the provider did not
	// take back: it is not asked with it again.
	refused *lru.Cache[thoughts, struct{}]
}

var _ agent.Model = (*Client)(nil)

// New returns a client for cfg. It does not connect.
func New(cfg Config) *Client {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	// Addresses of other protocols end with it.
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")
	c := &Client{config: cfg, http: cfg.HTTPClient}
	c.refused, _ = lru.New[thoughts, struct{}](refusalsKept) // fails for a size below 1 alone
	c.server = llm.NewServer(cfg.BaseURL, cfg.APIKey)
	if c.http == nil {
		c.http = &http.Client{Transport: llm.NewTransport(nil)}
	}
	return c
}

// Stream implements agent.Model. Where the provider does not take back the
// thinking of earlier replies, the request is sent once more without it.
func (c *Client) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) (agent.Reply, error) {
	o := c.outline(req)
	reply, err := c.send(ctx, req, o, emit)
	if o.sendsThoughts && refusedThoughts(err) {
		c.refused.Add(o.newest, struct{}{})
		return c.send(ctx, req, c.outline(req), emit)
	}
	return reply, err
}

// thoughtWords are how the API says that it does not take back a block of
// thinking: it is of another account or conversation, or was changed.
var thoughtWords = regexp.MustCompile(`(?i)thinking.{0,40}\bblock|signature.{0,20}thinking|block_binding`)

func refusedThoughts(err error) bool {
	var refused *agent.ModelError
	return errors.As(err, &refused) && refused.Status == http.StatusBadRequest && thoughtWords.MatchString(refused.Message)
}

// send sends one request and reads its answer.
func (c *Client) send(ctx context.Context, req agent.Request, o outline, emit func(agent.Delta)) (agent.Reply, error) {
	hooked, retries := llm.CountRetries(ctx, req.OnRetry)
	door := &exchange{client: c.http}
	// The service alone, and not the SDK's client: that reads the environment.
	service := anthropic.NewMessageService(c.options(door)...)
	stream := service.NewStreaming(hooked, c.request(req, o))
	defer func() { _ = stream.Close() }()
	if door.events == nil {
		if ctx.Err() != nil {
			return agent.Reply{}, ctx.Err()
		}
		return agent.Reply{}, c.requestError(stream.Err(), retries())
	}
	return c.receive(ctx, stream, door.events, newAssembler(o, emit))
}

func (c *Client) options(door *exchange) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.config.BaseURL),
		option.WithHTTPClient(door),
		option.WithMaxRetries(0), // the transport retries
	}
	if c.config.APIKey != "" {
		options = append(options, option.WithAPIKey(c.config.APIKey))
	}
	return options
}

// receive reads the stream to its end.
func (c *Client) receive(ctx context.Context, stream *ssestream.Stream[anthropic.MessageStreamEventUnion], events *llm.EventReader, asm *assembler) (agent.Reply, error) {
	for !asm.stopped && stream.Next() {
		asm.add(stream.Current())
		if asm.finished() {
			events.LingerFrom()
		}
	}
	reply, err := asm.reply(), reported(stream.Err())
	switch {
	case ctx.Err() != nil:
		return reply, ctx.Err()
	case asm.finished() && !llm.IsProviderError(err):
		// The provider has said why it ended: whatever became of the socket
		// after that takes nothing away.
		err := asm.brokeOff()
		if err != nil {
			reply.FinishReason = "" // it is not finished
		}
		return reply, err
	case err == nil:
		err = io.EOF
	}
	return reply, c.server.Broken(err, events, asm.began())
}
