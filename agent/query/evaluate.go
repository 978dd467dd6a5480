package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"offcut/agent/apart"
	"offcut/models"
)

// headedTool is the tool whose results begin with lines about the answer, which
// end with an empty one, as an answer of HTTP does.
const headedTool = "fetch_url"

// task is the first line of what a child is given; the text follows it.
type task struct {
	Filter string `json:"filter"`
	Headed bool   `json:"headed"`
}

var evaluation = apart.NewJob("query", evaluate)

// maxQuoted bounds what of a text or of an error is quoted, in bytes.
const maxQuoted = 300

// evaluate is the child's side: the filter over each value of the text. Its
// errors are faults.
func evaluate(in io.Reader, out io.Writer) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the filter: %w", err)
	}
	var t task
	if err := json.Unmarshal(line, &t); err != nil {
		return fmt.Errorf("read the filter: %w", err)
	}
	code, err := compile(t.Filter)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return fmt.Errorf("read the text: %w", err)
	}
	answer := bufio.NewWriterSize(out, 64<<10)
	if err := values(text, bodyOf(text, t.Headed), func(at place, value any) error { return apply(code, at, value, answer) }); err != nil {
		return err
	}
	return answer.Flush()
}

// compile parses a filter. It gets no environment, no files and no further
// input: none of the options that would give it some is used.
func compile(filter string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(filter)
	var wrong *gojq.ParseError
	if errors.As(err, &wrong) {
		at := int64(max(0, wrong.Offset-len(wrong.Token)))
		return nil, fault{Code: "invalid_filter", FilterOffset: &at, Message: fmt.Sprintf("the filter is no jq filter: at its byte %d, %s", at, bounded(err.Error()))}
	}
	if err != nil {
		return nil, fault{Code: "invalid_filter", Message: "the filter is no jq filter: " + bounded(err.Error())}
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		f := fault{Code: "invalid_filter", Message: "the filter cannot be used: " + bounded(err.Error())}
		if name := unknownName(err); name != "" {
			if i := strings.Index(filter, name); i >= 0 {
				f.FilterOffset = models.Ptr(int64(i))
				f.Message = fmt.Sprintf("the filter cannot be used: at its byte %d, %s", i, bounded(err.Error()))
			}
		}
		return nil, f
	}
	return code, nil
}

// unknownName is what an error of the compiler says is not there, such as
// "function not defined: foo/1".
func unknownName(err error) string {
	_, name, _ := strings.Cut(err.Error(), "not defined: ")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// bodyOf is where the JSON of a text begins: after a byte order mark, or after
// the lines about the answer.
func bodyOf(text []byte, headed bool) int {
	if headed {
		if i := bytes.Index(text, []byte("\n\n")); i >= 0 {
			return i + 2
		}
	}
	return len(text) - len(bytes.TrimPrefix(text, []byte("\uFEFF")))
}

// place is where in a copy a value begins.
type place struct{ offset, line int64 }

// values calls do for each JSON value of the text, which begins at a byte.
func values(text []byte, from int, do func(place, any) error) error {
	decoder := json.NewDecoder(bytes.NewReader(text[from:]))
	decoder.UseNumber() // numbers keep their precision
	some, line, counted := false, int64(1), 0
	for {
		var value any
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(text, from, err)
		}
		some = true
		end := from + int(decoder.InputOffset())
		line += int64(bytes.Count(text[counted:end], []byte("\n")))
		counted = end
		if err := do(place{int64(end), line}, value); err != nil {
			return err
		}
	}
	if !some {
		return fault{Code: "not_json", Message: "the kept copy holds no JSON: it is empty"}
	}
	return nil
}

// broken says where a text stops being JSON, and what stands there.
func broken(text []byte, from int, err error) error {
	at := len(text)
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) && !errors.Is(err, io.ErrUnexpectedEOF) {
		at = min(max(from, from+int(wrong.Offset)-1), len(text))
	}
	line := int64(bytes.Count(text[:at], []byte("\n"))) + 1
	why := ""
	if wrong != nil {
		why = " (" + bounded(wrong.Error()) + ")"
	}
	offset := int64(at)
	return fault{
		Code: "not_json", Offset: &offset, Line: &line,
		Message: fmt.Sprintf("the kept copy is not JSON: it breaks at byte %d, in line %d, where %s%s. Search or read it as text", at, line, found(text[at:]), why),
	}
}

// found says what a text begins with.
func found(rest []byte) string {
	if len(rest) == 0 {
		return "it ends too early"
	}
	r, _ := utf8.DecodeRune(rest)
	return fmt.Sprintf("%q was found", r)
}

// apply writes what the filter gives of one value, each on a line.
func apply(code *gojq.Code, at place, value any, out *bufio.Writer) error {
	results := code.Run(value)
	for {
		result, more := results.Next()
		if !more {
			return nil
		}
		if err, failed := result.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return nil
			}
			return fault{
				Code: "filter_failed", Offset: &at.offset, Line: &at.line,
				Message: fmt.Sprintf("the filter failed on the value that ends at byte %d, in line %d: %s", at.offset, at.line, bounded(err.Error())),
			}
		}
		line, err := gojq.Marshal(result)
		if err != nil {
			return fmt.Errorf("write a value: %w", err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
}

func bounded(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
}
