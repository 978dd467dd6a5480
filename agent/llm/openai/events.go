package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

const (
	// maxEvent bounds one event, and a whole answer that is no stream, in bytes.
	maxEvent = 32 << 20
	// maxStray bounds what is kept of an answer that is no stream, in bytes. It
	// is more than is quoted, so that a key is not cut before it is taken out.
	maxStray = 4 << 10
)

var errEventTooLarge = errors.New("an event of the stream is too large")

// eventReader is a server-sent event stream in one strict form: one
// "data: …\n" line for each event and nothing else. Below it may be any form
// that is found in the field: comments, other fields, CRLF, data without a
// space or over several lines, a last event without its blank line, or one
// JSON document that is no stream at all.
//
// It also watches for silence: a stream that stalls is closed.
type eventReader struct {
	body    io.ReadCloser
	in      *bufio.Reader
	data    []byte // of the event that is being read
	hasData bool
	out     []byte // canonical bytes that were not read yet
	err     error
	started bool
	// stray is the beginning of what came instead of events, for the error.
	stray []byte

	limit   atomic.Int64 // the longest silence, in nanoseconds
	linger  time.Duration
	timer   *time.Timer
	stalled atomic.Bool
}

func newEventReader(body io.ReadCloser, stall, linger time.Duration) *eventReader {
	r := &eventReader{body: body, linger: linger}
	r.limit.Store(int64(stall))
	r.timer = time.AfterFunc(stall, func() {
		r.stalled.Store(true)
		_ = body.Close()
	})
	r.in = bufio.NewReader(watched{r})
	return r
}

// watched is the body, whose every byte is a sign of life.
type watched struct{ r *eventReader }

func (w watched) Read(p []byte) (int, error) {
	n, err := w.r.body.Read(p)
	w.r.timer.Reset(time.Duration(w.r.limit.Load()))
	return n, err
}

// lingerFrom shortens the wait to what may follow a finish reason.
func (r *eventReader) lingerFrom() {
	if r.limit.Swap(int64(r.linger)) != int64(r.linger) {
		r.timer.Reset(r.linger)
	}
}

// Close ends the stream.
func (r *eventReader) Close() error {
	r.timer.Stop()
	return r.body.Close()
}

// Read implements io.Reader. It returns as soon as one event is there.
func (r *eventReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.next()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// next reads until an event is complete, or sets err.
func (r *eventReader) next() {
	if !r.started {
		r.started = true
		if r.isDocument() {
			r.readDocument()
			return
		}
	}
	for {
		line, err := r.readLine()
		if err != nil && len(line) == 0 {
			r.finish(err)
			return
		}
		if len(line) == 0 {
			if r.dispatch() {
				return
			}
			continue
		}
		r.field(line)
		if err != nil {
			r.finish(err)
			return
		}
	}
}

// isDocument looks at the first byte that says something: an event stream
// never begins with a brace.
func (r *eventReader) isDocument() bool {
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return false
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // the last three are a byte order mark
			continue
		}
		_ = r.in.UnreadByte()
		return b == '{'
	}
}

func (r *eventReader) readDocument() {
	body, err := io.ReadAll(io.LimitReader(r.in, maxEvent+1))
	switch {
	case len(body) > maxEvent:
		r.err = errEventTooLarge
		return
	case err == nil:
		err = io.EOF
	}
	r.data, r.hasData = body, true
	r.finish(err)
}

// readLine is the next line without its end, which is LF, CRLF or CR LF in
// parts. A last line without an end comes together with the error.
func (r *eventReader) readLine() ([]byte, error) {
	var long []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if err == nil && long == nil {
			return trimEnd(part), nil
		}
		long = append(long, part...)
		if len(long) > maxEvent {
			return nil, errEventTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return trimEnd(long), err
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimRight(line, "\r\n")
}

// field takes one line that is not empty.
func (r *eventReader) field(line []byte) {
	value, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		if line[0] != ':' && !knownField(line) && len(r.stray) < maxStray {
			r.stray = append(append(r.stray, line[:min(len(line), maxStray)]...), '\n')
		}
		return
	}
	if r.hasData {
		// Several data lines are one value. It is JSON, where a space serves
		// as well as the line break that would end our own line.
		r.data = append(r.data, ' ')
	}
	r.hasData = true
	r.data = append(r.data, value...)
	if len(r.data) > maxEvent {
		r.data, r.err = nil, errEventTooLarge
	}
}

func knownField(line []byte) bool {
	for _, name := range []string{"event:", "id:", "retry:", "data"} {
		if bytes.HasPrefix(line, []byte(name)) {
			return true
		}
	}
	return false
}

// dispatch moves a complete event into out and reports whether there was one.
func (r *eventReader) dispatch() bool {
	if r.err != nil {
		return true
	}
	payload := bytes.TrimSpace(r.data)
	if !r.hasData || len(payload) == 0 {
		r.data, r.hasData = r.data[:0], false
		return false
	}
	r.out = append(r.out[:0], "data: "...)
	if bytes.HasPrefix(payload, []byte(`{"error":`)) {
		// go-openai would swallow an event that begins so and wait for the
		// line after it, which may never come.
		r.out, payload = append(r.out, "{ "...), payload[1:]
	}
	start := len(r.out)
	r.out = append(r.out, payload...)
	for i := start; i < len(r.out); i++ {
		if r.out[i] == '\n' || r.out[i] == '\r' {
			r.out[i] = ' '
		}
	}
	r.out = append(r.out, '\n')
	r.data, r.hasData = r.data[:0], false
	return true
}

// finish passes on an event that lacks its blank line, then err.
func (r *eventReader) finish(err error) {
	r.dispatch()
	if r.err == nil {
		r.err = err
	}
}
