package main_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tried is one result of offcut eval.
type tried struct {
	Scenario     string
	Try          int
	Verdict      string
	Passed       bool
	RanAgain     bool `json:"ran_again"`
	Runs         []string
	KeptBytes    int64 `json:"kept_bytes"`
	PreviewBytes int64 `json:"preview_bytes"`
	ReadBytes    int64 `json:"read_bytes"`
	Usage        struct {
		Input int64 `json:"input_tokens"`
	}
	Answer, Error string
	Faults        []struct{ Kind, Detail string }
}

// evaluate runs offcut eval against the scripted model, or against the demo model
// where p is nil.
func evaluate(t *testing.T, p *provider, arguments ...string) (status int, out string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"eval"}, arguments...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "HOME=" + t.TempDir(), "OFFCUT_SANDBOX=" + os.Getenv("OFFCUT_SANDBOX")}
	if p != nil {
		cmd.Args = append(cmd.Args, "--model", "scripted", "--base-url", p.URL+"/v1")
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	printed, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("offcut eval: %v\n%s", err, errs.String())
		}
	})
	return cmd.ProcessState.ExitCode(), string(printed)
}

// resultsOf are the results of a report in JSON.
func resultsOf(t *testing.T, out string) []tried {
	t.Helper()
	var report struct{ Results []tried }
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	return report.Results
}

// keptIn is the output_id that the last result names.
func keptIn(t *testing.T, r request) string {
	results := r.results()
	meta, _ := results[len(results)-1].result(t)
	id, _ := meta["output_id"].(string)
	return id
}

func searches(t *testing.T, pattern string) answerer {
	return func(r request) reply {
		return calls(call("search_tool_output", args{"output_id": keptIn(t, r), "pattern": pattern}))
	}
}

func always(r reply) answerer { return func(request) reply { return r } }

// Each scenario can be answered with the tools that there are: its own
// walkthrough reads what decides, and is judged right.
func TestEveryScenarioCanBeAnswered(t *testing.T) {
	status, out := evaluate(t, nil, "--rehearse", "--jobs", "3", "--format", "json")
	results := resultsOf(t, out)
	for _, r := range results {
		if !r.Passed {
			t.Errorf("%s: %s %v %s\n%s", r.Scenario, r.Verdict, r.Faults, r.Error, r.Answer)
		}
	}
	if status != 0 || len(results) < 20 {
		t.Errorf("status %d, %d scenarios", status, len(results))
	}
}

// What a model does badly is scored as the fault that it is, and not only as an
// answer that is wrong.
func TestAnEvaluationNamesTheFault(t *testing.T) {
	export := runs("./bin/export")
	for _, test := range []struct {
		name, scenario, key string
		answers             func(t *testing.T) []answerer
		verdict             string
		passed              bool
		fault               string // the first; empty: none
		again               bool
	}{
		{
			"a model that reads", "total-in-the-middle", "./bin/export",
			func(t *testing.T) []answerer {
				return []answerer{always(export), searches(t, "checksum"), func(r request) reply {
					results := r.results()
					_, body := results[len(results)-1].result(t)
					_, found, _ := strings.Cut(body, "checksum: ")
					return says("It states " + strings.Fields(found)[0] + ".")
				}}
			},
			"right", true, "", false,
		},
		{
			"an answer from the preview alone", "total-in-the-middle", "./bin/export",
			func(*testing.T) []answerer { return []answerer{always(export), always(says("It is 0000-0000."))} },
			"wrong", false, "preview-only", false,
		},
		{
			"a lucky guess from the preview alone", "total-in-the-middle", "./bin/export",
			func(*testing.T) []answerer { return []answerer{always(export), always(says("It is 7f3a-91c4."))} },
			"right", false, "preview-only", false,
		},
		{
			"a command run twice, with the right answer", "total-in-the-middle", "./bin/export",
			func(*testing.T) []answerer {
				return []answerer{always(export), always(runs("./bin/export | grep checksum")), always(says("It is 7f3a-91c4."))}
			},
			"right", false, "ran-again", true,
		},
		{
			"an answer that does not know, with nothing read", "total-in-the-middle", "./bin/export",
			func(*testing.T) []answerer {
				return []answerer{always(export), always(says("I cannot tell from the preview."))}
			},
			"uncertain", false, "never-read", false,
		},
		{
			"not found, on an incomplete copy", "absent-field-incomplete", "./bin/journal",
			func(t *testing.T) []answerer {
				return []answerer{always(runs("./bin/journal")), searches(t, "R-99417"), always(says("No, there is no order R-99417 in the output."))}
			},
			"wrong", false, "denied-on-incomplete", false,
		},
		{
			"not found on an incomplete copy, in Chinese", "absent-incomplete-chinese", "./bin/users",
			func(t *testing.T) []answerer {
				return []answerer{always(runs("./bin/users")), searches(t, "zhao.lei"), always(says("输出里没有用户 zhao.lei。"))}
			},
			"wrong", false, "denied-on-incomplete", false,
		},
		{
			"not there, from one page of a complete copy", "absent-field-complete", "./bin/orders",
			func(t *testing.T) []answerer {
				return []answerer{always(runs("./bin/orders")), func(r request) reply {
					return calls(call("read_tool_output", args{"output_id": keptIn(t, r), "offset": 20_000}))
				}, always(says("No order has such a field."))}
			},
			"right", false, "stopped-short", false,
		},
		{
			"not there, with another word searched for", "absent-field-complete", "./bin/orders",
			func(t *testing.T) []answerer {
				return []answerer{always(runs("./bin/orders")), searches(t, "zzz"), always(says("No order has such a field."))}
			},
			"right", false, "stopped-short", false,
		},
		{
			"not there, with it searched for", "absent-field-complete", "./bin/orders",
			func(t *testing.T) []answerer {
				return []answerer{always(runs("./bin/orders")), searches(t, "discount_code"), always(says("No order has such a field."))}
			},
			"right", true, "", false,
		},
		{
			"flatly denied, with the gap waved away", "absent-field-incomplete", "./bin/journal",
			func(t *testing.T) []answerer {
				return []answerer{always(runs("./bin/journal")), searches(t, "R-99417"), always(says("No, R-99417 did not ship. The copy is incomplete, but that does not matter."))}
			},
			"wrong", false, "denied-on-incomplete", false,
		},
		{
			"no look at anything", "total-in-the-middle", "./bin/export",
			func(*testing.T) []answerer { return []answerer{always(says("The checksum is 12."))} },
			"wrong", false, "no-tool", false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProvider(t)
			p.onFunc(test.key, test.answers(t)...)
			status, out := evaluate(t, p, "--only", test.scenario, "--format", "json")
			results := resultsOf(t, out)
			if len(results) != 1 {
				t.Fatalf("%d results", len(results))
			}
			r := results[0]
			first := ""
			if len(r.Faults) > 0 {
				first = r.Faults[0].Kind
			}
			if r.Verdict != test.verdict || r.Passed != test.passed || first != test.fault || r.RanAgain != test.again {
				t.Errorf("%s, passed %v, faults %v, ran again %v: %s%s", r.Verdict, r.Passed, r.Faults, r.RanAgain, r.Answer, r.Error)
			}
			if (status == 0) != test.passed {
				t.Errorf("status %d", status)
			}
		})
	}
}

