package models

import (
	"errors"
	"strings"
	"testing"
)

func TestTitleFrom(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"a short message", "Why is it red?", "Why is it red?"},
		{"the first line that says something", "\n \nBuild fails\nsee the log", "Build fails"},
		{"the marks of code", "Run `seq 1 10` and ```count```", "Run seq 1 10 and count"},
		{"control characters", "a\tb\x00c", "a b c"},
		{"a long line is cut at a word", "one two three four five six seven eight nine ten eleven twelve thirteen", "one two three four five six seven eight nine ten eleven…"},
		{"a long word is cut", "发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行", "发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少…"},
		{"marks of direction", "\u202eof bob\u2066", "of bob"},
		{"a line that cannot be seen", "\u200b\u3164\nseen", "seen"},
		{"a line that ends in another way", "one\u2028two", "one"},
		{"emoji of several", "👩‍💻 ❤️", "👩‍💻 ❤️"},
		{"nothing", " \n\t", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := TitleFrom(test.content); got != test.want {
				t.Errorf("TitleFrom(%q) = %q, want %q", test.content, got, test.want)
			}
		})
	}
}

func TestTitlesThatAreRefused(t *testing.T) {
	for title, want := range map[string]string{
		"":                       "",
		"Ünïcode 标题":             "",
		strings.Repeat("é", 200): "",
		strings.Repeat("é", 201): "title_too_long",
		"two\nlines":             "invalid_title",
		"a\x7f":                  "invalid_title",
		"a\u202e":                "invalid_title",
		"a\u200f":                "invalid_title",
		"a\u0085b":               "invalid_title",
		"a\u2028b":               "invalid_title",
		"\u200b":                 "invalid_title",
		"\u3164":                 "invalid_title",
		"שלום עולם":              "",
		"👩‍💻":                    "",
		"a\xff\xfeb":             "invalid_utf8",
	} {
		err := ValidateTitle(title)
		var refused *Error
		if errors.As(err, &refused); (want == "") != (err == nil) || refused != nil && refused.Code != want {
			t.Errorf("ValidateTitle(%q) = %v, want %q", title, err, want)
		}
	}
}
