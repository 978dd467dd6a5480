package llm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"offcut/agent"
)

// The policy of retries: a request is sent again after 429, after any 5xx and
// after a connection that failed before an answer.
const (
	// MaxRetries is how often one request is sent again.
	MaxRetries = 10
	// MaxRetryAfter is the longest wait that a server may ask for. A longer
	// one ends the turn, because nobody waits for it in front of a screen.
	MaxRetryAfter = 10 * time.Minute

	firstWait = 500 * time.Millisecond // doubled with each try
	maxWait   = 32 * time.Second
	jitter    = 0.25 // of the wait, both ways, so that sessions do not come back together
)

type hookKey struct{}

// WithRetryHook returns a context whose requests tell hook before each wait,
// with a way to end it. hook is called from the goroutine that sends the request.
func WithRetryHook(ctx context.Context, hook func(agent.Retry)) context.Context {
	if hook == nil {
		return ctx
	}
	return context.WithValue(ctx, hookKey{}, hook)
}

// CountRetries counts beside the hook, which may be nil: retries is how often the
// request of that context was sent again so far.
func CountRetries(ctx context.Context, hook func(agent.Retry)) (counted context.Context, retries func() int) {
	n := 0
	counted = WithRetryHook(ctx, func(r agent.Retry) {
		n = r.Attempt
		if hook != nil {
			hook(r)
		}
	})
	return counted, func() int { return n }
}

// Transport sends requests and sends them again where the server was busy or
// could not be reached. When the tries are used up, the last answer is passed
// on as it came. A cancelled context ends a wait at once, and so does whoever was
// told of it.
type Transport struct {
	base   http.RoundTripper
	now    func() time.Time
	wait   func(attempt int) time.Duration
	linger time.Duration // for the body of a refusal
}

// NewTransport returns a Transport over base; nil: a pooled transport of its
// own, made for streams.
func NewTransport(base http.RoundTripper) *Transport {
	if base == nil {
		base = newBase()
	}
	return &Transport{base: base, now: time.Now, wait: Backoff, linger: LingerLimit}
}

func newBase() *http.Transport {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		// A model may think before its first byte; a server that is silent for
		// longer than this is gone.
		ResponseHeaderTimeout: 10 * time.Minute,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		// A compressed stream comes in blocks, not as it is written.
		DisableCompression: true,
	}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	wrapped, err := retryablehttp.FromRequest(req)
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", req.URL.Host, err)
	}
	try := &attempt{transport: t, ctx: req.Context()}
	client := &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     bounded{t.base, t.linger},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:     MaxRetries,
		CheckRetry:   try.check,
		Backoff:      try.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return client.Do(wrapped)
}

// attempt follows one request through its tries.
type attempt struct {
	transport *Transport
	ctx       context.Context
	reason    string
	unreached bool        // the last try had no answer
	last      atomic.Bool // no other try is made
	tries     int
}

// check decides whether another try makes sense.
func (a *attempt) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	a.tries++
	a.unreached = err != nil
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if a.last.Load() {
		return false, err
	}
	if err != nil {
		a.reason = "The model's server could not be reached."
		// The library's own policy knows the failures that no try mends: a bad
		// certificate, an unknown scheme, an invalid header.
		return retryablehttp.DefaultRetryPolicy(ctx, nil, err)
	}
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < 500 {
		return false, nil
	}
	if after, ok := RetryAfter(resp.Header, a.transport.now()); ok && after > MaxRetryAfter {
		return false, nil
	}
	a.reason = answered(resp.StatusCode)
	if a.tries <= MaxRetries {
		// Nobody reads it, and the library would wait for its end.
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	return true, nil
}

// answered says with which status the server did, by its name where it has one:
// 529 has none.
func answered(status int) string {
	named := ""
	if text := http.StatusText(status); text != "" {
		named = " (" + strings.ToLower(text) + ")"
	}
	return fmt.Sprintf("The model's server answered %d%s.", status, named)
}

// backoff waits before try n+1, which it announces. It waits itself, because
// the library's wait cannot be ended; for the library nothing is left to wait.
func (a *attempt) backoff(_, _ time.Duration, n int, resp *http.Response) time.Duration {
	wait := a.transport.wait(n)
	if resp != nil {
		if after, ok := RetryAfter(resp.Header, a.transport.now()); ok {
			wait = after
		}
	}
	now := make(chan struct{})
	if hook, ok := a.ctx.Value(hookKey{}).(func(agent.Retry)); ok {
		end := sync.OnceFunc(func() { close(now) })
		hook(agent.Retry{
			Attempt: n + 1, Most: MaxRetries, Wait: wait, Reason: a.reason, Unreached: a.unreached,
			Now: end, Last: func() { a.last.Store(true); end() },
		})
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-now:
	case <-a.ctx.Done():
	}
	return 0
}

// Backoff is the wait before retry n, counted from 0, where the server names
// none: 500 ms × 2ⁿ, at most 32 s, with 25 % of chance both ways within that
// bound.
func Backoff(n int) time.Duration {
	wait := maxWait
	if n < 7 { // 500 ms × 2⁶ is the bound already
		wait = firstWait << n
	}
	wait = time.Duration(float64(wait) * (1 - jitter + 2*jitter*rand.Float64()))
	return min(wait, maxWait)
}

// RetryAfter reads the header of that name, which holds seconds or an HTTP
// date. A date that has passed is a wait of zero; false: there is no header
// that can be understood.
func RetryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if seconds < 0 || math.IsNaN(seconds) {
			return 0, false
		}
		// Beyond a century the number of nanoseconds would not fit.
		return time.Duration(min(seconds, 3e9) * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}
