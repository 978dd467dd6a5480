package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheScenariosOfTheProgram(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("there are %d", len(all))
	}
	titles := map[string]string{}
	for _, s := range all {
		if s.About == "" || len(s.Walkthrough) == 0 {
			t.Errorf("%s says nothing about itself, or has no walkthrough", s.Name)
		}
		if before, twice := titles[s.Title]; twice {
			t.Errorf("%s and %s have the same title", s.Name, before)
		}
		titles[s.Title] = s.Name
	}
}

func TestWhatIsWrongWithAScenarioIsNamedWithItsLine(t *testing.T) {
	const head = "title: T\nquestion: Q?\n"
	const good = head + "answer:\n  right:\n    - contains: x\n"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "s.yaml:1: it is empty"},
		{"no YAML", "title: [\n", "s.yaml:"},
		{"a key that is not there", good + "quesiton: Q\n", "s.yaml:6: there is no such key: quesiton"},
		{"a key that is not there, within", good + "checks:\n  run: {}\n", "s.yaml:7: there is no such key: run"},
		{"a wrong type", good + "settings:\n  context_tokens: many\n", `s.yaml:7: "many" is not accepted; it is a whole number`},
		{"a matcher that is a text", head + "answer:\n  right:\n    - 7f3a-91c4\n", `s.yaml:5: "7f3a-91c4" is not accepted; it is a mapping with one of contains`},
		{"a number that is none", head + "answer:\n  right:\n    - number: abc\n", `s.yaml:5: "abc" is not accepted; it is a number`},
		{"a question that names what is not there", "title: T\nquestion: 'Q {{.Foo}}?'\nanswer:\n  right:\n    - contains: x\n", "s.yaml:2: question: it names .Foo, which is not there"},
		{"a question about an output", "title: T\nquestion: 'Q {{.Output}}?'\nanswer:\n  right:\n    - contains: x\n", "s.yaml:2: question: it names .Output, which is not there"},
		{"a step that names what is not there", good + "walkthrough:\n  - say: '{{.Foo}}'\n", "s.yaml:7: walkthrough[0].say: it names .Foo"},
		{"a step that names what was not taken", good + "walkthrough:\n  - {call: x, with: {a: '{{.Took.sum}}'}}\n", "s.yaml:7: walkthrough[0].with.a: it names .Took.sum"},
		{"bounds that nothing is within", good + "checks:\n  tools:\n    x: {min: 3, max: 1}\n", "s.yaml:8: checks.tools.x: min, 3, is more than max, 1"},
		{"no question", "title: T\nanswer:\n  right:\n    - contains: x\n", "s.yaml:1: question: it is missing"},
		{"nothing that is right", head + "answer:\n  wrong:\n    - contains: x\n", "s.yaml:4: answer: right is missing"},
		{"a verdict that there is not", head + "answer:\n  expect: perhaps\n", `s.yaml:4: answer.expect: "perhaps" is not accepted; it is right or uncertain`},
		{"a right answer to what cannot be known", head + "answer:\n  expect: uncertain\n  right:\n    - contains: x\n", "answer.right: there is no right answer"},
		{"a matcher of two kinds", head + "answer:\n  right:\n    - contains: x\n      number: 1\n", "s.yaml:5: answer.right[0]: it has exactly one of"},
		{"a matcher of no kind, within any", head + "answer:\n  right:\n    - any:\n        - contains: x\n        - {}\n", "s.yaml:7: answer.right[0].any[1]: it has exactly one of"},
		{"a wrong expression", head + "answer:\n  right:\n    - matches: '('\n", "s.yaml:5: error parsing regexp: missing closing )"},
		{"a file outside", good + "fixture:\n  files:\n    - path: ../x\n      text: x\n", `s.yaml:8: fixture.files[0].path: "../x" is not accepted`},
		{"a file among the commands", good + "fixture:\n  files:\n    - path: bin/.runs\n      text: x\n", "fixture.files[0].path"},
		{"a file twice", good + "fixture:\n  files:\n    - {path: a, text: x}\n    - {path: ./a, text: x}\n", `s.yaml:9: fixture.files[1].path: "a" is there twice`},
		{"a file without content", good + "fixture:\n  files:\n    - path: a\n", "fixture.files[0]: it has either text or parts"},
		{"a part of two kinds", good + "fixture:\n  files:\n    - path: a\n      parts:\n        - {text: x, line: y, repeat: 2}\n", "s.yaml:10: fixture.files[0].parts[0]: a part has either text or line"},
		{"a line without end", good + "fixture:\n  files:\n    - path: a\n      parts:\n        - {line: y}\n", "a line has repeat"},
		{"a line that is no template", good + "fixture:\n  files:\n    - path: a\n      parts:\n        - {line: '{{.N', repeat: 2}\n", "parts[0].line: it is no template"},
		{"a line that names what is not there", good + "fixture:\n  files:\n    - path: a\n      parts:\n        - {line: '{{.M}}', repeat: 2}\n", "fixture.files[0]: template"},
		{"too much", good + "fixture:\n  files:\n    - path: a\n      parts:\n        - {line: 'a long line, again and again', repeat: 4000000}\n", "it makes more than 67108864 bytes"},
		{"a command with a path", good + "fixture:\n  commands:\n    - {name: ../sh, script: x}\n", `fixture.commands[0].name: "../sh" is not accepted`},
		{"a command that does nothing", good + "fixture:\n  commands:\n    - {name: x}\n", "fixture.commands[0]: script is missing"},
		{"a tool that does not answer", good + "fixture:\n  tools:\n    - {name: x}\n", "fixture.tools[0]: it has no replies"},
		{"a page without a slash", good + "fixture:\n  pages:\n    - {path: x, text: y}\n", "fixture.pages[0].path"},
		{"runs of another command", good + "checks:\n  runs:\n    x: {max: 1}\n", "s.yaml:8: checks.runs.x: the fixture has no such command"},
		{"a window that is none", good + "settings: {context_tokens: 12}\n", "settings.context_tokens: 12 is not accepted"},
		{"a step of two kinds", good + "walkthrough:\n  - {call: x, say: y}\n", "s.yaml:7: walkthrough[0]: a step has either call or say"},
		{"a step that takes nothing", good + "walkthrough:\n  - {call: x, take: {a: b}}\n", "walkthrough[0].take.a: the expression has no group"},
		{"a question that is no template", "title: T\nquestion: '{{'\nanswer:\n  right:\n    - contains: x\n", "s.yaml:2: question: it is no template"},
		{"two scenarios", good + "---\n" + good, "a file holds one scenario"},
		{"no UTF-8", "title: \xff\n", "it is no UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("dir/s.yaml", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
	if _, err := Parse("dir/s.yaml", []byte(good)); err != nil {
		t.Errorf("a good one is refused: %v", err)
	}
	if _, err := Parse("dir/My Scenario.yaml", []byte(good)); err == nil {
		t.Error("a name with spaces is accepted")
	}
}

