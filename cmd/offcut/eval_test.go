package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each scenario can be answered with the tools that there are: its own
// walkthrough reads what decides, and is judged right.
func TestEveryScenarioCanBeAnswered(t *testing.T) {
	kept := t.TempDir()
	status, out, errs := command(t, t.TempDir(), "", "eval", "--rehearse", "--jobs", "3", "--format", "json", "--keep", kept)
	var report struct {
		Total, Passed int
		Results       []struct {
			Scenario, Verdict, Answer, Error string
			Passed, RanAgain                 bool
			Faults                           []struct{ Kind, Detail string }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	for _, r := range report.Results {
		if !r.Passed {
			t.Errorf("%s: %s %v %s\n%s", r.Scenario, r.Verdict, r.Faults, r.Error, r.Answer)
		}
	}
	if status != 0 || report.Total < 20 || report.Passed != report.Total {
		t.Errorf("status %d, %d of %d passed\n%s", status, report.Passed, report.Total, errs)
	}
	if folders, err := os.ReadDir(kept); err != nil || len(folders) != report.Total {
		t.Errorf("%d data folders are kept of %d tries: %v", len(folders), report.Total, err)
	}
}

func TestScenariosThatAreWrittenWronglyAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"spelled.yaml": "title: A\nquestion: Q?\nanswer:\n  rihgt:\n    - contains: x\n",
		"empty.yaml":   "title: B\nquestion: Q?\nanswer: {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status, _, errs := command(t, t.TempDir(), "", "eval", "--scenarios", dir)
	for _, want := range []string{"spelled.yaml:4: there is no such key: rihgt", "empty.yaml:3: answer: right is missing"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not said:\n%s", want, errs)
		}
	}
	if status != exitUsage {
		t.Errorf("status %d", status)
	}
}

func TestScenariosAreListed(t *testing.T) {
	out := must(t, t.TempDir(), "eval", "list", "--only", "absent-*,late-line")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) < 4 || !strings.Contains(out, "absent-field-incomplete") || strings.Contains(out, "csv-sum") {
		t.Errorf("listed:\n%s", out)
	}
	if status, _, errs := command(t, t.TempDir(), "", "eval", "list", "--only", "nothing-like-it"); status != exitUsage || !strings.Contains(errs, "nothing-like-it") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// Where no command would run, every answer would be about that.
func TestNothingIsAskedWhereNoCommandRuns(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no bubblewrap
	status, out, errs := command(t, t.TempDir(), "", "eval", "--rehearse", "--only", "late-line", "--repeat", "0")
	if status != exitUsage || out != "" || !strings.Contains(errs, "--repeat") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}
