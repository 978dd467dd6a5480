package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"offcut/agent"
)

// commandReturns is the type of commandValue.
const commandReturns = "{exit_code: number|null, signal: string|null, timed_out: boolean, text: string, truncated: boolean, output_id: string|null, total_bytes: number, complete: boolean}"

// signatures are the types of the tools that a script finds, one a line, as
// TypeScript writes them.
func signatures(specs []agent.ToolSpec) string {
	var out strings.Builder
	out.WriteString("The tools, of which all but run_command return {text: string} with their metadata (such as has_more and next_line) beside it:\n")
	for _, spec := range specs {
		if spec.Name == runScriptName {
			continue
		}
		name := spec.Name
		if !identifier.MatchString(name) {
			name = fmt.Sprintf("[%q]", name) // as in tools["a-b"]({…})
		}
		fmt.Fprintf(&out, "%s(%s)", name, parameters(spec))
		if spec.Name == "run_command" {
			out.WriteString(": " + commandReturns)
		}
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// identifier is a name that can stand behind a dot.
var identifier = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// jsonType is as much of a JSON schema as a signature tells.
type jsonType struct {
	Type       any               `json:"type"` // a name, or a list of them
	Enum       []json.RawMessage `json:"enum"`
	Items      *jsonType         `json:"items"`
	Properties properties        `json:"properties"`
	Required   []string          `json:"required"`
}

// parameters are the arguments of a tool. No command of a script goes on in the
// background.
func parameters(spec agent.ToolSpec) string {
	var schema jsonType
	if json.Unmarshal(spec.Parameters, &schema) != nil {
		return "object"
	}
	if spec.Movable {
		schema.Properties = slices.DeleteFunc(schema.Properties, func(p property) bool { return p.name == "background" })
	}
	for depth := maxNesting; depth > 0; depth-- {
		if told := schema.object(depth); len(told) <= maxSignature {
			return told
		}
	}
	return "object"
}

// The bounds of what is told of one tool: others may come with schemas of any
// size, and the model is told the whole of them with the tools themselves.
const (
	maxSignature  = 1500 // bytes
	maxNesting    = 3    // objects and lists within each other
	maxProperties = 30   // of one object, and values of one enumeration
)

// object is the type of an object, told so many levels deep.
func (t jsonType) object(depth int) string {
	if len(t.Properties) == 0 {
		return "{}"
	}
	var fields []string
	for i, p := range t.Properties {
		if i == maxProperties {
			fields = append(fields, "…")
			break
		}
		name, optional := p.name, "?"
		if !identifier.MatchString(name) {
			name = fmt.Sprintf("%q", name)
		}
		if slices.Contains(t.Required, p.name) {
			optional = ""
		}
		fields = append(fields, fmt.Sprintf("%s%s: %s", name, optional, p.of.name(depth-1)))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// name is a type, told so many levels deep.
func (t jsonType) name(depth int) string {
	if len(t.Enum) > 0 && len(t.Enum) <= maxProperties {
		var values []string
		for _, value := range t.Enum {
			values = append(values, string(value))
		}
		return strings.Join(values, "|")
	}
	kind := t.kind()
	switch {
	case kind == "integer":
		return "number"
	case kind == "array" && t.Items != nil && depth > 0:
		return t.Items.name(depth-1) + "[]"
	case kind == "object" && len(t.Properties) > 0 && depth > 0:
		return t.object(depth)
	case kind == "string", kind == "number", kind == "boolean", kind == "object":
		return kind
	case kind == "array":
		return "unknown[]"
	}
	return "unknown"
}

// kind is the schema's own word for the type; of several, such as
// ["null", "string"], the last one but null.
func (t jsonType) kind() (kind string) {
	switch named := t.Type.(type) {
	case string:
		return named
	case []any:
		for _, one := range named {
			if text, ok := one.(string); ok && text != "null" {
				kind = text
			}
		}
	}
	return kind
}

// properties are those of an object, in the order in which the schema has them.
type properties []property

type property struct {
	name string
	of   jsonType
}

// UnmarshalJSON keeps the order.
func (p *properties) UnmarshalJSON(data []byte) error {
	in := json.NewDecoder(bytes.NewReader(data))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		one := property{name: fmt.Sprint(name)}
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return err
		}
		_ = json.Unmarshal(raw, &one.of) // a schema may also be true: its type is not known
		*p = append(*p, one)
	}
	return nil
}
