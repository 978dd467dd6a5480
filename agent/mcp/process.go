package mcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// inherited are the variables that a server gets of this program's: where
// programs and a home are, and how texts are written. Everything else, keys and
// tokens above all, stays here.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME",
}

func environment(own map[string]string) []string {
	var env []string
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set && own[name] == "" {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// A process is a server that runs on this machine, in a process group of its
// own.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	exited chan struct{} // closed when it has ended, and its whole group
	err    error         // how it ended, then
}

// The waits of an orderly end, as the protocol has it: the end of its input,
// SIGTERM, SIGKILL.
const (
	inputGrace = 2 * time.Second
	termGrace  = 2 * time.Second
	// drainTime is for what a server that ended has still in its pipes.
	drainTime = 500 * time.Millisecond
	// writeLimit is for a server that reads what it is sent.
	writeLimit = 30 * time.Second
)

// startProcess starts a server. The thread that starts it stays until it ends:
// the kernel takes the end of that thread for the end of this program, after
// which a server gets SIGTERM.
func startProcess(s Server, stderr io.Writer) (*process, error) {
	p := &process{exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...)
	p.cmd.Env, p.cmd.Dir = environment(s.Env), s.Dir
	p.cmd.Stderr, p.cmd.WaitDelay = stderr, drainTime
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		_, _ = childIn.Close(), stdin.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	p.stdin, p.stdout, p.cmd.Stdin, p.cmd.Stdout = stdin, stdout, childIn, childOut
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		_, _ = childIn.Close(), childOut.Close() // held open here, they would not end with the server
		started <- err
		if err == nil {
			p.wait()
		}
	}()
	if err := <-started; err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, startError(err)
	}
	return p, nil
}

// startError leaves out the path of the program, which stands in the
// configuration.
func startError(err error) error {
	var path *os.PathError
	var look *exec.Error
	switch {
	case errors.As(err, &look):
		return fmt.Errorf("the program cannot be started: %w", look.Err)
	case errors.As(err, &path):
		return fmt.Errorf("the program cannot be started: %w", path.Err)
	}
	return fmt.Errorf("the program cannot be started: %w", err)
}

// wait waits for the server's end, and ends what it left behind.
func (p *process) wait() {
	err := p.cmd.Wait()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	p.err = err
	close(p.exited)
	// What has left the group may hold the pipe open: nobody waits for it.
	time.AfterFunc(drainTime, func() { _ = p.stdout.Close() })
}

// Read reads the server's messages, and Close ends the server.
func (p *process) Read(b []byte) (int, error) { return p.stdout.Read(b) }

// Write sends to the server. One that reads nothing any more is an error, as
// whoever sends to it would wait for ever.
func (p *process) Write(b []byte) (int, error) {
	if err := p.stdin.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return 0, err
	}
	return p.stdin.Write(b)
}

// Close ends the server and returns when it has ended.
func (p *process) Close() error {
	_ = p.stdin.Close()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if p.ended(inputGrace) {
			return nil
		}
		_ = syscall.Kill(-p.cmd.Process.Pid, signal)
	}
	if !p.ended(termGrace) {
		return errors.New("it does not end")
	}
	return nil
}

func (p *process) ended(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}
