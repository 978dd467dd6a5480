package web

import (
	"io"
	"net/http"
	"time"
)

// What is still read of a body after its request was answered. net/http reads
// up to 256 KiB by itself, and resets the connection of a client that sends
// more: one that writes all of its request before it reads would then never
// see why it was refused.
const (
	unaided  = 256 << 10
	maxDrain = 64 << 20
	mostWait = 5 * time.Second
)

// readOn answers, and then takes in what the handler has left of a long body,
// within the bounds above.
func readOn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.Body
		next.ServeHTTP(w, r)
		if r.ContentLength >= 0 && r.ContentLength <= unaided {
			return
		}
		if r.Header.Get("Expect") != "" {
			return // the client waits for the answer before it sends
		}
		conn := http.NewResponseController(w)
		if conn.Flush() != nil || conn.SetReadDeadline(time.Now().Add(mostWait)) != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, body, maxDrain) // whatever ends it, the answer is sent
	})
}
