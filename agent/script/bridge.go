package script

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// addTools makes the object tools, with a function for each. It remembers under
// which other names the program looked for one, so that an error can say what
// there is.
func (e *engine) addTools() {
	tools := e.vm.NewObject()
	for _, name := range e.program.Tools {
		_ = tools.Set(name, func(c goja.FunctionCall) goja.Value { return e.call(name, c.Argument(0)) })
	}
	_ = e.vm.Set("tools", e.vm.NewProxy(tools, &goja.ProxyTrapConfig{
		Get: func(_ *goja.Object, name string, _ goja.Value) goja.Value {
			tool := tools.Get(name)
			if tool == nil {
				e.missed[name] = true
			}
			return tool
		},
	}))
	e.addCalledTools(tools)
}

// call has the server run a tool. It returns a promise.
func (e *engine) call(tool string, argument goja.Value) goja.Value {
	arguments := e.arguments(tool, argument)
	if e.made++; e.made > e.program.Calls { // numbers of calls have no gaps
		e.end(tooManyCalls(e.program.Calls))
		panic(e.vm.NewTypeError("%s", tooManyCalls(e.program.Calls)))
	}
	promise, resolve, reject := e.vm.NewPromise()
	e.calls[e.made] = pending{resolve, reject, e.here(tool), len(arguments)}
	e.open += len(arguments)
	_ = e.out.send(report{Kind: reportCall, N: e.made, Tool: tool, Arguments: json.RawMessage(arguments)})
	return e.vm.ToValue(promise)
}

// arguments are those of a call as JSON. What cannot be told as the program
// wrote it is thrown to the program, and the tool is not called.
func (e *engine) arguments(tool string, argument goja.Value) string {
	if argument == goja.Undefined() || argument == goja.Null() {
		return "{}"
	}
	object, isObject := argument.(*goja.Object)
	if !isObject || object.ClassName() == "Array" {
		panic(e.vm.NewTypeError("tools.%s takes one object with its arguments, such as tools.%s({…})", tool, tool))
	}
	value, err := e.stringify(goja.Undefined(), argument)
	if err != nil {
		panic(err)
	}
	text := value.String()
	switch {
	case value == goja.Undefined() || text[0] != '{':
		panic(e.vm.NewTypeError("The arguments of tools.%s are no object as JSON. The tool was not called", tool))
	case holdsHalf(text):
		panic(e.vm.NewTypeError("The arguments of tools.%s hold half of a character (a lone surrogate), which cannot be told to a tool. The tool was not called. Cut texts between whole characters, as in Array.from(text)", tool))
	case len(text) > maxArguments:
		panic(e.vm.NewTypeError("The arguments of tools.%s have %d bytes; at most %d are possible", tool, len(text), maxArguments))
	case e.open+len(text) > maxOpenArguments:
		panic(e.vm.NewTypeError("%s tools.%s was not called", tooMuchOpen, tool))
	}
	return text
}

// here is where the program is, as an error's stack says it.
func (e *engine) here(tool string) string {
	var stack strings.Builder
	for _, frame := range e.vm.CaptureCallStack(0, nil) {
		if p := frame.Position(); p.Filename == sourceName && p.Line > 0 {
			fmt.Fprintf(&stack, "\n\tat tools.%s (%s:%d:%d)", tool, sourceName, p.Line, p.Column)
		}
	}
	return stack.String()
}

// errorOf is an Error with the sentence of a call that failed, as if it had been
// thrown where the call was made.
func (e *engine) errorOf(message, stack string) (*goja.Object, error) {
	failed, err := e.vm.New(e.newError, e.vm.ToValue(message))
	if err != nil {
		return nil, err
	}
	return failed, failed.Set("stack", "Error: "+message+stack)
}
