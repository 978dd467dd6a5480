package script

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// The server and the process of a program talk in frames: the length of what
// follows in four bytes, then one JSON value.

// report is what the process tells.
type report struct {
	Kind reportKind `json:"kind"`
	// Text is what was printed, or a sentence; Bytes stands in its place where it
	// holds half of a character, which a text in JSON cannot.
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
	// Of a call. Calls are numbered from 1 in the order in which they are made.
	N         int             `json:"n,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// saying is a report with a text.
func saying(kind reportKind, text string) report {
	if !utf8.ValidString(text) {
		return report{Kind: kind, Bytes: []byte(text)}
	}
	return report{Kind: kind, Text: text}
}

// said is the text of a report.
func (r report) said() string {
	if len(r.Bytes) > 0 {
		return string(r.Bytes)
	}
	return r.Text
}

type reportKind string

// The reports. Ready comes first; done or failed is the last one.
const (
	reportReady  reportKind = "ready"  // it is shut in, and begins
	reportOpen   reportKind = "open"   // it could not be shut in: text says why
	reportPrint  reportKind = "print"  // text was printed
	reportCall   reportKind = "call"   // a tool is to be called
	reportIdle   reportKind = "idle"   // n answers came, and it waits for another one
	reportDone   reportKind = "done"   // it returned
	reportFailed reportKind = "failed" // it threw: text says what
)

// order is what the server tells: first the program, then an answer for each
// call, or why the program has to end.
type order struct {
	Program *program        `json:"program,omitempty"`
	N       int             `json:"n,omitempty"` // of the call that is answered
	Value   json.RawMessage `json:"value,omitempty"`
	Error   string          `json:"error,omitempty"`
	End     string          `json:"end,omitempty"`
}

// program is what a process is to run.
type program struct {
	Code  string   `json:"code"`
	Tools []string `json:"tools"`
	Calls int      `json:"calls"`
	// Memory is where the process ends the program by itself, in bytes.
	Memory     int64 `json:"memory"`
	Namespaces bool  `json:"namespaces"`
}

// maxFrame bounds a frame in either direction, in bytes.
const maxFrame = maxAnswer + 1<<20

// errFrame: a frame is over its bound, and was not written.
var errFrame = fmt.Errorf("at most %d bytes are possible", maxFrame)

func writeFrame(w io.Writer, v any) error {
	var frame bytes.Buffer
	frame.Write(make([]byte, 4)) // the length, once it is known
	encoder := json.NewEncoder(&frame)
	encoder.SetEscapeHTML(false) // nothing here is put into a page, and markup would be several times as long
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	length := frame.Len() - 4
	if length > maxFrame {
		return fmt.Errorf("write a frame of %d bytes: %w", length, errFrame)
	}
	binary.BigEndian.PutUint32(frame.Bytes(), uint32(length))
	_, err := w.Write(frame.Bytes())
	return err
}

// readFrame reads one frame of at most so many bytes. What it takes grows with
// what has come, and not with what was announced.
func readFrame(r io.Reader, most int64, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	length := int64(binary.BigEndian.Uint32(head[:]))
	if length > most {
		return fmt.Errorf("read a frame of %d bytes: at most %d are possible", length, most)
	}
	body, err := io.ReadAll(io.LimitReader(r, length))
	if err != nil {
		return err
	}
	if int64(len(body)) < length {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(body, v)
}
