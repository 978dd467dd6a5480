package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plain runs a command without confining it. A re-executed child stands
// between the two, so that processes which the command sends away come to it,
// not to the system, and end with the command.
type plain struct{}

func (plain) kind() string   { return KindNone }
func (plain) confines() bool { return false }

// reapTime is how long the child may take to end all that it minds.
const reapTime = 500 * time.Millisecond

func (plain) prepare(spec Spec, limits Limits) (*launch, error) {
	path := os.Getenv("PATH")
	if path == "" {
		path = fallbackPath
	}
	l, err := reexec(order{
		Workspace:   spec.Workspace,
		Command:     spec.Command,
		Environment: environment(spec.Workspace, os.TempDir(), path),
		Limits:      limits,
	}, &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM})
	if err != nil {
		return nil, err
	}
	l.kill = func() {
		_ = l.cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(reapTime, func() { _ = l.cmd.Process.Kill() })
	}
	return l, nil
}

// runPlain is the child's side.
func runPlain(o order) (status, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return status{}, fmt.Errorf("become the reaper of a command's processes: %w", err)
	}
	// The server's end, its stop and a limit come as SIGTERM.
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		<-end
		killDescendants()
		os.Exit(0)
	}()
	pid, err := startShell(o, o.Workspace)
	if err != nil {
		return status{}, err
	}
	s := reapUntil(pid)
	killDescendants()
	return s, nil
}

// startShell starts the command from the thread that is locked, which gives it
// that thread's rights.
func startShell(o order, dir string) (pid int, err error) {
	runtime.LockOSThread()
	if err := limitProcess(0, o.Limits, o.Confine); err != nil {
		return 0, err
	}
	args := shell(o.Command)
	pid, err = syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Dir:   dir,
		Env:   o.Environment,
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start a shell: %w", err)
	}
	// Held open here, the pipes would not end with the command.
	for _, fd := range []int{0, 1, 2} {
		_ = unix.Close(fd)
	}
	return pid, nil
}

// reapUntil waits for children, also for those that were left to this process,
// until the given one has ended.
func reapUntil(pid int) status {
	for {
		var ws unix.WaitStatus
		ended, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return status{Error: fmt.Sprintf("wait for the command: %v", err)}
		case ended != pid:
			continue
		case ws.Signaled():
			return status{Signal: int(ws.Signal())}
		}
		return status{Code: ws.ExitStatus()}
	}
}

// killDescendants ends every process under this one. Each round first stops
// them all, so that a fork bomb cannot outrun the killing; it gives up on what
// hangs in the kernel.
func killDescendants() {
	for range 20 {
		for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGKILL} {
			pids := descendants(readProcesses(), os.Getpid())
			for _, pid := range pids {
				_ = unix.Kill(pid, sig)
			}
			if len(pids) == 0 {
				return
			}
		}
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil || pid == 0 {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
}
