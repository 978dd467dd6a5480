package script

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"

	"github.com/dop251/goja"
)

// text is a value as it is printed: a string as it is, and anything else as JSON
// in which stands what JSON has no word for.
func (e *engine) text(v goja.Value) string {
	object, isObject := v.(*goja.Object)
	if !isObject {
		return exact(e.plain(v))
	}
	if word, ok := e.word(object); ok {
		return word
	}
	seen := inspection{e: e}
	text, err := e.stringify(goja.Undefined(), v, e.vm.ToValue(seen.replace))
	var thrown *goja.Exception
	switch {
	case errors.As(err, &thrown):
		return "[" + object.ClassName() + " that cannot be printed: " + e.failure(err) + "]"
	case err != nil:
		panic(err) // the program has to end
	case text == goja.Undefined():
		return "undefined" // as its toJSON says
	}
	return text.String()
}

// word is an object that is not printed as JSON: an error with the line where it
// was thrown, a date, a function and the like.
func (e *engine) word(object *goja.Object) (word string, ok bool) {
	switch object.ClassName() {
	case "Error":
		return e.thrown(object), true
	case "Date", "RegExp":
		return object.String(), true
	case "Function":
		name := object.Get("name")
		if name == nil || name.String() == "" {
			return "[Function]", true
		}
		return "[Function: " + exact(name.ToString()) + "]", true
	}
	if object.ExportType() == promiseType {
		promise, _ := object.Export().(*goja.Promise)
		return "[Promise: " + settled[promise.State()] + "]", true
	}
	return "", false
}

// maxInspected bounds how deep what is printed may be nested.
const maxInspected = 1000

var tooDeepToPrint = fmt.Sprintf("[nested deeper than %d]", maxInspected)

// The types by which the engine tells some objects apart: for their class it
// says Object.
var (
	promiseType = reflect.TypeFor[*goja.Promise]()
	mapType     = reflect.TypeFor[[][2]any]()
	setType     = reflect.TypeFor[[]any]()
)

// settled says of a promise how it stands: whoever prints one forgot to await it.
var settled = map[goja.PromiseState]string{
	goja.PromiseStatePending:   "not settled yet, await it",
	goja.PromiseStateFulfilled: "fulfilled, await it",
	goja.PromiseStateRejected:  "rejected, await it",
}

// inspection is one walk of JSON.stringify through a value.
type inspection struct {
	e *engine
	// within are the objects in which the walk is, as they are and as they are
	// shown.
	within []shown
}

type shown struct{ as, is *goja.Object }

// replace is the function by which JSON.stringify asks for each value, with the
// object that holds it as this.
func (i *inspection) replace(c goja.FunctionCall) goja.Value {
	value := c.Argument(1)
	object, isObject := value.(*goja.Object)
	if !isObject {
		return i.e.plain(value)
	}
	holder, _ := c.This.(*goja.Object)
	for len(i.within) > 0 && i.within[len(i.within)-1].as != holder {
		i.within = i.within[:len(i.within)-1]
	}
	for _, outer := range i.within {
		if outer.is == object {
			return i.e.vm.ToValue("[Circular]")
		}
	}
	if word, ok := i.e.word(object); ok {
		return i.e.vm.ToValue(word)
	}
	if len(i.within) == maxInspected {
		return i.e.vm.ToValue(tooDeepToPrint)
	}
	as := object
	kind := object.ExportType()
	if kind == mapType || kind == setType && object.ClassName() != "Array" { // is shown as a list
		list, err := i.e.listOf(goja.Undefined(), object)
		if err != nil {
			panic(err)
		}
		as = list.ToObject(i.e.vm)
	}
	i.within = append(i.within, shown{as, object})
	return as
}

// plain is a value that is no object, so that JSON does not leave it out or
// write null for it.
func (e *engine) plain(v goja.Value) goja.Value {
	switch v := v.(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		return e.vm.ToValue("Symbol(" + v.String() + ")")
	}
	switch number := v.Export().(type) {
	case *big.Int:
		return e.vm.ToValue(number.String() + "n")
	case float64:
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return e.vm.ToValue(v.String())
		}
	}
	return v
}
