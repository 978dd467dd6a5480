package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// launch is a process that is ready to be started.
type launch struct {
	cmd *exec.Cmd
	// started runs once the process does; nil: nothing is left to do.
	started func() error
	// kill ends the process and all that it started.
	kill func()
	// ended reads how the command ended, after the process was waited for.
	// Where the command never began it is an error.
	ended func() (status, error)
	// files are closed when all is over.
	files []io.Closer
}

func (l *launch) close() {
	for _, f := range l.files {
		_ = f.Close()
	}
}

// status is how the command ended, as the way that ran it knows.
type status struct {
	Code   int    `json:"code"`
	Signal int    `json:"signal,omitempty"`
	Error  string `json:"error,omitempty"` // why it never began
}

// inherit makes a pipe of which the process gets one end, as the next file
// descriptor after those it has.
func (l *launch) inherit(processReads bool) (own *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe to a command's sandbox: %w", err)
	}
	own, given := r, w
	if processReads {
		own, given = w, r
	}
	l.cmd.ExtraFiles = append(l.cmd.ExtraFiles, given)
	l.files = append(l.files, own, given)
	return own, nil
}

// content gives the process a file descriptor with a small content to read.
func (l *launch) content(content string) (fd int, err error) {
	w, err := l.inherit(true)
	if err != nil {
		return 0, err
	}
	if _, err := w.WriteString(content); err != nil { // a pipe holds 64 KiB
		return 0, fmt.Errorf("write a file of a command's sandbox: %w", err)
	}
	_ = w.Close()
	return firstExtraFD + len(l.cmd.ExtraFiles) - 1, nil
}

// firstExtraFD is where exec.Cmd puts the first of its ExtraFiles.
const firstExtraFD = 3

// closeGiven closes the server's copies of what the process was given, so that
// a pipe ends when the process does.
func (l *launch) closeGiven() {
	for _, f := range l.cmd.ExtraFiles {
		_ = f.Close()
	}
}

// devNull is the standard input of every command: it reads the end of file.
func devNull() (*os.File, error) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("open the empty input of a command: %w", err)
	}
	return f, nil
}
