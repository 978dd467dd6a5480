package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"offcut/agent/sandbox"
)

// process is a running child.
type process struct {
	cmd     *exec.Cmd
	orders  *os.File // the server writes
	reports *os.File // and reads
	said    *said
	ended   chan struct{} // closed when it has been waited for
	kill    func()
}

// sealer starts the children.
var sealer sandbox.Sealer

// begin starts a child with its program, shut in as far as the machine can.
func begin(p program) (running *process, confined bool, err error) {
	confined, err = sealer.Start("of a script", func(namespaces bool) (open, err error) {
		p.Namespaces = namespaces
		running, open, err = start(p)
		return open, err
	})
	if err != nil {
		return nil, false, err
	}
	return running, confined, nil
}

// start starts a child and hears that it is shut in. open is why it cannot be,
// in this way.
func start(p program) (running *process, open, err error) {
	running, open, err = launch(p.Namespaces)
	if err != nil || open != nil {
		return nil, open, err
	}
	var first report
	_ = running.reports.SetReadDeadline(time.Now().Add(startTime))
	err = running.tell(order{Program: &p})
	if err == nil {
		err = readFrame(running.reports, maxFrame, &first)
	}
	switch {
	case err == nil && first.Kind == reportReady:
		_ = running.reports.SetReadDeadline(time.Time{})
		return running, nil, nil
	case err == nil && first.Kind == reportOpen:
		running.close()
		return nil, fmt.Errorf("shut in the process of a script: %s", first.Text), nil
	}
	running.close()
	return nil, nil, fmt.Errorf("begin a script: %w: %s", err, running.said)
}

const (
	// startTime is how long a child may take until it is shut in.
	startTime = 20 * time.Second
	// tellTime is how long a child may take to read what it is told: it does
	// nothing else in the thread that reads.
	tellTime = 10 * time.Second
)

// launch executes this program again. open is why the machine refuses to start
// it with namespaces.
func launch(namespaces bool) (running *process, open, err error) {
	ordersRead, orders, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe to a script: %w", err)
	}
	reports, reportsWrite, err := os.Pipe()
	if err != nil {
		_, _ = ordersRead.Close(), orders.Close()
		return nil, nil, fmt.Errorf("make a pipe to a script: %w", err)
	}
	running = &process{orders: orders, reports: reports, said: &said{}, ended: make(chan struct{})}
	running.cmd = &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{childName},
		Env:         []string{"TZ=UTC", "GOMAXPROCS=2", "GOTRACEBACK=none"}, // nothing of the server's
		Dir:         "/",
		Stderr:      running.said,
		ExtraFiles:  []*os.File{ordersRead, reportsWrite},
		SysProcAttr: sandbox.SealedProcess(namespaces),
		WaitDelay:   time.Second,
	}
	running.kill = sync.OnceFunc(func() { _ = running.cmd.Process.Kill() })
	err = running.run()
	_, _ = ordersRead.Close(), reportsWrite.Close()
	if err == nil {
		return running, nil, nil
	}
	_, _ = orders.Close(), reports.Close()
	if namespaces && sandbox.Refuses(err) {
		return nil, err, nil
	}
	return nil, nil, fmt.Errorf("start the process of a script: %w", err)
}

// run starts the process on a thread that stays until it ends, whose end it
// would not survive.
func (p *process) run() error {
	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is what it reported
		}
	}()
	return <-started
}

// tell writes an order. It is called from one goroutine.
func (p *process) tell(o order) error {
	_ = p.orders.SetWriteDeadline(time.Now().Add(tellTime))
	return writeFrame(p.orders, o)
}

// close ends the process and waits for its end.
func (p *process) close() {
	p.kill()
	<-p.ended
	_, _ = p.orders.Close(), p.reports.Close()
}

// said is the beginning of what the process printed: what Go says of its own
// end.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const saidBytes = 4 << 10

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p[:min(len(p), saidBytes-s.text.Len())])
	return len(p), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
