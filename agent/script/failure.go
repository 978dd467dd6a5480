package script

import (
	"errors"
	"fmt"
	"regexp"
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
	text := object.String()
	if stack := object.Get("stack"); stack != nil {
		text += atLine(stack.String())
	}
	return text
}

// positions are how the parser names places.
var positions = regexp.MustCompile(sourceName + `: Line (\d+):\d+ (.*?)(?: \(and \d+ more errors?\))?$`)

// syntaxFailure says what is wrong with a program that cannot be read.
func syntaxFailure(err error) string {
	text := strings.TrimPrefix(err.Error(), "SyntaxError: ")
	if found := positions.FindStringSubmatch(text); found != nil {
		text = fmt.Sprintf("%s (line %s)", found[2], found[1])
	}
	return "SyntaxError: " + text
}
