package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bubblewrap confines with the bwrap program.
type bubblewrap struct {
	program string
	seen    view
}

func newBubblewrap(seen view) (way, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("find bubblewrap: %w", err)
	}
	return bubblewrap{program: program, seen: seen}, nil
}

func (bubblewrap) kind() string   { return KindBubblewrap }
func (bubblewrap) confines() bool { return true }

func (b bubblewrap) prepare(spec Spec, limits Limits) (_ *launch, err error) {
	stdin, err := devNull()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.program)
	cmd.Stdin = stdin
	cmd.Dir = "/"
	cmd.Env = environment(WorkspacePath, "/tmp", b.seen.visiblePath())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	l := &launch{cmd: cmd, files: []io.Closer{stdin}}
	defer func() {
		if err != nil {
			l.close()
		}
	}()

	// bwrap tells of its child on one pipe and waits for the other before it
	// starts the command, so that the limits are in force from its beginning.
	reports, err := l.inherit(false)
	if err != nil {
		return nil, err
	}
	gate, err := l.inherit(true)
	if err != nil {
		return nil, err
	}
	args := append(confinement(spec), "--json-status-fd", "3", "--block-fd", "4")
	args, err = l.appendView(args, b.seen.forCommand(spec), spec, limits)
	if err != nil {
		return nil, err
	}
	// Any command can read the command line of bwrap, which is the first
	// process of its namespace. The server's folders are not written there.
	fd, err := l.content(strings.Join(args, "\x00"))
	if err != nil {
		return nil, err
	}
	cmd.Args = append([]string{b.program, "--args", strconv.Itoa(fd), "--"}, shell(spec.Command)...)

	lines := bufio.NewReader(reports)
	var first int // the first process of the namespace, as the server numbers it
	l.started = func() (err error) {
		first, err = l.release(lines, gate, limits)
		return err
	}
	l.kill = func() { l.killNamespace(first) }
	l.ended = func() (status, error) {
		reap(first)
		return bubblewrapStatus(lines)
	}
	return l, nil
}

// confinement is everything but files. As root bwrap would keep all
// capabilities, with which /usr could be made writable again.
func confinement(spec Spec) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--disable-userns", "--cap-drop", "ALL",
		"--uid", strconv.Itoa(insideUID), "--gid", strconv.Itoa(insideGID),
		"--new-session", "--die-with-parent", "--hostname", "offcut",
	}
	if !spec.Network {
		args = append(args, "--unshare-net")
	}
	return args
}

// appendView adds the arguments that show the command its files. /proc is
// read-only: where the server is root, its settings below /proc/sys are the
// machine's and would be writable without any capability.
func (l *launch) appendView(args []string, seen view, spec Spec, limits Limits) ([]string, error) {
	args = append(args, "--perms", "0755", "--dir", "/etc")
	for _, b := range seen.Binds {
		args = append(args, "--ro-bind", b.From, b.To)
	}
	for _, s := range seen.Links {
		args = append(args, "--symlink", s.Target, s.At)
	}
	for _, f := range seen.Files {
		fd, err := l.content(f.Content)
		if err != nil {
			return nil, err
		}
		args = append(args, "--perms", "0644", "--ro-bind-data", strconv.Itoa(fd), f.At)
	}
	temp := strconv.FormatInt(limits.TempBytes, 10)
	args = append(args,
		"--proc", "/proc", "--remount-ro", "/proc",
		"--dev", "/dev", "--size", temp, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
		"--size", temp, "--perms", "1777", "--tmpfs", "/tmp")
	for _, hidden := range seen.Hide {
		args = append(args, "--tmpfs", hidden, "--remount-ro", hidden)
	}
	for _, s := range seen.Shown {
		args = append(args, "--ro-bind-try", s.Path, s.At)
	}
	return append(args, "--bind", spec.Workspace, WorkspacePath, "--remount-ro", "/", "--chdir", WorkspacePath), nil
}

// release puts the limits on the namespace's first process, which all others
// inherit, and lets it start the command.
func (l *launch) release(reports *bufio.Reader, gate io.WriteCloser, limits Limits) (first int, err error) {
	l.closeGiven()
	line, err := reports.ReadBytes('\n')
	if err != nil {
		return 0, errors.New("bubblewrap ended before it had a sandbox")
	}
	var child struct {
		PID int `json:"child-pid"`
	}
	if err := json.Unmarshal(line, &child); err != nil || child.PID == 0 {
		return 0, fmt.Errorf("read what bubblewrap reports: %q", line)
	}
	if err := limitProcess(child.PID, limits, true); err != nil {
		return child.PID, err
	}
	_, err = gate.Write([]byte{1})
	_ = gate.Close()
	if err != nil {
		return child.PID, fmt.Errorf("let bubblewrap start the command: %w", err)
	}
	return child.PID, nil
}

// killNamespace ends the namespace by its first process, for which bwrap then
// waits. Where bwrap hangs its own death does the same (--die-with-parent).
func (l *launch) killNamespace(first int) {
	if l.cmd.Process.Signal(unix.Signal(0)) != nil {
		return // bwrap has ended, and first may be another's by now
	}
	if first == 0 || unix.Kill(first, unix.SIGKILL) != nil {
		_ = l.cmd.Process.Kill()
		return
	}
	time.AfterFunc(reapTime, func() { _ = l.cmd.Process.Kill() })
}

// reap waits for the namespace's first process where it became the server's
// own child: where the server is the first process of a container, nobody else
// would. bwrap does not wait for it when a command ends by itself.
func reap(first int) {
	for begun := time.Now(); time.Since(begun) < reapTime; time.Sleep(time.Millisecond) {
		if pid, err := unix.Wait4(first, nil, unix.WNOHANG, nil); err != nil || pid == first {
			return // it is nobody's child here, or it is gone
		}
	}
}

// bubblewrapStatus reads the exit code that bwrap reports once the command has
// really been started. A command that a signal ended has 128 and its number.
func bubblewrapStatus(reports *bufio.Reader) (status, error) {
	for {
		line, err := reports.ReadBytes('\n')
		if err != nil {
			return status{}, errors.New("bubblewrap could not set up the sandbox")
		}
		var report struct {
			Code *int `json:"exit-code"`
		}
		if json.Unmarshal(line, &report) != nil || report.Code == nil {
			continue
		}
		if n := *report.Code - 128; n > 0 && unix.SignalName(unix.Signal(n)) != "" {
			return status{Signal: n}, nil
		}
		return status{Code: *report.Code}, nil
	}
}
