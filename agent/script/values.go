package script

import (
	"errors"
	"strconv"
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

// text is a value as it is printed: a string as it is, an error with where it
// was thrown, and anything else as JSON where it has some.
func (e *engine) text(v goja.Value) string {
	object, isObject := v.(*goja.Object)
	switch {
	case !isObject:
		return v.String()
	case object.ClassName() == "Error":
		return e.thrown(v)
	}
	text, err := e.stringify(goja.Undefined(), v)
	var thrown *goja.Exception
	switch {
	case err != nil && !errors.As(err, &thrown):
		panic(err) // the program has to end
	case err != nil || text == goja.Undefined():
		return v.String()
	}
	return wellFormed(text.String())
}

// json is a value as JSON. What has none is thrown to the program.
func (e *engine) json(v goja.Value) string {
	text, err := e.stringify(goja.Undefined(), v)
	if err != nil {
		panic(err)
	}
	return wellFormed(text.String())
}

// printResult prints what the program returned: a string as it is, and anything
// else as JSON on one line.
func (e *engine) printResult(v goja.Value) (failure string) {
	if v == goja.Undefined() {
		return ""
	}
	if _, isString := v.(goja.String); isString {
		e.out.print(v.String())
		return ""
	}
	text, err := e.stringify(goja.Undefined(), v)
	switch {
	case err != nil:
		return "The program ran to its end, but what it returned cannot be written as JSON: " + e.failure(err)
	case text == goja.Undefined():
		e.out.print(v.String()) // such as a function
	default:
		e.out.print(wellFormed(text.String()))
	}
	return ""
}

// wellFormed is JSON in which no escape stands for half a character: other
// programs refuse what holds one.
func wellFormed(text string) string {
	const escape = len(`\ud83d`)
	at := strings.Index(text, `\ud`)
	if at < 0 {
		return text
	}
	var out strings.Builder
	for at = 0; at < len(text); {
		if text[at] != '\\' || at+1 >= len(text) {
			out.WriteByte(text[at])
			at++
			continue
		}
		if text[at+1] != 'u' || at+escape > len(text) {
			out.WriteString(text[at : at+2])
			at += 2
			continue
		}
		unit, err := strconv.ParseUint(text[at+2:at+escape], 16, 16)
		if err == nil && 0xD800 <= unit && unit <= 0xDFFF {
			// JSON.stringify writes whole characters as they are: an escape is
			// always a half that stands alone.
			out.WriteString(`\ufffd`)
		} else {
			out.WriteString(text[at : at+escape])
		}
		at += escape
	}
	return out.String()
}
