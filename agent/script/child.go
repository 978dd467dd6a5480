package script

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"offcut/agent/sandbox"
)

// childName is argument 0 of the program, executed again, by which it knows
// that it is to run a script.
const childName = "offcut-script"

// The file descriptors of a child.
const (
	ordersFD  = 3
	reportsFD = 4
)

// Reexec is to be called first in main, and in the TestMain of every package
// that runs scripts. Where the program was executed again to run one it does
// that and ends the process; else it returns at once.
func Reexec() {
	if len(os.Args) != 1 || os.Args[0] != childName {
		return
	}
	if err := serve(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve() error {
	debug.SetMaxStack(maxStack)
	orders := bufio.NewReader(os.NewFile(ordersFD, "orders"))
	out := &reporter{w: os.NewFile(reportsFD, "reports")}
	var first order
	if err := readFrame(orders, maxFrame, &first); err != nil || first.Program == nil {
		return fmt.Errorf("read the program: %w", err)
	}
	p := *first.Program
	debug.SetMemoryLimit(p.Memory * 3 / 4)
	begin := report{Kind: reportReady}
	if err := sandbox.Seal(p.Namespaces, 2*p.Memory+mapped); err != nil {
		begin = report{Kind: reportOpen, Text: err.Error()}
	}
	if err := out.send(begin); err != nil || begin.Kind == reportOpen {
		return err
	}
	e := newEngine(p, out)
	go e.listen(orders)
	go e.watchMemory(p.Memory)
	failure := e.run(p.Code)
	if out.err() != nil {
		return out.err()
	}
	if len(failure) > maxFailure {
		out.print(failure)
		out.print("\n")
		failure = fmt.Sprintf("The program threw what stands above, %d bytes.", len(failure))
	}
	if failure != "" {
		return out.send(saying(reportFailed, failure))
	}
	return out.send(report{Kind: reportDone})
}

// maxFailure bounds what is said of a failure, in bytes. What is longer is
// printed, and kept like all that is printed.
const maxFailure = 16 << 10

// mapped is room, in bytes, for what a process maps beside the memory that it
// uses: the stacks of its threads, and what the heap holds in reserve.
const mapped = 256 << 20

// listen takes what the server tells, until it is gone: nothing is left to do
// then.
func (e *engine) listen(orders *bufio.Reader) {
	for {
		var o order
		if err := readFrame(orders, maxFrame, &o); err != nil {
			os.Exit(1)
		}
		if o.End != "" {
			e.end(o.End)
			continue
		}
		e.answers <- o // there is room for all that can come
	}
}

// memoryEvery is how often the process measures itself.
const memoryEvery = 10 * time.Millisecond

// watchMemory ends the program while it can still say where it was. The server
// watches too: work that cannot be interrupted does not see this.
func (e *engine) watchMemory(most int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(memoryEvery) {
		metrics.Read(sample)
		if used := sample[0].Value.Uint64() - sample[1].Value.Uint64(); used > uint64(most) {
			e.end(tooMuchMemory(most))
			return
		}
	}
}

// reporter sends reports. After one that could not be sent none is.
type reporter struct {
	mu     sync.Mutex
	w      *os.File
	failed error
}

func (r *reporter) send(what report) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = writeFrame(r.w, what)
	}
	return r.failed
}

func (r *reporter) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// printBytes is how much of a text one report has.
const printBytes = 256 << 10

// print sends text in pieces: what was printed before the process was ended
// has come.
func (r *reporter) print(text string) {
	for len(text) > 0 {
		n := min(len(text), printBytes)
		for n < len(text) && text[n]&0xC0 == 0x80 { // within a character
			n--
		}
		_ = r.send(saying(reportPrint, text[:n])) // whether it was sent is asked at the end
		text = text[n:]
	}
}
