package visible

import "testing"

func TestPlainTextSteersNoTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"as it is\tand\r\nso\n": "as it is\tand\r\nso\n",
		"\x1b]0;title\a":        "‹ESC›]0;title‹BEL›",
		"a\rb":                  "a‹CR›b",
		"x\u202egpj":            "x‹U+202E›gpj",
		"中文 🙂":                  "中文 🙂",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}
