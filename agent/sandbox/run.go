package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// MaxCommandBytes bounds a command: Linux takes at most 128 KiB in one
// argument (MAX_ARG_STRLEN), and the shell's own words need a little.
const MaxCommandBytes = 120 << 10

// drainTime bounds how long the pipes are read after everything that could
// write to them was killed. They end at once, unless a process hangs in the
// kernel.
const drainTime = 2 * time.Second

// ErrUnconfined is why nothing runs in mode Required without a sandbox.
var ErrUnconfined = errors.New("no sandbox works on this machine and OFFCUT_SANDBOX is required")

// Run runs one command until it ends, its timeout passes or ctx is cancelled.
// An error means that it never began.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (Exit, error) {
	if s.mode == Required && !s.Confined() {
		return Exit{}, ErrUnconfined
	}
	if len(spec.Command) > MaxCommandBytes {
		return Exit{}, fmt.Errorf("run a command of %d bytes: at most %d are possible", len(spec.Command), MaxCommandBytes)
	}
	run, err := s.way.prepare(spec, s.limits)
	if err != nil {
		return Exit{}, fmt.Errorf("prepare a command: %w", err)
	}
	defer run.close()

	said := &head{to: spec.Stderr}
	pumps, err := connect(run.cmd, spec.Stdout, said)
	if err != nil {
		return Exit{}, err
	}
	end := &ending{kill: sync.OnceFunc(run.kill)}
	exit := Exit{Kind: s.Kind(), Confined: s.Confined() && !spec.Network}

	begun := time.Now()
	waited, err := start(run)
	pumps.closeWriters()
	if err != nil {
		pumps.finish(drainTime)
		return Exit{}, fmt.Errorf("%w%s", err, said)
	}
	release := s.guard(ctx, spec, run.cmd.Process.Pid, end)
	<-waited
	exit.Duration = time.Since(begun)
	release()
	end.kill() // what the command left behind
	pumps.finish(drainTime)

	status, err := run.ended()
	if end.apply(&exit) {
		return exit, nil
	}
	if err != nil {
		return Exit{}, fmt.Errorf("start a command: %w%s", err, said)
	}
	exit.Code = status.Code
	if status.Signal != 0 {
		exit.Signal = unix.SignalName(unix.Signal(status.Signal))
	}
	return exit, nil
}

// start starts the process on a thread that stays until it ends: the kernel
// takes the end of that thread for the end of the parent, and would kill the
// command (PR_SET_PDEATHSIG). The channel is closed when the process has ended.
func start(run *launch) (<-chan struct{}, error) {
	started, waited := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(waited)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		if err := run.cmd.Start(); err != nil {
			started <- fmt.Errorf("start %s: %w", run.cmd.Path, err)
			return
		}
		if run.started != nil {
			if err := run.started(); err != nil {
				run.kill()
				_ = run.cmd.Wait()
				started <- err
				return
			}
		}
		started <- nil
		_ = run.cmd.Wait() // how it ended is asked of the launch
	}()
	return waited, <-started
}

// guard ends the command when ctx is cancelled, its time is over, it crosses a
// limit or its own check says so. The function that it returns stops that.
func (s *Sandbox) guard(ctx context.Context, spec Spec, pid int, end *ending) (release func()) {
	stopContext := context.AfterFunc(ctx, func() { end.because(func(e *Exit) { e.Stopped = true }) })
	stopTimer := func() bool { return true }
	if spec.Timeout > 0 {
		stopTimer = time.AfterFunc(spec.Timeout, func() {
			end.because(func(e *Exit) { e.TimedOut = true })
		}).Stop
	}
	exceed := func(limit string) { end.because(func(e *Exit) { e.Limit, e.Signal = limit, "SIGKILL" }) }
	unwatch := s.watcher.watch(pid, s.limits, exceed)
	checking, endChecks := context.WithCancel(ctx)
	go keepChecking(checking, spec.Check, exceed)
	return func() {
		stopContext()
		stopTimer()
		unwatch()
		endChecks()
		end.close()
	}
}

const (
	// checkEvery is how often a command's own check is asked.
	checkEvery = time.Second
	// checkShare is how many times as long as a check took is waited before the
	// next one, so that a costly one takes no more than a tenth of the time.
	checkShare = 9
)

// keepChecking asks check until ctx ends or there is a limit that is exceeded.
func keepChecking(ctx context.Context, check func(context.Context) string, exceed func(limit string)) {
	if check == nil {
		return
	}
	for pause := checkEvery; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begun := time.Now()
		if limit := check(ctx); limit != "" {
			exceed(limit)
			return
		}
		pause = max(checkEvery, checkShare*time.Since(begun))
	}
}

// ending remembers the first reason for which a command was ended.
type ending struct {
	mu     sync.Mutex
	reason func(*Exit)
	closed bool // it has ended by itself: later reasons do not count
	kill   func()
}

func (e *ending) because(reason func(*Exit)) {
	e.mu.Lock()
	counts := e.reason == nil && !e.closed
	if counts {
		e.reason = reason
	}
	e.mu.Unlock()
	if counts {
		e.kill()
	}
}

func (e *ending) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// apply notes the reason in the exit, and reports whether there was one.
func (e *ending) apply(exit *Exit) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reason == nil {
		return false
	}
	e.reason(exit)
	return true
}
