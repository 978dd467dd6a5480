package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"offcut/agent"
)

// maxQuoted bounds how much of bad arguments is quoted back, in bytes.
const maxQuoted = 1000

// typed is a tool whose arguments are a struct. The struct's fields are its
// schema, and what does not fit them never reaches the function.
type typed[A any] struct {
	spec     agent.ToolSpec
	schema   *jsonschema.Resolved
	defaults json.RawMessage
	run      func(ctx context.Context, call agent.Call, args A) (agent.ToolResult, error)
}

// rule refines what the struct alone says of one argument.
type rule func(properties map[string]*jsonschema.Schema)

// within bounds a number.
func within(name string, least, most float64) rule {
	return func(p map[string]*jsonschema.Schema) { p[name].Minimum, p[name].Maximum = &least, &most }
}

// atLeast bounds a number from below.
func atLeast(name string, least float64) rule {
	return func(p map[string]*jsonschema.Schema) { p[name].Minimum = &least }
}

// standard is the value of an argument that is not given.
func standard(name string, value any) rule {
	return func(p map[string]*jsonschema.Schema) {
		p[name].Default, _ = json.Marshal(value) // of a number, boolean or string
	}
}

// newTyped makes a tool. Its spec needs no parameters: they are derived. A
// struct that makes no schema is a fault of the program, and panics.
func newTyped[A any](spec agent.ToolSpec, run func(context.Context, agent.Call, A) (agent.ToolResult, error), rules ...rule) agent.Tool {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", spec.Name, err))
	}
	for _, r := range rules {
		r(schema.Properties)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", spec.Name, err))
	}
	defaults := map[string]json.RawMessage{}
	for name, property := range schema.Properties {
		if property.Default != nil {
			defaults[name] = property.Default
		}
	}
	t := typed[A]{spec: spec, schema: resolved, run: run}
	t.spec.Description = strings.TrimSpace(spec.Description)
	t.spec.Parameters = mustJSON(schema)
	t.defaults = mustJSON(defaults)
	t.spec.Fits = func(arguments json.RawMessage) error {
		_, err := t.arguments(arguments)
		return err
	}
	return t
}

// mustJSON writes what is known to have a form in JSON. Nothing of it is put
// into a page: < and & stay as they are, and markup as short as it is.
func mustJSON(v any) json.RawMessage {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("write %T as JSON: %v", v, err))
	}
	return bytes.TrimSuffix(data.Bytes(), []byte("\n"))
}

func (t typed[A]) Spec() agent.ToolSpec { return t.spec }

// Run checks the arguments and runs the tool. A tool that panics costs its own
// call and nothing else.
func (t typed[A]) Run(ctx context.Context, call agent.Call) (result agent.ToolResult, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			slog.ErrorContext(ctx, "tool panicked", "tool", t.spec.Name, "call", call.ID, "fault", fault, "stack", string(debug.Stack()))
			result, err = agent.ErrorResult(call.ID, "%s failed because of a fault in Offcut, which was logged. Try another way.", t.spec.Name), nil
		}
	}()
	args, err := t.arguments(call.Arguments)
	if err != nil {
		return agent.ErrorResult(call.ID, "The arguments of %s are wrong: %s.\nThey must fit this JSON schema: %s\nReceived: %s",
			t.spec.Name, clean(err.Error()), t.spec.Parameters, quoted(call.Arguments)), nil
	}
	result, err = t.run(ctx, call, args)
	var told refusal
	if errors.As(err, &told) {
		return agent.ErrorResult(call.ID, "%s", clean(string(told))), nil
	}
	if err != nil {
		return agent.ToolResult{}, fmt.Errorf("tool %s, call %s: %w", t.spec.Name, call.ID, err)
	}
	result.ToolCallID = call.ID
	return result, nil
}

// arguments are the given ones over the defaults.
func (t typed[A]) arguments(given json.RawMessage) (A, error) {
	var args, none A
	if len(bytes.TrimSpace(given)) == 0 {
		given = json.RawMessage("{}")
	}
	var object map[string]any
	if err := json.Unmarshal(given, &object); err != nil {
		return none, describe(err)
	}
	if object == nil {
		return none, errors.New("they are no JSON object")
	}
	// Some models write null for what they leave out.
	for name, value := range object {
		if value == nil {
			delete(object, name)
		}
	}
	if err := t.schema.Validate(object); err != nil {
		return none, errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
	}
	if err := json.Unmarshal(t.defaults, &args); err != nil {
		return none, describe(err)
	}
	if err := json.Unmarshal(given, &args); err != nil {
		return none, describe(err)
	}
	return args, nil
}

// describe says what is wrong with JSON without the names of Go's types.
func describe(err error) error {
	var wrongType *json.UnmarshalTypeError
	if !errors.As(err, &wrongType) {
		return fmt.Errorf("they are no valid JSON (%w)", err)
	}
	if wrongType.Field == "" {
		return fmt.Errorf("they are a JSON %s, not an object", wrongType.Value)
	}
	if kind := wrongType.Type.Kind(); kind >= reflect.Int && kind <= reflect.Uint64 {
		return fmt.Errorf("%s is no whole number that can be used", wrongType.Field)
	}
	return fmt.Errorf("%s is a JSON %s", wrongType.Field, wrongType.Value)
}

// quoted is the received arguments, bounded.
func quoted(arguments json.RawMessage) string {
	if len(arguments) <= maxQuoted {
		return clean(string(arguments))
	}
	return clean(string(arguments[:maxQuoted])) + fmt.Sprintf("… (%d bytes in all)", len(arguments))
}

// clean is s as valid UTF-8, without NULs.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// refusal is an error that the model is told, in a sentence, so that it can
// mend it.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error {
	return refusal(fmt.Sprintf(format, args...))
}
