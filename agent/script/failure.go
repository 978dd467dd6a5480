package script

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// sourceName is the program's name in what the engine says of places.
const sourceName = "script"

// The sentences about limits.

func tooLong(most time.Duration) string {
	return fmt.Sprintf("The program was ended: it ran for more than %s of its own time. What it waits for tools is not counted.", most)
}

func tooMuchMemory(most int64) string {
	return fmt.Sprintf("The program was ended: it used more than %d MiB of memory.", most>>20)
}

func tooManyCalls(most int) string {
	return fmt.Sprintf("The program was ended: it made more than %d tool calls.", most)
}

// tooMuchOpen is said where the arguments of open calls are over their bound.
var tooMuchOpen = fmt.Sprintf("The arguments of calls that have no answer yet may have %d MiB together: await some before you make more.", maxOpenArguments>>20)

// tooLarge is thrown in the place of an answer that is over its bound.
var tooLarge = fmt.Sprintf("What the tool returned is too large for a script: at most %d bytes of JSON are possible. Ask for less at a time.", maxAnswer)

const tooDeep = "The program was ended: its functions call each other too deeply. Use a loop, or an array as a stack."

// place finds a place of the program in what the engine says: 3:14.
var place = regexp.MustCompile(sourceName + `:(\d+):\d+`)

// atLine names the line of the first place in a stack.
func atLine(stack string) string {
	if found := place.FindStringSubmatch(stack); found != nil {
		return " (line " + found[1] + ")"
	}
	return ""
}

// failure says why the program did not go on.
func (e *engine) failure(err error) string {
	var exception *goja.Exception
	var interrupted *goja.InterruptedError
	var deep *goja.StackOverflowError
	switch {
	case errors.As(err, &interrupted):
		return fmt.Sprint(interrupted.Value()) + atLine(interrupted.String())
	case errors.As(err, &deep):
		return tooDeep + atLine(deep.String())
	case errors.As(err, &exception):
		text := e.thrown(exception.Value())
		if !strings.Contains(text, " (line ") {
			text += atLine(exception.String())
		}
		return text
	}
	return err.Error()
}

// panicked says what is known of a failure at the edge of the engine. It looks
// into no value of the program any more.
func (e *engine) panicked(cause any) string {
	var interrupted *goja.InterruptedError
	var deep *goja.StackOverflowError
	if err, ok := cause.(error); ok && (errors.As(err, &interrupted) || errors.As(err, &deep)) {
		return e.failure(err)
	}
	return "The program threw what cannot be printed."
}

// thrown is what the program threw, with the line where there is one.
func (e *engine) thrown(v goja.Value) string {
	object, isObject := v.(*goja.Object)
	if !isObject || object.ClassName() != "Error" {
		return "The program threw " + e.text(v)
	}
	text := e.naming(exact(object.ToString()))
	if stack := object.Get("stack"); stack != nil {
		text += atLine(stack.String())
	}
	return text
}

// noMember is what the engine says of a call of what is not there.
var noMember = regexp.MustCompile(`^TypeError: Object has no member '(.*)'$`)

// naming is what an error says. Where it says that there is no such tool it
// names those that there are.
func (e *engine) naming(text string) string {
	found := noMember.FindStringSubmatch(text)
	if found == nil || !e.missed[found[1]] {
		return text
	}
	return "TypeError: " + e.noTool(found[1])
}

// noTool says that there is no tool of that name.
func (e *engine) noTool(name string) string {
	return fmt.Sprintf("There is no tools.%s. The tools are: %s.", name, strings.Join(e.program.Tools, ", "))
}

// The ways in which the engine names the place of a syntax error.
var (
	parserPlace   = regexp.MustCompile(sourceName + `: Line (\d+):\d+ (.*?)(?: \(and \d+ more errors?\))?$`)
	compilerPlace = regexp.MustCompile(`^(.*) at ` + sourceName + `:(\d+):\d+$`)
)

// syntaxFailure says what is wrong with a program that cannot be read. What is
// not finished at its end is found only behind it, where it was wrapped.
func syntaxFailure(err error, code string) string {
	text, line := strings.TrimPrefix(err.Error(), "SyntaxError: "), ""
	if found := parserPlace.FindStringSubmatch(text); found != nil {
		line, text = found[1], found[2]
	} else if found := compilerPlace.FindStringSubmatch(text); found != nil {
		text, line = found[1], found[2]
	}
	if forAwait.MatchString(code) && strings.HasSuffix(text, "token await") {
		text = "for await is not known here. Use for (const promise of list) { const value = await promise; … }"
	}
	last := 1 + len(lineEnd.FindAllStringIndex(code, -1))
	if n, err := strconv.Atoi(line); err == nil && n > last {
		return fmt.Sprintf("SyntaxError: The program is not finished at its end, in line %d, or has a } too many: look for a bracket, a quote or an expression that is left open.", last)
	}
	if line != "" {
		text += " (line " + line + ")"
	}
	return "SyntaxError: " + text
}

// forAwait is a loop of the language that the engine does not know.
var forAwait = regexp.MustCompile(`\bfor\s+await\b`)

// lineEnd is what ends a line of JavaScript.
var lineEnd = regexp.MustCompile(`\r\n|[\n\r\x{2028}\x{2029}]`)