func TestAnEvaluationCountsWhatWasRead(t *testing.T) {
	p := newProvider(t)
	p.onFunc("./bin/export", always(reply{calls: []toolCall{call("run_command", args{"command": "./bin/export"})}, tokens: 1000}),
		func(r request) reply {
			return calls(call("read_tool_output", args{"output_id": keptIn(t, r), "offset": 80_000, "limit": 1000}))
		}, always(says("I cannot tell.")))
	_, out := evaluate(t, p, "--only", "total-in-the-middle", "--format", "json")
	r := resultsOf(t, out)[0]
	if r.ReadBytes != 1000 || r.KeptBytes < 100_000 || r.PreviewBytes < 20_000 || r.PreviewBytes > 24_576 {
		t.Errorf("%d bytes kept, %d in the preview, %d read", r.KeptBytes, r.PreviewBytes, r.ReadBytes)
	}
	if len(r.Runs) != 1 || r.Runs[0] != "export" || r.Usage.Input != 1000 {
		t.Errorf("runs %q, usage %+v", r.Runs, r.Usage)
	}
}

// The demo model finds a text in the kept output where it is told to, and is
// taken in by everything else.
func TestTheDemoModelIsEvaluated(t *testing.T) {
	dir := t.TempDir()
	scenario := `title: What the demo model can do
question: Run ` + "`./bin/log`" + `, then find “needle” in the last kept output
fixture:
  commands:
    - name: log
      script: |
        seq 1 9000; echo 'the needle is 4711'; seq 1 9000
answer:
  right:
    - number: 4711
`
	if err := os.WriteFile(filepath.Join(dir, "for-the-demo.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report.xml")
	status, table := evaluate(t, nil, "--scenarios", dir, "--only", "for-the-demo,once-only", "--format", "junit", "--out", report, "--jobs", "2", "--repeat", "2")
	if status != 1 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"for-the-demo (2)  pass", "preview-only", "2 of 4 passed with demo"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	raw, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Type string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(raw, &suites); err != nil {
		t.Fatal(err)
	}
	if s := suites.Suite; s.Tests != 4 || s.Failures != 2 || len(s.Cases) != 4 || s.Cases[0].Failure != nil || s.Cases[2].Failure == nil || s.Cases[2].Failure.Type != "preview-only" {
		t.Errorf("report:\n%s", raw)
	}
}

// A model that does not come to an end is stopped, and so are its commands.
func TestAModelThatTakesTooLongIsAnError(t *testing.T) {
	p := newProvider(t)
	p.on("./bin/export", runs("./bin/export; sleep 600"))
	status, out := evaluate(t, p, "--only", "total-in-the-middle", "--format", "json", "--timeout", "1s")
	if r := resultsOf(t, out)[0]; status != 1 || r.Verdict != "error" || !strings.Contains(r.Error, "1s, the time limit") {
		t.Errorf("status %d: %+v", status, r)
	}
}

// A model that cannot be reached is an error of each try, and no wrong answer.
func TestAModelThatRefusesIsAnError(t *testing.T) {
	p := newProvider(t)
	p.on("./bin/export", reply{status: 401, message: "the key is wrong"})
	status, out := evaluate(t, p, "--only", "total-in-the-middle", "--format", "json")
	if r := resultsOf(t, out)[0]; status != 1 || r.Verdict != "error" || !strings.Contains(r.Error, "the key is wrong") || len(r.Faults) != 0 {
		t.Errorf("status %d: %+v", status, r)
	}
}
