package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// childName is argument 0 of the re-executed program, by which it knows that
// it is one.
const childName = "offcut-sandbox"

// The file descriptors of a re-executed child.
const (
	orderFD  = firstExtraFD     // it reads what to do
	statusFD = firstExtraFD + 1 // it writes how the command ended
)

// order is what a re-executed child is to do.
type order struct {
	Confine     bool // build the view and lock it; else only mind the processes
	View        view
	Workspace   string
	Network     bool
	Command     string
	Environment []string
	Limits      Limits
}

// reexec prepares this program, executed again, as the parent of a command.
func reexec(o order, attr *syscall.SysProcAttr) (*launch, error) {
	stdin, err := devNull()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{childName},
		Env:         []string{"PATH=" + fallbackPath}, // never the server's
		Dir:         "/",
		Stdin:       stdin,
		SysProcAttr: attr,
	}
	l := &launch{cmd: cmd, files: []io.Closer{stdin}}
	orders, err := l.inherit(true)
	if err != nil {
		l.close()
		return nil, err
	}
	reports, err := l.inherit(false)
	if err != nil {
		l.close()
		return nil, err
	}
	l.started = func() error {
		l.closeGiven()
		err := json.NewEncoder(orders).Encode(o)
		_ = orders.Close()
		if err != nil {
			return fmt.Errorf("tell the sandbox what to run: %w", err)
		}
		return nil
	}
	l.kill = func() { _ = cmd.Process.Kill() }
	l.ended = func() (status, error) {
		var s status
		if err := json.NewDecoder(reports).Decode(&s); err != nil {
			return status{}, fmt.Errorf("read how the command ended: %w", err)
		}
		if s.Error != "" {
			return status{}, fmt.Errorf("set up the sandbox: %s", s.Error)
		}
		return s, nil
	}
	return l, nil
}

// Reexec is to be called first in main, and in the TestMain of every package
// that runs commands. Where the program was executed again as the parent of a
// command it does that work and ends the process; else it returns at once.
func Reexec() {
	if len(os.Args) != 1 || os.Args[0] != childName {
		return
	}
	s, err := obey()
	if err != nil {
		s = status{Error: err.Error()}
	}
	_ = json.NewEncoder(os.NewFile(statusFD, "status")).Encode(s)
	unix.Exit(0) // at once: what the program does at its end is not for its child
}

func obey() (status, error) {
	var o order
	if err := json.NewDecoder(os.NewFile(orderFD, "order")).Decode(&o); err != nil {
		return status{}, fmt.Errorf("read the order: %w", err)
	}
	keepFilesToItself() // the command must not inherit the two
	if o.Confine {
		return runConfined(o)
	}
	return runPlain(o)
}
