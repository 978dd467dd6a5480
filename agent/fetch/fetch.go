package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"offcut/agent"
)

const (
	// MaxBytes is how much of an answer is read, unpacked: as much as is kept
	// of a result.
	MaxBytes = 8 << 20
	// DefaultTimeout bounds one fetch with all its redirects.
	DefaultTimeout = 30 * time.Second
	maxRedirects   = 10
	dialTimeout    = 10 * time.Second
	maxHeader      = 64 << 10
)

// fetching bounds the fetches at a time: each may hold an answer in memory, and
// have a page of HTML read.
var fetching = agent.PlaceLimits{What: "fetches", PerUser: 4, All: 12, Patience: 20 * time.Second}

// Config is what a Fetcher works with. The zero value fetches from the public
// internet.
type Config struct {
	// Allow are hosts, addresses and networks that may be reached although they
	// are internal.
	Allow []string
	// Timeout bounds one fetch; 0: DefaultTimeout.
	Timeout time.Duration
	// Resolver finds the addresses of names; nil: the system's.
	Resolver *net.Resolver
	// Agent is what servers are told of who asks.
	Agent string
	// TLS says which certificates are believed; nil: those that the system does.
	TLS *tls.Config
}

// Fetcher fetches pages. It keeps nothing between two of them: no cookie, no
// connection, no cache.
type Fetcher struct {
	guard   guard
	client  *http.Client
	timeout time.Duration
	agent   string
	running *agent.Places
}

// New makes a Fetcher. A proxy that the environment names is not used: it would
// reach what the server may not.
func New(cfg Config) (*Fetcher, error) {
	g, err := newGuard(cfg.Allow)
	if err != nil {
		return nil, fmt.Errorf("what may be fetched: %w", err)
	}
	f := &Fetcher{guard: g, timeout: cfg.Timeout, agent: cfg.Agent, running: agent.NewPlaces(fetching)}
	if f.timeout == 0 {
		f.timeout = DefaultTimeout
	}
	f.client = &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialer := net.Dialer{Timeout: dialTimeout, Resolver: cfg.Resolver, Control: g.control(dialHost(address))}
				return dialer.DialContext(ctx, network, address)
			},
			TLSClientConfig:        cfg.TLS,
			TLSHandshakeTimeout:    dialTimeout,
			DisableKeepAlives:      true, // each connection is checked
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: f.redirect,
	}
	return f, nil
}

// redirect checks where a server sends on to.
func (f *Fetcher) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return refusef("it was redirected more than %d times", maxRedirects)
	}
	u, err := f.guard.address(req.URL.String())
	var why Refused
	if errors.As(err, &why) {
		return refusef("it redirects to an address that is not fetched: %s", why)
	}
	if err != nil {
		return err
	}
	req.URL = u
	req.Header.Del("Referer") // of no concern to others
	return nil
}

// Answer is what a server answered, unread: Raw is bounded.
type Answer struct {
	URL         *url.URL // after all redirects
	Redirected  bool
	Status      string // such as 200 OK
	ContentType string // as the server wrote it
	Raw         []byte
	// Cut is why Raw is not all of it; empty: it is.
	Cut string
	// Packed is how Raw is still packed, such as br; empty: it is not.
	Packed string
	// Length is what the server said of the length; -1: nothing.
	Length int64
}

// Fetch fetches an address for a user and makes the text of what was answered,
// which can take more memory and time than to get it: it has its place until
// both are done. Any status is an answer. What the model can mend is Refused;
// where too many fetches run already it is models.ErrLimited.
func (f *Fetcher) Fetch(ctx context.Context, asker, address string, whole bool) (Answer, Text, error) {
	u, err := f.guard.address(address)
	if err != nil {
		return Answer{}, Text{}, err
	}
	leave, err := f.running.Enter(ctx, asker)
	if err != nil {
		return Answer{}, Text{}, err
	}
	defer leave()
	answer, err := f.get(ctx, u)
	if err != nil {
		return Answer{}, Text{}, err
	}
	text, err := answer.read(ctx, whole)
	return answer, text, err
}

// get fetches an address, with what can be read of the answer.
func (f *Fetcher) get(ctx context.Context, u *url.URL) (Answer, error) {
	timed, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, http.MethodGet, u.String(), nil)
	if err != nil {
		return Answer{}, refusef("it is no address of the web")
	}
	req.Header.Set("User-Agent", f.agent)
	req.Header.Set("Accept", "text/html, application/json, text/*;q=0.9, */*;q=0.5")
	answer, err := f.client.Do(req)
	if err != nil {
		return Answer{}, f.told(ctx, timed, err)
	}
	defer func() { _ = answer.Body.Close() }()
	out := Answer{
		URL: answer.Request.URL, Redirected: answer.Request.URL.String() != u.String(),
		Status: oneLine(answer.Status), ContentType: oneLine(answer.Header.Get("Content-Type")), Length: answer.ContentLength,
	}
	// What was asked for is unpacked by the client, which takes this header away.
	if packed := answer.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		out.Packed = oneLine(packed)
	}
	out.Raw, err = io.ReadAll(io.LimitReader(answer.Body, MaxBytes+1))
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case len(out.Raw) > MaxBytes:
		out.Raw, out.Cut = out.Raw[:MaxBytes], fmt.Sprintf("only its first %d bytes were read", MaxBytes)
	case err != nil && timed.Err() != nil:
		out.Cut = fmt.Sprintf("it had not come whole after %s: its first %d bytes were read", f.timeout, len(out.Raw))
	case err != nil:
		out.Cut = fmt.Sprintf("the connection broke: its first %d bytes were read", len(out.Raw))
	}
	return out, nil
}

// told says of a failed request what the model can use, and nothing of this
// server's network.
func (f *Fetcher) told(ctx, timed context.Context, err error) error {
	var why Refused
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &why):
		return why
	case timed.Err() != nil:
		return refusef("the server did not answer within %s", f.timeout)
	case errors.As(err, &dns) && dns.IsNotFound:
		return refusef("there is no host of that name")
	case errors.As(err, &dns):
		return refusef("the name of its host could not be looked up now")
	case errors.As(err, &certificate):
		return refusef("the server's certificate is not valid")
	}
	var failed *net.OpError
	if errors.As(err, &failed) && failed.Op == "dial" {
		return refusef("the server could not be connected to")
	}
	return refusef("the server did not answer as HTTP does, or closed the connection")
}
