package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectLimit bounds the way to a server, until it can be sent something.
const connectLimit = 10 * time.Second

// remote is the transport of a server that is reached over HTTP, and the end of
// its connections. large answers have their place in in; long is told of one that is too long.
func remote(s Server, in *intake, long func()) (sdk.Transport, func(), error) {
	endpoint, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, errors.New("its address cannot be read")
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DialContext = (&net.Dialer{Timeout: connectLimit}).DialContext
	base.TLSHandshakeTimeout = connectLimit
	client := &http.Client{
		Transport: wire{base: base, endpoint: endpoint, headers: s.Headers, in: in, long: long},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if !sameOrigin(req.URL, endpoint) || len(via) >= 5 {
				return fmt.Errorf("it leads elsewhere, to %s", req.URL.Host)
			}
			return nil
		},
	}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxAnswerBytes}, base.CloseIdleConnections, nil
}

// wire sends a server's headers along, to its own host alone, and bounds what
// it answers.
type wire struct {
	base     http.RoundTripper
	endpoint *url.URL
	headers  map[string]string
	in       *intake
	long     func()
}

// RoundTrip does one request.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if !sameOrigin(req.URL, w.endpoint) {
		return nil, errors.New("requests go to the configured address alone")
	}
	req = req.Clone(req.Context())
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if known, ok := req.Context().Value(statusKey{}).(*status); ok {
		known.code.Store(int32(resp.StatusCode))
	}
	// A stream of events may be as long as the connection: each event in it is
	// bounded.
	read := oneMessage
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		read = events
	}
	resp.Body = read(resp.Body, newPlace(req.Context(), w.in), w.long)
	return resp, nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// status is with which status of HTTP a call was answered last.
type status struct{ code atomic.Int32 }

type statusKey struct{}

// of is a context of which the requests note it.
func (s *status) of(ctx context.Context) context.Context {
	return context.WithValue(ctx, statusKey{}, s)
}

// failure is the status where it says that the call failed; empty: it does not.
func (s *status) failure() string {
	code := int(s.code.Load())
	if code < http.StatusMultipleChoices {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}
