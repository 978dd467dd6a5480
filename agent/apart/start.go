package apart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"offcut/agent/sandbox"
)

// sealer starts the children.
var sealer sandbox.Sealer

// sealed is what a child reports once it is shut in; anything else is why it
// cannot be.
const sealed = "sealed"

// start starts a child that is shut in as far as the machine can. Nothing of
// what it works on is read before.
func (j Job) start(ctx context.Context, in io.Reader, out, note io.Writer, limits Limits) (child *exec.Cmd, err error) {
	_, err = sealer.Start("of work apart", func(namespaces bool) (open, err error) {
		child, open, err = j.launch(ctx, in, out, note, limits, namespaces)
		return open, err
	})
	return child, err
}

// launch starts a child in one way. open is why it cannot be shut in so.
func (j Job) launch(ctx context.Context, in io.Reader, out, note io.Writer, limits Limits, namespaces bool) (child *exec.Cmd, open, err error) {
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _ = report.Close() }()
	work := &held{from: in, known: make(chan struct{})}
	child = exec.CommandContext(ctx, "/proc/self/exe")
	child.Args = []string{childName, j.name, fmt.Sprint(memoryFactor * limits.Memory), fmt.Sprint(limits.seconds()), fmt.Sprint(namespaces)}
	child.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	child.Dir = "/"
	child.Stdin, child.Stdout, child.Stderr = work, out, note
	child.ExtraFiles = []*os.File{reportEnd}
	child.SysProcAttr = sandbox.SealedProcess(namespaces)
	child.WaitDelay = time.Second
	err = child.Start()
	_ = reportEnd.Close()
	if err != nil {
		if namespaces && sandbox.Refuses(err) {
			return nil, err, nil
		}
		return nil, nil, fmt.Errorf("start a child: %w", err)
	}
	said, _ := io.ReadAll(io.LimitReader(report, maxNote)) // its end is the end of what can be known
	work.give = string(said) == sealed
	close(work.known)
	if work.give || len(said) == 0 { // what ended without a word says in its end why
		return child, nil, nil
	}
	_ = child.Wait()
	return nil, errors.New(string(said)), nil
}

// held is what a child works on, which it is given once it is shut in.
type held struct {
	from  io.Reader
	known chan struct{} // closed: it is known whether to give it
	give  bool
}

func (h *held) Read(p []byte) (int, error) {
	<-h.known
	if !h.give {
		return 0, io.EOF
	}
	return h.from.Read(p)
}
