package script

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dop251/goja"
)

// engine runs one program.
type engine struct {
	vm      *goja.Runtime
	out     *reporter
	program program
	answers chan order

	ended  chan struct{} // closed once the program has to end
	ending sync.Once
	why    string

	calls map[int]pending // those that have no answer yet
	made  int
	taken int // answers
	open  int // bytes of the arguments of calls

	rejected []*goja.Promise // nobody has taken care of them yet

	missed map[string]bool // names of tools that the program looked for, and that there are not

	stringify, parse, listOf goja.Callable
	newError                 *goja.Object
}

// pending is a call that has no answer yet.
type pending struct {
	resolve, reject func(any) error
	stack           string // where it was made
	size            int    // of its arguments, in bytes
}

func newEngine(p program, out *reporter) *engine {
	e := &engine{
		vm: goja.New(), out: out, program: p, ended: make(chan struct{}),
		answers: make(chan order, p.Calls+1), calls: map[int]pending{}, missed: map[string]bool{},
	}
	e.vm.SetMaxCallStackSize(maxDepth)
	e.vm.SetPromiseRejectionTracker(e.track)
	e.keepOwn()
	e.addConsole()
	e.addTools()
	return e
}

// keepOwn takes what the engine itself uses of the language before a program
// can change it.
func (e *engine) keepOwn() {
	of := func(owner, name string) goja.Callable {
		function, _ := goja.AssertFunction(e.vm.Get(owner).ToObject(e.vm).Get(name))
		return function
	}
	e.stringify, e.parse = of("JSON", "stringify"), of("JSON", "parse")
	e.listOf = of("Array", "from")
	e.newError = e.vm.Get("Error").ToObject(e.vm)
}

// end has the program end soon, for a reason that is a sentence. The first
// counts.
func (e *engine) end(why string) {
	e.ending.Do(func() {
		e.why = why
		close(e.ended)
		e.vm.Interrupt(why)
	})
}

// The program is the body of an async function, so that it can wait and return.
// No line is added before it: errors name its own lines.
const (
	before = "(async () => {"
	after  = "\n})()"
)

// run runs the program to its end, and prints what it returns. What it returns
// itself says why the program failed; empty: it did not.
func (e *engine) run(code string) (failure string) {
	defer func() {
		if thrown := recover(); thrown != nil { // by what the program put into a value, such as a getter
			failure = e.panicked(thrown)
		}
	}()
	compiled, err := compile(code)
	if err != nil {
		return syntaxFailure(err, code)
	}
	value, err := e.vm.RunProgram(compiled)
	if err != nil {
		return e.failure(err)
	}
	promise, ok := value.Export().(*goja.Promise)
	if !ok { // it has closed the function that it is the body of
		return "SyntaxError: the program is the body of a function, and has a } too many"
	}
	for promise.State() == goja.PromiseStatePending || promise.State() == goja.PromiseStateFulfilled && len(e.calls) > 0 {
		if err := e.wait(); err != nil {
			return e.failure(err)
		}
	}
	if promise.State() == goja.PromiseStateRejected {
		return e.thrown(promise.Result())
	}
	for _, p := range e.rejected {
		return "A promise was rejected, and nothing took care of it: " + e.thrown(p.Result())
	}
	return e.printResult(promise.Result())
}

// compile reads a program.
func compile(code string) (*goja.Program, error) {
	read, err := goja.Parse(sourceName, before+code+after)
	if err != nil {
		return nil, err
	}
	leadCalls(read)
	return goja.CompileAST(read, false)
}

// errNeverSettles: nothing is left that could go on.
var errNeverSettles = errors.New("The program waits for a promise that never settles: no tool call is open, and nothing else can go on. There are no timers here; await only what tools return, or what your own code resolves.") //nolint:staticcheck // a sentence for the model

// wait takes the next answer.
func (e *engine) wait() error {
	if len(e.calls) == 0 {
		return errNeverSettles
	}
	if err := e.out.send(report{Kind: reportIdle, N: e.taken}); err != nil {
		return err
	}
	select {
	case answer := <-e.answers:
		return e.settle(answer)
	case <-e.ended:
		return errors.New(e.why)
	}
}

// settle hands an answer to the promise of its call, and lets the program go on
// with it as far as it gets.
func (e *engine) settle(answer order) error {
	call, ok := e.calls[answer.N]
	if !ok {
		return fmt.Errorf("an answer came to call %d, which waits for none", answer.N)
	}
	delete(e.calls, answer.N)
	e.taken++
	e.open -= call.size
	if answer.Error != "" {
		failed, err := e.errorOf(answer.Error, call.stack)
		if err != nil {
			return err
		}
		return call.reject(failed)
	}
	value, err := e.parse(goja.Undefined(), e.vm.ToValue(string(answer.Value)))
	if err != nil {
		return err
	}
	return call.resolve(value)
}

// track notes promises that were rejected, until somebody takes care of them.
func (e *engine) track(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		e.rejected = append(e.rejected, p)
		return
	}
	for i, known := range e.rejected {
		if known == p {
			e.rejected = append(e.rejected[:i], e.rejected[i+1:]...)
			return
		}
	}
}
