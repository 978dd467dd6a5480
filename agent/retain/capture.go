package retain

import (
	"errors"
	"io"
	"sync"
)

// A Capture takes the two streams of a command as they come. It holds of each
// the first 6 MiB and the last 2 MiB, and the order in which they were read,
// in at most 19 MiB of memory whatever the command prints.
type Capture struct {
	mu    sync.Mutex
	tapes [2]tape
	order order
	// named: the streams are those of a command, and gaps say which they are in.
	named bool
	// wrote is told, without waiting, that there is something new; nil: nobody.
	wrote chan<- struct{}
}

// NewCapture makes a Capture for a command.
func NewCapture() *Capture { return &Capture{order: newOrder(), named: true} }

// captureText captures what an ordinary tool returned.
func captureText(text string) *Capture {
	c := &Capture{order: newOrder()}
	w := captureWriter{c, Stdout}
	for len(text) > 0 {
		n := min(len(text), blockBytes)
		_, _ = w.Write([]byte(text[:n])) // never fails
		text = text[n:]
	}
	return c
}

// Writer takes one stream, from one goroutine. It never fails.
func (c *Capture) Writer(s Stream) io.Writer { return captureWriter{c, s} }

// Bytes is how much came, of both streams together.
func (c *Capture) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total()
}

func (c *Capture) total() int64 { return c.tapes[Stdout].total + c.tapes[Stderr].total }

type captureWriter struct {
	capture *Capture
	stream  Stream
}

func (w captureWriter) Write(p []byte) (int, error) {
	w.capture.mu.Lock()
	defer w.capture.mu.Unlock()
	for rest := p; len(rest) > 0; {
		n := copy(w.capture.tapes[w.stream].space(), rest)
		w.capture.took(w.stream, n)
		rest = rest[n:]
	}
	return len(p), nil
}

// ReadFrom reads a stream to its end, straight into the memory that holds it:
// what is overwritten later was never copied.
func (w captureWriter) ReadFrom(r io.Reader) (int64, error) {
	c := w.capture
	var read int64
	for {
		c.mu.Lock()
		space := c.tapes[w.stream].space()
		c.mu.Unlock()
		// Nobody looks at this space before took says how much of it counts.
		n, err := r.Read(space)
		c.mu.Lock()
		c.took(w.stream, n)
		c.mu.Unlock()
		read += int64(n)
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// took counts n bytes that were put into the space of a stream.
func (c *Capture) took(s Stream, n int) {
	if n <= 0 {
		return
	}
	t := &c.tapes[s]
	t.advance(n)
	c.order.add(s, n, t.unfinished())
	c.order.compact(func(s Stream) (int64, int64) { return c.tapes[s].lost() })
	select {
	case c.wrote <- struct{}{}:
	default:
	}
}
