package mcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectLimit bounds the way to a server, until it can be sent something.
const connectLimit = 10 * time.Second

// remote is the transport of a server that is reached over HTTP, and the end of
// its connections.
func remote(s Server) (sdk.Transport, func(), error) {
	endpoint, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, errors.New("its address cannot be read")
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DialContext = (&net.Dialer{Timeout: connectLimit}).DialContext
	base.TLSHandshakeTimeout = connectLimit
	client := &http.Client{
		Transport: wire{base: base, endpoint: endpoint, headers: s.Headers},
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
	// A stream of events may be as long as the connection: each event in it is
	// bounded.
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &limited{resp.Body, maxAnswerBytes}
	}
	return resp, nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// limited is a body that fails where it is longer than it may be.
type limited struct {
	io.ReadCloser
	left int
}

// Read reads at most what is left.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("an answer has more than %d bytes", maxAnswerBytes)
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
