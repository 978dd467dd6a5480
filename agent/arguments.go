package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"offcut/models"
)

// prepared is a tool call of which it is known what will become of it.
type prepared struct {
	// ToolCall is what is stored and sent again: with the arguments that run,
	// or with those received where the call cannot run.
	models.ToolCall
	tool    Tool
	refused *ToolResult // why the call cannot run; nil where it can
}

// changes: the call will run, and can change something.
func (p prepared) changes() bool {
	return p.refused == nil && p.tool != nil && p.tool.Spec().HasEffects
}

// prepare finds the tool of a call and what it runs on. It comes before the
// reply is stored, so that what runs is what is stored.
//
// Whether arguments were cut is seen in them: providers say so of the reply
// alone, and some not even of that.
func (l *Loop) prepare(c models.ToolCall, finish models.FinishReason) prepared {
	p := prepared{ToolCall: c}
	tool, ok := l.Tools.Tool(c.Name)
	if !ok {
		unknown := ErrorResult(c.ID, "%s", l.Tools.Unknown(c.Name))
		unknown.Metadata.UnknownTool = true
		return p.refuse(unknown)
	}
	p.tool = tool
	cut := finish == models.FinishLength
	bad := parseArguments(c.Arguments, cut)
	if bad == nil {
		p.Arguments = normalArguments(c.Arguments)
		return p
	}
	spec := tool.Spec()
	whole, err := complete(spec, c.Arguments, bad)
	if err != nil {
		return p.refuse(badArguments(c, spec, err, cut || unfinished(c.Arguments)))
	}
	p.Arguments, p.Completed = whole, true
	return p
}

func (p prepared) refuse(result ToolResult) prepared {
	p.refused = &result
	return p
}

// complete completes arguments that do not parse because they were cut. Its
// error says what is wrong with them where the tool may not run on that: text
// of which half may do harm, a number that may have been a larger one where it
// takes effect, and what does not fit the tool's schema.
func complete(spec ToolSpec, arguments string, bad error) (string, error) {
	whole, cut, ok := RecoverTruncatedJSON(arguments)
	switch {
	case !ok:
		return "", fmt.Errorf("are not a JSON object (%w)", bad)
	case cut == CutString && spec.UnsafeWhenCut:
		return "", errors.New("were cut off inside a string, and to run half of it may do harm")
	case cut == CutNumber && spec.HasEffects:
		return "", errors.New("were cut off behind a digit, and may have held a larger number")
	case spec.Fits == nil:
		return "", errors.New("were cut off, and it cannot be told whether what came of them is enough")
	}
	if err := spec.Fits(json.RawMessage(whole)); err != nil {
		return "", fmt.Errorf("were cut off, and what came of them is not enough (%w)", err)
	}
	return whole, nil
}

// completedLine is the last line of what a call returned that ran on completed
// arguments.
const completedLine = "(The arguments of this call were cut off. It ran on what had come of them: see what is missing before you go on.)"

// tellCompleted marks the result of such a call. It comes after the result was
// shortened, so that the line is always seen; it is no part of what is kept.
func tellCompleted(r ToolResult) ToolResult {
	r.Metadata.ArgumentsTruncated = true
	if r.Content != "" && !strings.HasSuffix(r.Content, "\n") {
		r.Content += "\n"
	}
	r.Content += completedLine
	return r
}

// parseArguments accepts a JSON object. No arguments at all are those of a tool
// that takes none, unless the reply was cut before they came.
func parseArguments(arguments string, cut bool) error {
	if strings.TrimSpace(arguments) == "" && !cut {
		return nil
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal([]byte(arguments), &object)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("what is a JSON %s is no object", wrong.Value)
	}
	if err != nil {
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

// quotedBytes bounds, at each end, how much of bad arguments is quoted back to
// the model: it wrote them, and they stand in the history.
const quotedBytes = 1000

// badArguments is the result of a call on whose arguments its tool cannot run.
func badArguments(c models.ToolCall, spec ToolSpec, err error, cut bool) ToolResult {
	var text strings.Builder
	fmt.Fprintf(&text, "The arguments of %s %s, so it did not run.", c.Name, quote(err.Error()))
	if schema := compact(spec.Parameters); schema != "" {
		fmt.Fprintf(&text, " It takes: %s", schema)
	}
	fmt.Fprintf(&text, "\nReceived:\n%s", quote(c.Arguments))
	if cut {
		text.WriteString("\n(output truncated, please reduce your output)")
	}
	result := ErrorResult(c.ID, "%s", text.String())
	result.Metadata.ArgumentsRefused = cut
	return result
}

// quote bounds s. It holds neither NULs nor halves of characters: some servers
// refuse every later request that does.
func quote(s string) string {
	if len(s) > 2*quotedBytes {
		head, tail := s[:quotedBytes], s[len(s)-quotedBytes:]
		s = fmt.Sprintf("%s\n… %d bytes left out …\n%s", strings.ToValidUTF8(head, ""), len(s)-2*quotedBytes, strings.ToValidUTF8(tail, ""))
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func compact(schema json.RawMessage) string {
	var buf bytes.Buffer
	if json.Compact(&buf, schema) != nil {
		return ""
	}
	return buf.String()
}
