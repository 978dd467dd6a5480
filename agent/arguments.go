package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"offcut/models"
)

// prepare finds the tool of a call and checks its arguments; false where the
// call cannot run, with the result that says why.
//
// Arguments that were cut never run as they stand. Whoever recovers them does
// it here, before they are refused.
func (l *Loop) prepare(reply models.Message, c models.ToolCall) (Tool, ToolResult, bool) {
	tool, ok := l.Tools.byName[c.Name]
	if !ok {
		return nil, ErrorResult(c.ID, "There is no tool named %q. The tools are: %s.", c.Name, l.Tools.names()), false
	}
	cut := reply.FinishReason == models.FinishLength
	if err := parseArguments(c.Arguments, cut); err != nil {
		return nil, badArguments(c, tool.Spec(), err, cut || unfinished(c.Arguments)), false
	}
	return tool, ToolResult{}, true
}

// parseArguments accepts a JSON object. No arguments at all are those of a tool
// that takes none, unless the reply was cut before they came.
func parseArguments(arguments string, cut bool) error {
	if strings.TrimSpace(arguments) == "" && !cut {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(arguments), &object); err != nil {
		return err
	}
	if object == nil {
		return errors.New("null is no object")
	}
	return nil
}

func normalArguments(arguments string) string {
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	return arguments
}

// unfinished reports whether the text is the beginning of some JSON: it ended
// too early, whatever the provider says of it.
func unfinished(arguments string) bool {
	var v any
	return errors.Is(json.NewDecoder(strings.NewReader(arguments)).Decode(&v), io.ErrUnexpectedEOF)
}

// quotedBytes bounds, at each end, how much of bad arguments is quoted back to
// the model: it wrote them, and they stand in the history.
const quotedBytes = 1000

// badArguments is the result of a call whose arguments do not parse.
func badArguments(c models.ToolCall, spec ToolSpec, err error, cut bool) ToolResult {
	var text strings.Builder
	fmt.Fprintf(&text, "The arguments of %s are not a JSON object (%v), so it did not run.", c.Name, err)
	if schema := compact(spec.Parameters); schema != "" {
		fmt.Fprintf(&text, " It takes: %s", schema)
	}
	fmt.Fprintf(&text, "\nReceived:\n%s", quote(c.Arguments))
	if cut {
		text.WriteString("\n(output truncated, please reduce your output)")
	}
	return ErrorResult(c.ID, "%s", text.String())
}

func quote(s string) string {
	if len(s) <= 2*quotedBytes {
		return s
	}
	head, tail := s[:quotedBytes], s[len(s)-quotedBytes:]
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", strings.ToValidUTF8(head, ""), len(s)-2*quotedBytes, strings.ToValidUTF8(tail, ""))
}

func compact(schema json.RawMessage) string {
	var buf bytes.Buffer
	if json.Compact(&buf, schema) != nil {
		return ""
	}
	return buf.String()
}
