package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"offcut/agent/sandbox"
)

// Program is a program to run.
type Program struct {
	Code string
	// Tools are the names under which it finds tools.
	Tools  []string
	Limits Limits
	// Print takes what it logs, and then what it returns: UTF-8, but for each half
	// of a character in it the three bytes that UTF-8 forbids (ED A0 80 to
	// ED BF BF).
	Print io.Writer
	// Begin begins a call. It is called for one call after the other, in the order
	// in which they were made; what it returns does the call, and runs beside
	// others. The context ends with the program: where that failed, calls that
	// are open end too, and for those that had no turn yet it has ended already.
	Begin func(ctx context.Context, call Call) (do func() Answer)
}

// Call is a program's call of a tool.
type Call struct {
	N         int // counted from 1
	Tool      string
	Arguments json.RawMessage // a JSON object
}

// Answer is what comes of a call: a JSON value, or the sentence that is thrown.
type Answer struct {
	Value json.RawMessage
	Error string
}

// End is how a program ended.
type End struct {
	// Error is what it threw or why it was ended, with the line where that is
	// known, and halves of characters as in Print; empty where it returned.
	Error string
	// Stopped: the context was cancelled.
	Stopped  bool
	Duration time.Duration
	// Confined: files, network and processes were out of its reach.
	Confined bool
	Kind     string
}

// endGrace is how long a program may take to end by itself, so that it can say
// where it was.
const endGrace = time.Second

// ErrEnded is the cause with which calls end that a program leaves open.
var ErrEnded = errors.New("the script that made the call has ended")

// Run runs a program until it ends, crosses a limit or ctx is cancelled. An
// error means that it never began.
func Run(ctx context.Context, p Program) (End, error) {
	limits := p.Limits.withDefaults()
	begun := time.Now()
	child, confined, err := begin(program{Code: p.Code, Tools: p.Tools, Calls: limits.Calls, Memory: limits.Memory})
	if err != nil {
		return End{}, err
	}
	defer child.close()
	defer context.AfterFunc(ctx, child.kill)()
	calls, endCalls := context.WithCancelCause(ctx)
	r := &run{
		Program: p, limits: limits, child: child, ctx: calls,
		reports: make(chan report), answers: make(chan order, limits.Calls), clock: newClock(limits.Time),
		tooLarge: make(chan struct{}), over: make(chan struct{}), gate: make(chan struct{}, parallel),
		calls: make(chan Call, limits.Calls),
	}
	defer r.clock.end()
	go r.listen()
	r.open.Go(r.begin)
	go watchMemory(child.cmd.Process.Pid, limits.Memory, r.over, func() { close(r.tooLarge); child.kill() })
	failure := r.follow()
	close(r.over)
	child.kill()
	endCalls(ErrEnded)
	close(r.calls)
	r.open.Wait()
	end := End{Error: failure, Stopped: ctx.Err() != nil, Duration: time.Since(begun), Confined: confined, Kind: sandbox.KindNone}
	if confined {
		end.Kind = sandbox.KindSealed
	}
	return end, nil
}

// run is a program that runs, as the server follows it.
type run struct {
	Program
	limits   Limits
	child    *process
	ctx      context.Context // of its calls
	reports  chan report     // closed where no more come
	answers  chan order
	clock    *clock
	tooLarge chan struct{} // closed: it used too much memory
	over     chan struct{} // closed: nothing is listened to any more
	calls    chan Call     // that were made; there is room for all
	gate     chan struct{} // of those that run at the same time
	open     sync.WaitGroup
	made     int   // calls
	told     int   // answers
	sizes    []int // of the arguments of each call, in bytes
	waiting  int   // the sum of those that have no answer
	why      string
	last     <-chan time.Time // the end of its grace
}

// listen passes on what the child reports.
func (r *run) listen() {
	defer close(r.reports)
	in := bufio.NewReader(r.child.reports)
	for {
		var next report
		if readFrame(in, maxArguments+1<<20, &next) != nil {
			return
		}
		select {
		case r.reports <- next:
		case <-r.over:
			return
		}
	}
}

