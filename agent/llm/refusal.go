package llm

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// maxRefusal bounds what is read of an answer that is none, in bytes.
const maxRefusal = 64 << 10

// bounded is a transport that ends the bodies of answers without success: some
// servers and proxies say all that they have to, and leave the socket open.
type bounded struct {
	http.RoundTripper
	linger time.Duration // from the header to the body's end
}

// RoundTrip implements http.RoundTripper.
func (t bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode >= 300) {
		resp.Body = newRefusal(resp.Body, t.linger)
	}
	return resp, err
}

// refusal is a body of at most maxRefusal bytes that ends in time, with what has
// come by then.
type refusal struct {
	in    io.Reader
	body  io.Closer
	timer *time.Timer
	late  atomic.Bool
}

func newRefusal(body io.ReadCloser, linger time.Duration) *refusal {
	r := &refusal{in: io.LimitReader(body, maxRefusal), body: body}
	r.timer = time.AfterFunc(linger, func() {
		r.late.Store(true)
		_ = body.Close() // what came of it is there
	})
	return r
}

// Read implements io.Reader.
func (r *refusal) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && r.late.Load() {
		err = io.EOF
	}
	return n, err
}

// Close implements io.Closer.
func (r *refusal) Close() error {
	r.timer.Stop()
	return r.body.Close()
}
