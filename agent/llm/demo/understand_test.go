package demo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPlainRequestsAreUnderstood(t *testing.T) {
	run := func(commands ...string) wish { return wish{verb: verbRun, commands: commands} }
	for text, want := range map[string][]wish{
		"Run `seq 1 200000` and tell me the last line":   {{verb: verbRun, commands: []string{"seq 1 200000"}, last: true}},
		"run seq 1 200000 and tell me the last line":     {{verb: verbRun, commands: []string{"seq 1 200000"}, last: true}},
		"Please run the command `ls -la`.":               {run("ls -la")},
		"run: echo hi":                                   {run("echo hi")},
		"Execute echo hello.":                            {run("echo hello")},
		"run ls .":                                       {run("ls .")},
		"run \"echo a && echo b\"":                       {run("echo a && echo b")},
		"run echo a then b":                              {run("echo a then b")},
		"run `if true; then echo hi; fi`":                {run("if true; then echo hi; fi")},
		"Run\n```sh\necho 1\necho 2\n```":                {run("echo 1\necho 2")},
		"Run `a` and `b` and `c`":                        {run("a", "b", "c")},
		"can you run `pwd` please":                       {run("pwd")},
		"Run `echo a`, then run `echo b`":                {run("echo a"), run("echo b")},
		"run printf 'a\\nb\\n' and show me what it says": {run("printf 'a\\nb\\n'")},

		"Run a script": {{verb: verbScript, text: exampleScript}},
		"run a javascript program and show me what it says": {{verb: verbScript, text: exampleScript}},
		"Run this script:\n```js\nreturn 1\n```":            {{verb: verbScript, text: "return 1"}},
		"run the script `return 2 + 2`":                     {{verb: verbScript, text: "return 2 + 2"}},
		"Run a script: return 6*7":                          {{verb: verbScript, text: "return 6*7"}},
		"run script.sh":                                     {run("script.sh")},
		"run the script build.sh":                           {run("the script build.sh")},

		"Write `notes.txt`, then read it at line 2":      {{verb: verbWrite, path: "notes.txt"}, {verb: verbRead, path: "notes.txt", number: 2}},
		"write notes.txt: hello there":                   {{verb: verbWrite, path: "notes.txt", text: "hello there"}},
		"Write the file a/b.md with the text “one\ntwo”": {{verb: verbWrite, path: "a/b.md", text: "one\ntwo"}},
		"create a file x.txt containing \"5 apples\"":    {{verb: verbWrite, path: "x.txt", text: "5 apples"}},
		"write “hello” to greeting.txt.":                 {{verb: verbWrite, path: "greeting.txt", text: "hello"}},
		"write n.txt: a\nb\nc, then read it at line 3":   {{verb: verbWrite, path: "n.txt", text: "a\nb\nc"}, {verb: verbRead, path: "n.txt", number: 3}},
		"write n.txt: first this, then that":             {{verb: verbWrite, path: "n.txt", text: "first this, then that"}},
		"Write notes.txt with the lines alpha, beta and gamma, then read notes.txt at line 2": {
			{verb: verbWrite, path: "notes.txt", text: "alpha\nbeta\ngamma\n"}, {verb: verbRead, path: "notes.txt", number: 2},
		},
		"write n.txt with lines: one":                       {{verb: verbWrite, path: "n.txt", text: "one\n"}},
		"read go.mod at line 20":                            {{verb: verbRead, path: "go.mod", number: 20}},
		"Read `go.mod`.":                                    {{verb: verbRead, path: "go.mod"}},
		"read line 5,":                                      nil,
		"show me line 7 of README.md.":                      {{verb: verbRead, path: "README.md", number: 7}},
		"replace “a b” with “c” in notes.txt":               {{verb: verbEdit, text: "a b", with: "c", path: "notes.txt"}},
		"List the files":                                    {{verb: verbList}},
		"What files are there?":                             {{verb: verbList}},
		"Find “199999” in the last kept output":             {{verb: verbFindOutput, text: "199999"}},
		"find 199999 in the output":                         {{verb: verbFindOutput, text: "199999"}},
		"search the last kept output for \"needle in hay\"": {{verb: verbFindOutput, text: "needle in hay"}},
		"Search for error in the kept copy.":                {{verb: verbFindOutput, text: "error"}},
		"find TODO in the files":                            {{verb: verbFindFiles, text: "TODO"}},
		"find TODO in main.go":                              {{verb: verbFindFiles, text: "TODO", path: "main.go"}},
		"Read the last kept output at 4,096":                {{verb: verbReadOutput, number: 4096}},
		"read the kept output":                              {{verb: verbReadOutput}},
		"Run `seq 9`, then find 7 in the last kept output":  {run("seq 9"), {verb: verbFindOutput, text: "7"}},
		"count to 1,000 slowly":                             {{verb: verbCount, number: 1000, slowly: true}},
		"say: # A heading\n\nwith text":                     {{verb: verbSay, text: "# A heading\n\nwith text"}},
		"Hello!":                                            nil,
		"What is the meaning of life?":                      nil,
		"":                                                  nil,
		"“":                                                 nil,
		"`":                                                 nil,
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, understand(text), cmp.AllowUnexported(wish{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzUnderstand(f *testing.F) {
	f.Add("Write `notes.txt`, then read it at line 2")
	f.Add("“`\"then run ’")
	f.Fuzz(func(t *testing.T, text string) {
		if got := mask(text); len(got) != len(text) {
			t.Fatalf("the mask has %d bytes, the text %d", len(got), len(text))
		}
		understand(text)
	})
}
