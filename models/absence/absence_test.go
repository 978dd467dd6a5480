package absence_test

import (
	"strings"
	"testing"

	"offcut/models"
	"offcut/models/absence"

	"github.com/google/go-cmp/cmp"
)

func TestWhatSaysThatSomethingIsAbsent(t *testing.T) {
	for _, text := range []string{
		"There is no error in the log.",
		"There are no entries for July.",
		"There isn't any `timeout` in it.",
		"there’s nothing about it in the output",
		"The file does not contain that key.",
		"The field doesn’t exist.",
		"The name was not found.",
		"User 17 is not in the list.",
		"It isn't listed there.",
		"I couldn't find any mention of it.",
		"I cannot find the commit.",
		"I was not able to find it.",
		"The search returned no results.",
		"The build has no warnings.",
		"It finished with no errors.",
		"It ran without any errors.",
		"No errors were found.",
		"No test failed.",
		"**No** matches.",
		"- No warnings",
		"So no line of it mentions the port.",
		"None of the rows is from 2024.",
		"Nothing in the log is about disks.",
		"That id appears nowhere in the export.",
		"The trailing field is missing.",
		"`total` is missing from the response.",
		"It never appears in the output.",
		"The build passed. There was no failure. Go ahead.",
		"I looked at the log and\nthere is no error in it.",
		"- zebra: not found",
		"1. zebra — not found",
		"| zebra | not found |",
		"Zebra: **not found** in the log.",
		"The answer: **no** zebra was found in the log.",
		"# Result\n\nnot found",
		"The list lacks a zebra.",
		"There were zero errors.",
		"0 results.",
		"沒有找到這個欄位。",
		"日誌中沒有錯誤。",
		"没有。",
		"日志中没有错误。",
		"我没有找到这个字段。",
		"没找到相关记录",
		"输出里没有 `ERROR`。",
		"该文件不包含这个键。",
		"这个用户不存在。",
		"并未发现任何异常。",
		"在列表中找不到它。",
		"结果为空，无匹配记录。",
		"它不在列表里。",
		"整个导出文件未提到七月。",
	} {
		if claims := absence.In(text); len(claims) != 1 {
			t.Errorf("%q has the claims %+v", text, claims)
		}
	}
}

func TestWhatDoesNotSayThatSomethingIsAbsent(t *testing.T) {
	for _, text := range []string{
		"",
		"The last line is 200000.",
		"The build failed at step 3 with exit code 2.",
		"It printed \"file not found\" and stopped.",
		"The error was `module not found`.",
		"它打印了“文件不存在”。",
		"它返回「没有找到文件」。",
		"> There is no error in the log.",
		"```\nno errors were found\n```",
		"~~~text\n没有错误\n~~~\nThat is what it printed.",
		"Is there no error in it?",
		"日志里没有错误吗？",
		"If there is no error in the log, deploy it.",
		"如果没有找到文件，请重试。",
		"There may be no entry for July.",
		"In the part that I have read there is no error.",
		"In what I saw, no errors were found.",
		"I cannot say whether there is no such entry.",
		"So far there is no error.",
		"在我读到的部分里没有错误。",
		"可能没有这个字段。",
		"目前没有发现异常。",
		"There is no need to run it again.",
		"There is no doubt that it works.",
		"There is nothing to do.",
		"I do not have access to that folder.",
		"I have no further questions.",
		"No changes were made to the file.",
		"I removed the file, so it does not exist any more.",
		"Line 7 is `ERROR: key not found`, so the key was missing at that time.",
		"The server answered: not found.",
		"It ended with error 404: not found.",
		"沒有問題。",
		"没有问题，已经完成。",
		"没有必要再运行一次。",
		"毫无疑问，它是对的。",
		"无论如何都可以。",
	} {
		if claims := absence.In(text); len(claims) != 0 {
			t.Errorf("%q has the claims %+v", text, claims)
		}
	}
}

