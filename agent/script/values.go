package script

import (
	"strings"

	"github.com/dop251/goja"
)

// addConsole makes the object console. Its functions all print alike.
func (e *engine) addConsole() {
	console := e.vm.NewObject()
	print := func(c goja.FunctionCall) goja.Value {
		words := make([]string, len(c.Arguments))
		for i, argument := range c.Arguments {
			words[i] = e.text(argument)
		}
		e.out.print(strings.Join(words, " ") + "\n")
		return goja.Undefined()
	}
	for _, name := range []string{"log", "info", "warn", "error", "debug"} {
		_ = console.Set(name, print)
	}
	_ = e.vm.Set("console", console)
}

// printResult prints what the program returned: a string as it is, and anything
// else as JSON on one line.
func (e *engine) printResult(v goja.Value) (failure string) {
	if v == goja.Undefined() {
		return ""
	}
	if _, isString := v.(goja.String); isString {
		e.out.print(exact(v))
		return ""
	}
	text, err := e.stringify(goja.Undefined(), v)
	switch {
	case err != nil:
		return "The program ran to its end, but what it returned cannot be written as JSON: " + e.failure(err)
	case text == goja.Undefined():
		e.out.print(exact(v.ToString())) // such as a function
	default:
		e.out.print(text.String())
	}
	return ""
}
