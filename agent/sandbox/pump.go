package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pipeBytes lets a command print in fewer switches between it and the server
// than the usual 64 KiB, and one read takes all of it. Much larger pipes cost
// more than they save: what is in them falls out of the processor's cache.
const pipeBytes = 256 << 10

var readBuffers = sync.Pool{New: func() any { return new([pipeBytes]byte) }}

// pumps carry what a command prints to its writers, one goroutine per stream,
// so that neither stream can block the other.
type pumps struct {
	readers, writers []*os.File
	done             sync.WaitGroup
}

// connect gives cmd its two output pipes; a nil writer is /dev/null.
func connect(cmd *exec.Cmd, stdout, stderr io.Writer) (*pumps, error) {
	p := &pumps{}
	for _, stream := range []struct {
		to   io.Writer
		slot *io.Writer
	}{{stdout, &cmd.Stdout}, {stderr, &cmd.Stderr}} {
		if stream.to == nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			p.closeWriters()
			p.finish(0)
			return nil, fmt.Errorf("make the output pipe of a command: %w", err)
		}
		// A smaller pipe works too, only slower.
		_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, pipeBytes)
		p.readers, p.writers = append(p.readers, r), append(p.writers, w)
		*stream.slot = w
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			pump(r, stream.to)
		}()
	}
	return p, nil
}

// pump copies until the pipe ends, or its deadline passes. What w does with
// the bytes is its own affair: a command is never held up by an error of it.
func pump(r io.Reader, w io.Writer) {
	buf := readBuffers.Get().(*[pipeBytes]byte)
	defer readBuffers.Put(buf)
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			_, _ = w.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// closeWriters closes the server's own copies of the ends that the command
// writes to, so that the pipes can end.
func (p *pumps) closeWriters() {
	for _, w := range p.writers {
		_ = w.Close()
	}
	p.writers = nil
}

// finish reads what is still in the pipes, for at most the given time.
func (p *pumps) finish(most time.Duration) {
	for _, r := range p.readers {
		_ = r.SetReadDeadline(time.Now().Add(most))
	}
	p.done.Wait()
	for _, r := range p.readers {
		_ = r.Close()
	}
}

// head passes a stream on and remembers its first bytes: where a sandbox could
// not be set up they are what it said of that.
type head struct {
	to    io.Writer
	first []byte
}

const headBytes = 500

func (h *head) Write(p []byte) (int, error) {
	if room := headBytes - len(h.first); room > 0 {
		h.first = append(h.first, p[:min(room, len(p))]...)
	}
	if h.to == nil {
		return len(p), nil
	}
	return h.to.Write(p)
}

func (h *head) String() string {
	if len(h.first) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q)", h.first)
}