func TestAClaimIsQuotedAndNamesItsTerms(t *testing.T) {
	text := "I read `build.log`. There is no “E_TIMEOUT 17” in `build.log`, see [it](http://a.b/c). Done.\n\n没有找到 `订单号`。"
	want := []absence.Claim{
		{Sentence: "There is no “E_TIMEOUT 17” in `build.log`, see it.", Terms: []string{"E_TIMEOUT 17", "build.log"}, Absent: []string{"E_TIMEOUT 17"}},
		{Sentence: "没有找到 `订单号`。", Terms: []string{"订单号"}, Absent: []string{"订单号"}},
	}
	if diff := cmp.Diff(want, absence.In(text)); diff != "" {
		t.Error(diff)
	}
	for markdown, read := range map[string]string{
		"**No zebra** was found.":            "No zebra was found.",
		"It was [not found](http://a) here.": "It was not found here.",
		"| zebra | There is no zebra |":      "zebra · There is no zebra",
	} {
		if claims := absence.In(markdown); len(claims) != 1 || claims[0].Sentence != read {
			t.Errorf("%q is quoted as %+v", markdown, claims)
		}
	}
	long := absence.In("There is no " + strings.Repeat("very ", 100) + "long name in it.")
	if len(long) != 1 || len([]rune(long[0].Sentence)) != absence.MaxSentence+1 {
		t.Errorf("a long sentence is quoted as %+v", long)
	}
}

func TestOnlyASearchForWhatIsAbsentSpeaksForAClaim(t *testing.T) {
	for _, test := range []struct {
		claim  string
		search string // an expression, and plain text is one that finds itself
		speaks bool
	}{
		{"There is no zebra in the log.", "zebra", true},
		{"There is no zebra in the log.", "apple", false},
		{"There is no zebra in the log.", "log", false},
		{"There is no zebra in the log.", "no", false},
		{"There is no zebra in the log.", "(?i)ZEBRA|lion", true},
		{"There is no zebra in the log.", "^zebra", false},
		{"There is no zebra in the log.", "zebra 17", false},
		{"The log does not contain a zebra.", "zebra", true},
		{"Zebra was not found.", "zebra", true},
		{"There are no errors in it.", "error", true},
		{"There is no ERROR in it.", "error", false},
		{"There is no line 15555 in the log.", "1", true}, // wherever 15555 is, there is a 1
		{"There is no line 15555 in the log.", "line 15555", true},
		{"There is no line 15555 in the log.", "line", false},
		{"There is no `E17` in `build.log`.", "E17", true},
		{"There is no `E17` in `build.log`.", "E1", true},
		{"There is no `E17` in `build.log`.", "build", false},
		{"There is no “E17” or “E18”.", "E17", false},
		{"There is no “E17” or “E18”.", "E1", true},
		{"No matches were found.", "E17", true},
		{"There is no second one.", "E17", true},
		{"日志中没有错误。", "错误", true},
		{"日志中没有错误。", "日志", false},
		{"日志中没有错误。", "斑马", false},
		{"没有找到 `订单号`。", "订单", true},
	} {
		claims := absence.In(test.claim)
		if len(claims) != 1 {
			t.Fatalf("%q has the claims %+v", test.claim, claims)
		}
		if speaks := claims[0].SoughtBy([]models.Sought{{Pattern: test.search, Regexp: true}}); speaks != test.speaks {
			t.Errorf("of %q (%+v) a search for %q speaks: %t", test.claim, claims[0], test.search, speaks)
		}
		if claims[0].SoughtBy(nil) {
			t.Errorf("no search speaks for %q", test.claim)
		}
	}
}

func TestAnAnswerThatNamesItsGap(t *testing.T) {
	for text, names := range map[string]bool{
		"I have not read the middle of the build log.":        true,
		"I didn't look at the rest.":                          true,
		"I only read the first page.":                         true,
		"The copy is incomplete, so an entry may be missing.": true,
		"Whether it is there cannot be known.":                true,
		"In what I have read there is no error.":              true,
		"我没有读完整个日志。":                                          true,
		"只看了前几行。":                                             true,
		"副本不完整，无法确定。":                                         true,
		"There is no error in the log.":                       false,
		"The build passed.":                                   false,
		"日志中没有错误。":                                            false,
		"It printed `incomplete`.":                            false,
	} {
		if absence.NamesGap(text) != names {
			t.Errorf("%q names a gap: %t", text, !names)
		}
	}
}

func FuzzIn(f *testing.F) {
	f.Add("There is no `x` in “y”.\n```\nno\n```")
	f.Add("没有“找到”\uE0F2。")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range absence.In(text) {
			if c.Sentence == "" || len([]rune(c.Sentence)) > absence.MaxSentence+1 {
				t.Errorf("%q", c.Sentence)
			}
		}
		absence.NamesGap(text)
		for _, c := range absence.In(text) {
			c.SoughtBy([]models.Sought{{Pattern: "x"}, {Pattern: "[x-z]", Regexp: true}})
		}
	})
}