// What people copy has to work.
func TestTheExampleOfTheDocumentationIsAScenario(t *testing.T) {
	text, err := os.ReadFile("scenarios/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if s, err := Parse("example.yaml", []byte(example)); err != nil || len(s.Walkthrough) != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAFileThatNearlyIsAScenarioIsNotLeftOut(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yml"), []byte("title: Mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(dir); err == nil || !strings.Contains(err.Error(), "mine.yml: it ends in .yml") {
		t.Error(err)
	}
}

func TestScenariosOfAFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Folder(dir); err == nil {
		t.Error("an empty folder is no error")
	}
	if _, err := Folder(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is not there is no error")
	}
	text := "title: Mine\nquestion: Q?\nanswer:\n  right:\n    - contains: x\n"
	for _, name := range []string{"late-line.yaml", "mine.yaml", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, err := Folder(dir)
	if err != nil || len(own) != 2 {
		t.Fatalf("%d scenarios, %v", len(own), err)
	}
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	merged := Merge(all, own)
	if len(merged) != len(all)+1 {
		t.Errorf("%d and %d make %d: one has the name of another", len(all), len(own), len(merged))
	}
	late, err := Only(merged, []string{"late-*"})
	if err != nil || len(late) != 1 || late[0].Title != "Mine" {
		t.Errorf("the folder's own is not the one that counts: %v %v", late, err)
	}
	if _, err := Only(merged, []string{"late-*", "nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a name that fits none: %v", err)
	}
}
