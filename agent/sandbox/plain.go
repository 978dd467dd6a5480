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

// reapTime is how long the child may take to end all that it minds. It is a
// matter of milliseconds, unless the machine is overloaded; after it the
// server does that itself.
const reapTime = 3 * time.Second

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
		if l.cmd.Process.Signal(syscall.SIGTERM) != nil {
			return // it has ended
		}
		time.AfterFunc(reapTime, func() {
			if l.cmd.Process.Signal(syscall.SIGTERM) == nil {
				killDescendants(l.cmd.Process.Pid)
				_ = l.cmd.Process.Kill()
			}
		})
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
		killDescendants(os.Getpid())
		unix.Exit(0)
	}()
	pid, err := startShell(o, o.Workspace)
	if err != nil {
		return status{}, err
	}
	s := reapUntil(pid)
	killDescendants(os.Getpid())
	return s, nil
}

// startShell starts the command from the thread that is locked, which gives it
// that thread's rights. The shell first waits for its limits to be set: they
// are the command's alone, and not those of this process.
func startShell(o order, dir string) (pid int, err error) {
	runtime.LockOSThread()
	gate, open, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make a shell wait: %w", err)
	}
	args := shell(o.Command)
	args[2] = `read -r _ <&3; exec 3<&-; ` + args[2]
	pid, err = syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Dir:   dir,
		Env:   o.Environment,
		Files: []uintptr{0, 1, 2, gate.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start a shell: %w", err)
	}
	// Held open here, the pipes would not end with the command.
	for _, fd := range []int{0, 1, 2} {
		_ = unix.Close(fd)
	}
	if err := limitProcess(pid, o.Limits, o.Confine); err != nil {
		_ = unix.Kill(pid, unix.SIGKILL)
		return 0, err
	}
	_, err = open.WriteString("\n")
	_, _ = open.Close(), gate.Close()
	if err != nil {
		return 0, fmt.Errorf("let a shell begin: %w", err)
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

// killTime bounds killDescendants, which gives up on what hangs in the kernel.
const killTime = 2 * time.Second

// killDescendants ends every process under root. Where one round is not enough
// the next ones first stop them all, so that a fork bomb cannot outrun the
// killing.
func killDescendants(root int) {
	for begun, round := time.Now(), 0; time.Since(begun) < killTime; round++ {
		if round > 0 {
			signalAll(descendants(readProcesses(), root), unix.SIGSTOP)
		}
		found := descendants(readProcesses(), root)
		if len(found) == 0 {
			return
		}
		signalAll(found, unix.SIGKILL)
		time.Sleep(time.Millisecond)
		for root == os.Getpid() {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil || pid == 0 {
				break
			}
		}
	}
}

func signalAll(pids []int, sig unix.Signal) {
	for _, pid := range pids {
		_ = unix.Kill(pid, sig)
	}
}
