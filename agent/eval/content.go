package eval

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// maxContentBytes bounds one text of a fixture: more than any limit of Offcut's.
const maxContentBytes = 64 << 20

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

// bytes makes the text.
func (c Content) bytes() ([]byte, error) {
	if len(c.Parts) == 0 {
		return []byte(c.Text), nil
	}
	var out bytes.Buffer
	for _, p := range c.Parts {
		out.WriteString(p.Text)
		for n := 1; n <= p.Repeat; n++ {
			if err := p.line.Execute(&out, struct{ N int }{n}); err != nil {
				return nil, err
			}
			if out.Len() > maxContentBytes {
				return nil, fmt.Errorf("it has more than %d bytes", maxContentBytes)
			}
		}
	}
	return out.Bytes(), nil
}
