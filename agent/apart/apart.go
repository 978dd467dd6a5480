// Package apart does work on hostile material in a child process, with bounds
// on time, memory and output that hold whatever the material is. The child is
// this program, executed again and sealed as scripts are: it has no environment,
// no file, no network and no word of the server's but what it is given to work on.
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
	// Time is how long the child may compute, by what the processor gave it: a
	// machine that is busy takes nothing of it. The kernel holds it to the whole
	// second that comes next.
	Time time.Duration
	// Wait is how long it may take until it is done.
	Wait   time.Duration
	Memory int64 // bytes that the child may take
	Output int   // bytes of what comes of it
}

// seconds is the time as the kernel is told it.
func (l Limits) seconds() int { return int(l.Time/time.Second) + 1 }

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
	timed, cancel := context.WithTimeout(ctx, limits.Wait)
	defer cancel()
	// The child ends with the thread that started it, should the server die.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out := &bound{most: limits.Output, over: cancel}
	note := &bound{most: maxNote, over: func() {}}
	child, err := j.start(timed, in, out, note, limits)
	if err == nil {
		err = child.Wait()
	}
	switch text := note.text.String(); {
	case out.full:
		return nil, ErrOutput
	case err == nil:
		return out.text.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil || usedUp(err, limits):
		return nil, ErrTime
	case endedWith(err, refusedStatus):
		return nil, Refused(text)
	case endedWith(err, fatalStatus), endedWith(err, detectorStatus):
		return nil, ErrMemory
	default:
		return nil, fmt.Errorf("%s, done apart: %w: %.500s", j.name, err, text)
	}
}

// endedWith reports whether a child ended with a status.
func endedWith(err error, status int) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == status
}

// usedUp reports whether the kernel ended a child as its time was over.
func usedUp(err error, limits Limits) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL && exit.UserTime()+exit.SystemTime() >= limits.Time
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
