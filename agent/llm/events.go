package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// How long a stream may be silent.
const (
	// StallLimit is for a model that thinks without a sign of life. Keep-alive
	// comments count as signs.
	StallLimit = 10 * time.Minute
	// LingerLimit is for what may follow the reason why a reply ended, such as
	// its usage. Some servers leave the socket open instead.
	LingerLimit = 3 * time.Second
)

const (
	// maxEvent bounds one event, and a whole answer that is no stream, in bytes.
	maxEvent = 32 << 20
	// maxStray bounds what is kept of an answer that is no stream, in bytes. It
	// is more than is quoted, so that a key is not cut before it is taken out.
	maxStray = 4 << 10
)

var errEventTooLarge = errors.New("an event of the stream is too large")

// WriteEvent appends an event to out in the form that a provider's library
// reads. name is empty where the event has none; payload is one line that is
// not empty.
type WriteEvent func(out, name, payload []byte) []byte

// EventReader is a server-sent event stream in one strict form: each event as
// WriteEvent writes it, and nothing else. Below it may be any form that is
// found in the field: comments, other fields, CRLF, data without a space or
// over several lines, a last event without its blank line, or one JSON document
// that is no stream at all.
//
// It also watches for silence: a stream that stalls is closed.
type EventReader struct {
	body    io.ReadCloser
	in      *bufio.Reader
	write   WriteEvent
	name    []byte // of the event that is being read
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

// NewEventReader reads the events of body, which is closed where nothing comes
// for as long as stall. linger is what LingerFrom makes of that.
func NewEventReader(body io.ReadCloser, stall, linger time.Duration, write WriteEvent) *EventReader {
	r := &EventReader{body: body, write: write, linger: linger}
	r.limit.Store(int64(stall))
	r.timer = time.AfterFunc(stall, func() {
		r.stalled.Store(true)
		_ = body.Close()
	})
	r.in = bufio.NewReader(watched{r})
	return r
}

// watched is the body, whose every byte is a sign of life.
type watched struct{ r *EventReader }

func (w watched) Read(p []byte) (int, error) {
	n, err := w.r.body.Read(p)
	w.r.timer.Reset(time.Duration(w.r.limit.Load()))
	return n, err
}

// Stalled reports whether the stream was closed because nothing came.
func (r *EventReader) Stalled() bool { return r.stalled.Load() }

// Stray is the beginning of what came instead of events.
func (r *EventReader) Stray() []byte { return r.stray }

// LingerFrom shortens the wait to what may follow the reason why a reply ended.
func (r *EventReader) LingerFrom() {
	if r.limit.Swap(int64(r.linger)) != int64(r.linger) {
		r.timer.Reset(r.linger)
	}
}

// Close ends the stream.
func (r *EventReader) Close() error {
	r.timer.Stop()
	return r.body.Close()
}

// Read implements io.Reader. It returns as soon as one event is there.
func (r *EventReader) Read(p []byte) (int, error) {
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
func (r *EventReader) next() {
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
func (r *EventReader) isDocument() bool {
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

func (r *EventReader) readDocument() {
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
func (r *EventReader) readLine() ([]byte, error) {
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
func (r *EventReader) field(line []byte) {
	if name, ok := bytes.CutPrefix(line, []byte("event:")); ok {
		r.name = append(r.name[:0], bytes.TrimSpace(name)...)
		return
	}
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
	for _, name := range []string{"id:", "retry:", "data"} {
		if bytes.HasPrefix(line, []byte(name)) {
			return true
		}
	}
	return false
}

// dispatch moves a complete event into out and reports whether there was one.
func (r *EventReader) dispatch() bool {
	if r.err != nil {
		return true
	}
	payload, name := bytes.TrimSpace(r.data), r.name
	whole := r.hasData && len(payload) > 0
	if whole {
		for i, b := range payload {
			if b == '\n' || b == '\r' {
				payload[i] = ' '
			}
		}
		r.out = r.write(r.out[:0], name, payload)
	}
	r.data, r.hasData, r.name = r.data[:0], false, r.name[:0]
	return whole
}

// finish passes on an event that lacks its blank line, then err.
func (r *EventReader) finish(err error) {
	r.dispatch()
	if r.err == nil {
		r.err = err
	}
}
