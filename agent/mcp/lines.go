package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A stream hands on what next gives it, until its error. Whoever reads it may
// leave at any time: with its end, and when it is closed, no place is taken by it.
type stream struct {
	from  io.Closer
	place *place
	next  func() ([]byte, error) // valid until the next call
	ended func()                 // is told of the end; nil: nobody wants to know
	rest  []byte
	err   error
}

// Read reads of what next gave.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if s.rest, s.err = s.next(); s.err != nil {
			s.end()
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) end() {
	s.place.close()
	if s.ended != nil {
		s.ended()
	}
}

// Close may be called while somebody reads.
func (s *stream) Close() error {
	s.place.close()
	return s.from.Close()
}

// A lineReader reads whole lines. Of one that is longer than an answer may be it
// reads pieces.
type lineReader struct {
	from   *bufio.Reader
	place  *place
	buffer []byte
	inside bool // a line of which a piece was read
}

// keptBuffer is how much memory is held for the next line.
const keptBuffer = 1 << 20

// next is the next line with its end, if it has one, and whether it is whole.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	if cap(l.buffer) > keptBuffer {
		l.buffer = nil
	}
	l.buffer = l.buffer[:0]
	l.place.done()
	for {
		var part []byte
		part, err = l.from.ReadSlice('\n')
		l.buffer = append(l.buffer, part...)
		if failed := l.place.hold(len(l.buffer)); failed != nil {
			return nil, false, failed
		}
		full := errors.Is(err, bufio.ErrBufferFull)
		if full && len(l.buffer) < maxAnswerBytes {
			continue
		}
		whole = !l.inside && !full
		l.inside = full
		if full {
			err = nil
		}
		return l.buffer, whole, err
	}
}

// messages are the lines of a program's output that can be messages, as the
// library takes them. Programs greet on their standard output, against the
// protocol; such lines are put with what they write to standard error. What is
// too long goes on as it is, to be refused; long is told of it.
func messages(from io.ReadCloser, noise io.Writer, place *place, long func()) *stream {
	lines := lineReader{from: bufio.NewReader(from), place: place}
	return &stream{from: from, place: place, next: func() ([]byte, error) {
		line, whole, err := lines.next()
		switch {
		case !whole && len(line) > 0 && err == nil:
			place.done() // who is refused it reads no more
			long()
			return line, err
		case !bytes.HasPrefix(line, []byte("{")) && !bytes.HasPrefix(line, []byte("[")):
			_, _ = noise.Write(line)
			return nil, err
		}
		return withEnd(place.mended(bytes.TrimSpace(line))), err
	}}
}

// events are the lines of a stream of events, as the library takes their
// messages.
func events(from io.ReadCloser, place *place, long func()) io.ReadCloser {
	lines := lineReader{from: bufio.NewReader(from), place: place}
	return &stream{from: from, place: place, next: func() ([]byte, error) {
		line, whole, err := lines.next()
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case !whole && len(line) > 0 && err == nil:
			place.done() // who is refused it reads no more
			long()
			return line, err
		case !ok:
			return line, err
		}
		return withEnd(append([]byte("data: "), place.mended(bytes.TrimSpace(data))...)), err
	}}
}

// oneMessage is a body that is a message, as the library takes it.
func oneMessage(from io.ReadCloser, place *place, long func()) io.ReadCloser {
	return &stream{from: from, place: place, next: func() ([]byte, error) {
		message, err := io.ReadAll(io.LimitReader(from, largeBytes+1))
		if err == nil && len(message) > largeBytes {
			if err = place.hold(len(message)); err == nil {
				var rest []byte
				rest, err = io.ReadAll(io.LimitReader(from, maxAnswerBytes+1-int64(len(message))))
				message = append(message, rest...)
			}
		}
		switch {
		case err != nil:
			return nil, err
		case len(message) > maxAnswerBytes:
			long()
			return nil, errLong
		}
		return place.mended(message), io.EOF
	}}
}

var errLong = fmt.Errorf("an answer has more than %d bytes", maxAnswerBytes)

func withEnd(line []byte) []byte { return append(line, '\n') }