// follow does what the program asks for, until it has ended. It returns what
// failed; empty: it returned.
func (r *run) follow() (failure string) {
	for {
		select {
		case next, more := <-r.reports:
			if !more {
				return r.vanished()
			}
			if done, failure := r.take(next); done {
				return failure
			}
		case answer := <-r.answers:
			r.told++
			r.waiting -= r.sizes[answer.N-1]
			r.clock.start()
			r.tell(answer)
		case <-r.clock.over():
			r.endSoon(tooLong(r.limits.Time))
		case <-r.last:
			return r.why + " It could not be interrupted: it was within one long operation of the language, such as a regular expression that tries without end."
		}
	}
}

// tell answers a call. A child that does not read it has ended, or is ended by
// its clock; of an answer that is too large only that is told.
func (r *run) tell(answer order) {
	if err := r.child.tell(answer); errors.Is(err, errFrame) {
		_ = r.child.tell(order{N: answer.N, Error: tooLarge})
	}
}

// endSoon asks the program to end.
func (r *run) endSoon(why string) {
	if r.why == "" {
		r.why, r.last = why, time.After(endGrace)
		_ = r.child.tell(order{End: why})
	}
}

// take does what one report asks for. It believes no figure in it.
func (r *run) take(next report) (done bool, failure string) {
	switch next.Kind {
	case reportPrint:
		_, _ = io.WriteString(r.Print, next.said())
	case reportCall:
		if r.made++; next.N != r.made || r.made > r.limits.Calls {
			return true, tooManyCalls(r.limits.Calls)
		}
		r.sizes = append(r.sizes, len(next.Arguments))
		if r.waiting += len(next.Arguments); r.waiting > maxOpenArguments { // the program itself says so before
			return true, tooMuchOpen
		}
		r.calls <- Call{N: next.N, Tool: next.Tool, Arguments: next.Arguments}
	case reportIdle:
		if next.N == r.told && r.told < r.made && r.why == "" {
			r.clock.stop()
		}
	case reportDone:
		return true, ""
	case reportFailed:
		return true, next.said()
	default:
		return true, engineFailed
	}
	return false, ""
}

// begin begins the calls in their order, so many at the same time.
func (r *run) begin() {
	for c := range r.calls {
		select {
		case r.gate <- struct{}{}:
		case <-r.ctx.Done():
			r.Begin(r.ctx, c)()
			continue
		}
		do := r.Begin(r.ctx, c)
		r.open.Go(func() {
			defer func() { <-r.gate }()
			r.answer(c, do())
		})
	}
}

// answer tells the program what came of a call.
func (r *run) answer(c Call, answer Answer) {
	switch {
	case len(answer.Value) > maxAnswer:
		answer = Answer{Error: tooLarge}
	case answer.Error == "" && len(answer.Value) == 0:
		answer.Value = json.RawMessage("null")
	}
	r.answers <- order{N: c.N, Value: answer.Value, Error: answer.Error} // there is room for all
}

// engineFailed is said where nothing else is known.
const engineFailed = "The program was ended: its engine failed. Nothing else was harmed. Try another way to write it."

// vanished says why a child ended without a word of its own.
func (r *run) vanished() string {
	r.child.kill() // it may have said what cannot be read
	<-r.child.ended
	select {
	case <-r.tooLarge:
		return tooMuchMemory(r.limits.Memory)
	default:
	}
	switch said := r.child.said.String(); {
	case r.why != "":
		return r.why
	case strings.Contains(said, "stack exceeds"), strings.Contains(said, "stack overflow"):
		return tooDeep
	case strings.Contains(said, "fatal error: "), strings.Contains(said, "pthread_create failed"), strings.Contains(said, "allocate"):
		return tooMuchMemory(r.limits.Memory) // what else Go gives up for, under a limit of memory
	}
	return engineFailed
}
