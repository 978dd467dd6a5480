package models

import "testing"

func TestTitleFrom(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"a short message", "Why is it red?", "Why is it red?"},
		{"the first line that says something", "\n \nBuild fails\nsee the log", "Build fails"},
		{"the marks of code", "Run `seq 1 10` and ```count```", "Run seq 1 10 and count"},
		{"control characters", "a\tb\x00c", "a b c"},
		{"a long line is cut at a word", "one two three four five six seven eight nine ten eleven twelve thirteen", "one two three four five six seven eight nine ten eleven…"},
		{"a long word is cut", "发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行", "发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少合计行发票导出缺少…"},
		{"nothing", " \n\t", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := TitleFrom(test.content); got != test.want {
				t.Errorf("TitleFrom(%q) = %q, want %q", test.content, got, test.want)
			}
		})
	}
}
