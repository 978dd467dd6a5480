// Package apart does work on hostile material in a child process, with bounds
// on time, memory and output that hold whatever the material is. The child is
// this program, executed again: it has no environment, no file and no word of
// the server's but what it is given to work on.
package apart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Job is work that can be done apart. It must be made in a variable of a
// package, so that the child knows it too.
type Job struct {
	name string
	do   func(in io.Reader, out io.Writer) error
}

// jobs are all that a child can do, by name.
var jobs = map[string]Job{}

// NewJob makes a job of do, which reads what it works on and writes what comes
// of it. Its error is a text for whoever asked; see Refused.
func NewJob(name string, do func(in io.Reader, out io.Writer) error) Job {
	j := Job{name: name, do: do}
	jobs[name] = j
	return j
}

// Limits bound one run. All must be set.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes that the child may take
	Output int   // bytes of what comes of it
}

// The limits that a run was over. The work is not done then.
var (
	ErrTime   = errors.New("it took too long")
	ErrMemory = errors.New("it took too much memory") // or went too deep
	ErrOutput = errors.New("too much came of it")
)

// Refused is the error that the job itself returned, as text.
type Refused string

func (r Refused) Error() string { return string(r) }

// childName is argument 0 of a child, by which it knows that it is one.
const childName = "offcut-apart"

// The statuses with which a child ends where the job returned an error, where
// it panicked, and where Go's runtime gave up, which is for want of memory or of
// stack: it says so in several ways, some of them a crash.
const (
	refusedStatus = 3
	faultStatus   = 4
	fatalStatus   = 2
)

// maxNote bounds what is read of the child's standard error.
const maxNote = 16 << 10

// Run does the job on what it is given. It returns what came of it, or one of
// the errors above, or ctx's. The child has ended by then. Where so much is done
// apart already that the machine's memory could not hold this too, it waits; if
// that takes too long it is models.ErrLimited.
func (j Job) Run(ctx context.Context, in io.Reader, limits Limits) ([]byte, error) {
	leave, err := room.enter(ctx, limits.Memory)
	if err != nil {
		return nil, err
	}
	defer leave()
	timed, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	// The child ends with the thread that started it, should the server die.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out := &bound{most: limits.Output, over: cancel}
	note := &bound{most: maxNote, over: func() {}}
	cmd := exec.CommandContext(timed, "/proc/self/exe")
	cmd.Args = []string{childName, j.name, fmt.Sprint(memoryFactor * limits.Memory), fmt.Sprint(int(limits.Time.Seconds()) + 1)}
	cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, note
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch text := note.text.String(); {
	case out.full:
		return nil, ErrOutput
	case err == nil:
		return out.text.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil || killedFor(err, syscall.SIGXCPU):
		return nil, ErrTime
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == refusedStatus:
		return nil, Refused(text)
	case cmd.ProcessState != nil && (cmd.ProcessState.ExitCode() == fatalStatus || cmd.ProcessState.ExitCode() == detectorStatus):
		return nil, ErrMemory
	default:
		return nil, fmt.Errorf("%s, done apart: %w: %.500s", j.name, err, text)
	}
}

func killedFor(err error, signal syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}

// bound keeps so much of what is written, and tells when there is more.
type bound struct {
	text bytes.Buffer
	most int
	full bool
	over func()
}

func (b *bound) Write(p []byte) (int, error) {
	if room := b.most - b.text.Len(); len(p) > room {
		b.text.Write(p[:room])
		b.full = true
		b.over()
		return len(p), nil
	}
	return b.text.Write(p)
}
