package eval

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// maxContentBytes bounds one text of a fixture: more than any limit of Offcut's.
const maxContentBytes = 64 << 20

var errTooLong = fmt.Errorf("it makes more than %d bytes", maxContentBytes)

// numbered is what the template of a line can name.
type numbered struct{ N int }

// functions are what templates of a scenario can compute with.
var functions = template.FuncMap{
	"add": func(a, b int) int { return a + b },
	"mul": func(a, b int) int { return a * b },
	"mod": func(a, b int) (int, error) {
		if b == 0 {
			return 0, fmt.Errorf("mod by 0")
		}
		return a % b, nil
	},
}

func parseTemplate(text string) (*template.Template, error) {
	return template.New("").Option("missingkey=error").Funcs(functions).Parse(text)
}

// filled is a text with what its template names in it.
func filled(text string, values any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	parsed, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, values)
	return out.String(), err
}

// try makes the first and the last line of each part, and holds the size that
// they lead to against the bound: making all would take its time at each start.
func (c Content) try() error {
	size := 0
	for _, p := range c.Parts {
		size += len(p.Text)
		for _, n := range []int{1, p.Repeat} {
			if p.line == nil {
				break
			}
			var line bytes.Buffer
			if err := p.line.Execute(&line, numbered{n}); err != nil {
				return err
			}
			size += line.Len() * (p.Repeat / 2)
		}
	}
	if size > maxContentBytes {
		return errTooLong
	}
	return nil
}

// bytes makes the text.
func (c Content) bytes() ([]byte, error) {
	if len(c.Parts) == 0 {
		return []byte(c.Text), nil
	}
	var out bytes.Buffer
	for _, p := range c.Parts {
		out.WriteString(p.Text)
		for n := 1; n <= p.Repeat; n++ {
			if err := p.line.Execute(&out, numbered{n}); err != nil {
				return nil, err
			}
			if out.Len() > maxContentBytes {
				return nil, errTooLong
			}
		}
	}
	return out.Bytes(), nil
}
