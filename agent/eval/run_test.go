package eval

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// hut is a house in which a model answers without a program around it.
type hut struct {
	t      *testing.T
	dir    string
	model  agent.Model
	closed *atomic.Int32
}

func (h *hut) Workspace() string { return h.dir }

func (h *hut) Ask(ctx context.Context, content string) (models.Turn, []models.Message, error) {
	history := []models.Message{{Role: models.RolePerson, Content: content}}
	reply, err := h.model.Stream(ctx, agent.Request{Messages: history, Tools: []agent.ToolSpec{{Name: "x"}}}, func(agent.Delta) {})
	if ctx.Err() != nil {
		return models.Turn{}, nil, ctx.Err()
	}
	turn := models.Turn{State: models.StateDone, Usage: models.Usage{InputTokens: 10, OutputTokens: 1}}
	if err != nil {
		turn.State, turn.Error = models.StateError, err.Error()
	}
	return turn, append(history, models.Message{Role: models.RoleAssistant, Content: reply.Content}), nil
}

func (h *hut) Outputs(context.Context) ([]models.RetainedOutput, error) { return nil, nil }

func (h *hut) Reads(context.Context, string) ([]models.OutputRead, error) { return nil, nil }

func (h *hut) Close() error {
	h.closed.Add(1)
	return nil
}

// scenario is one to which an answer is right that holds that word.
func scenario(name, right string) Scenario {
	return Scenario{Name: name, Title: name, Question: "Where?", Answer: Answer{Right: []Matcher{{Contains: right}}}}
}

func TestTriesRunBesideEachOtherAndAreToldInOrder(t *testing.T) {
	var closed, running, most atomic.Int32
	told := 0
	results, err := Run(t.Context(), []Scenario{scenario("a", "yes"), scenario("b", "no")}, Options{
		Open: func(_ context.Context, s Setup) (House, error) {
			now := running.Add(1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			for deadline := time.Now().Add(5 * time.Second); most.Load() < 2 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			defer running.Add(-1)
			return &hut{t: t, dir: t.TempDir(), model: s.Around(agenttest.NewScript(agenttest.Says("yes"))), closed: &closed}, nil
		},
		Repeat: 3, Jobs: 2,
		Done: func(Result) { told++ },
	})
	if err != nil || len(results) != 6 || told != 6 || closed.Load() != 6 {
		t.Fatalf("%d results, %d told, %d closed: %v", len(results), told, closed.Load(), err)
	}
	if most.Load() != 2 {
		t.Errorf("%d ran at a time", most.Load())
	}
	for i, r := range results {
		if name, try := string("ab"[i/3]), i%3+1; r.Scenario != name || r.Try != try {
			t.Errorf("result %d is %s, try %d", i, r.Scenario, r.Try)
		}
		if want := map[string]Verdict{"a": Right, "b": Wrong}[r.Scenario]; r.Verdict != want || r.Usage.Tokens() != 11 {
			t.Errorf("%s is %s with %d tokens", r.Scenario, r.Verdict, r.Usage.Tokens())
		}
	}
}

func TestATryEndsByItsTimeLimit(t *testing.T) {
	var closed atomic.Int32
	results, err := Run(t.Context(), []Scenario{scenario("a", "yes")}, Options{
		Open: func(_ context.Context, s Setup) (House, error) {
			return &hut{t: t, dir: t.TempDir(), model: s.Around(agenttest.NewScript(agenttest.Blocks("ye", make(chan struct{})))), closed: &closed}, nil
		},
		Timeout: 20 * time.Millisecond,
	})
	if err != nil || results[0].Verdict != Failed || !strings.Contains(results[0].Error, "time limit") || closed.Load() != 1 {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestWhatHasEndedIsReportedAfterAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var closed atomic.Int32
	results, err := Run(ctx, []Scenario{scenario("a", "yes"), scenario("b", "yes"), scenario("c", "yes")}, Options{
		Open: func(_ context.Context, s Setup) (House, error) {
			step := agenttest.Says("yes")
			if s.Title == "b" {
				interrupt()
			}
			return &hut{t: t, dir: t.TempDir(), model: s.Around(agenttest.NewScript(step)), closed: &closed}, nil
		},
	})
	if !errors.Is(err, context.Canceled) || len(results) != 1 || results[0].Scenario != "a" || closed.Load() != 2 {
		t.Errorf("%+v, %v, %d closed", results, err, closed.Load())
	}
}

func TestAProgramThatDoesNotStartIsAnErrorOfTheTry(t *testing.T) {
	results, err := Run(t.Context(), []Scenario{scenario("a", "yes")}, Options{
		Open: func(context.Context, Setup) (House, error) { return nil, errors.New("the disk is full") },
	})
	if err != nil || results[0].Verdict != Failed || results[0].Error != "the disk is full" || results[0].Passed {
		t.Errorf("%+v, %v", results, err)
	}
}

// What the program failed to start is no fault of the model's.
func TestACommandThatTheProgramCannotStartIsAnErrorOfTheTry(t *testing.T) {
	var o observation
	o.said(models.Turn{}, []models.Message{
		{Role: models.RoleTool, Content: "No such file.", Metadata: &models.ResultMetadata{IsError: true}},
		{Role: models.RoleTool, Content: "It printed that it could not be set up on the server.", Metadata: &models.ResultMetadata{}},
	})
	if o.unfit != "" {
		t.Errorf("taken for a fault of the program: %s", o.unfit)
	}
	said := "The command did not start: " + agent.NotSetUp + "."
	o.said(models.Turn{}, []models.Message{{Role: models.RoleTool, Content: said, Metadata: &models.ResultMetadata{IsError: true}}})
	if o.unfit != said {
		t.Errorf("%q", o.unfit)
	}
}

func TestAStepThatCallsNoToolIsNamed(t *testing.T) {
	var closed atomic.Int32
	s := scenario("a", "yes")
	s.Walkthrough = []Step{{Call: "serch"}}
	results, err := Run(t.Context(), []Scenario{s}, Options{Rehearse: true, Open: func(_ context.Context, s Setup) (House, error) {
		return &hut{t: t, dir: t.TempDir(), model: s.Around(agenttest.NewScript()), closed: &closed}, nil
	}})
	if err != nil || !strings.Contains(results[0].Error, `walkthrough[0]: there is no tool "serch"`) {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestRunsOfACommandAreCounted(t *testing.T) {
	dir := t.TempDir()
	f := Fixture{Commands: []Command{{Name: "look", Script: "echo seen; exit 3\n"}}, Files: []File{{Path: "a/b.txt", Content: Content{Text: "x"}}}}
	if err := f.lay(dir); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"./bin/look", "cd bin && ./look --all 'two words'", "sh bin/look"} {
		run := exec.Command("sh", "-c", command)
		run.Dir = dir
		if out, err := run.Output(); string(out) != "seen\n" || run.ProcessState.ExitCode() != 3 {
			t.Fatalf("%s: %q %v", command, out, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, commandFolder, "look")); err != nil || strings.Contains(string(text), "seen") {
		t.Errorf("what a command prints can be read in it: %s %v", text, err)
	}
	if runs := runsIn(dir); strings.Join(runs, "|") != "look|look --all two words|look" {
		t.Errorf("runs %q", runs)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "b.txt")); err != nil || string(text) != "x" {
		t.Errorf("%q %v", text, err)
	}
	log := filepath.Join(dir, commandFolder, runLog)
	if err := errors.Join(os.Remove(log), os.Symlink("/etc/passwd", log)); err != nil {
		t.Fatal(err)
	}
	if runs := runsIn(dir); runs != nil {
		t.Errorf("a link out of the workspace is followed: %q", runs)
	}
}

func TestAScriptedToolAnswersByItsArguments(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`title: T
question: Q?
answer:
  right:
    - contains: x
fixture:
  tools:
    - name: pages
      replies:
        - when: {page: 2, of: {kind: orders}}
          text: the second
        - when: {page: 9}
          error: true
          text: there are two pages
        - when: {page: 1}
          parts:
            - {line: "order {{.N}}\n", repeat: 3}
            - {text: "the end"}
`))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := s.Fixture.tools()
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"page":2,"of":{"kind":"orders"},"more":true}`: "the second",
		`{"page":1}`: "order 1\norder 2\norder 3\nthe end",
		`{"page":9}`: "there are two pages",
		`{"page":2}`: "pages has no answer to these arguments.",
	} {
		result, err := tools[0].Run(t.Context(), agent.Call{ID: "c", Arguments: json.RawMessage(arguments)})
		if err != nil || result.Content != want || result.IsError != strings.Contains(want, "page") && want != "the second" {
			t.Errorf("%s: %+v %v", arguments, result, err)
		}
	}
}

func TestReports(t *testing.T) {
	report := Report{Version: "1", Model: "some\x1b[2Jmodel", Sandbox: "bubblewrap", Began: time.Unix(0, 0), Took: 1500 * time.Millisecond, Results: []Result{
		{Scenario: "a", Title: "A", Try: 1, Verdict: Right, Expected: Right, Passed: true, KeptBytes: 3 << 20, ReadBytes: 2048, Usage: models.Usage{InputTokens: 5}},
		{Scenario: "b", Title: "B", Try: 2, Verdict: Wrong, Expected: Uncertain, RanAgain: true, Answer: "<b>\x1b]0;title\x07 & \xff", Faults: []Fault{{RanAgain, "export ran 2 times."}, {SureIncomplete, "It was."}}},
		{Scenario: "c", Title: "C", Try: 1, Verdict: Failed, Expected: Right, Error: "the provider said <no>"},
	}}
	written := func(f Format) string {
		var out strings.Builder
		if err := report.Write(&out, f); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}

	table := written(Table)
	for _, want := range []string{"2.0 KiB", "3.0 MiB", "b (2)", "ran-again,sure-on-incomplete", "the answer is wrong, and should be uncertain", "export ran 2 times.", "the provider said <no>", "1 of 3 passed"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	if strings.ContainsAny(table, "\x1b\x07") {
		t.Errorf("the table steers the terminal: %q", table)
	}

	var decoded struct {
		Model         string
		Total, Passed int
		Seconds       float64
		Results       []Result
	}
	if err := json.Unmarshal([]byte(written(JSON)), &decoded); err != nil {
		t.Fatal(err)
	}
	if decoded.Total != 3 || decoded.Passed != 1 || decoded.Seconds != 1.5 || decoded.Results[1].Faults[0].Kind != RanAgain {
		t.Errorf("%+v", decoded)
	}

	var suites junitSuites
	if err := xml.Unmarshal([]byte(written(JUnit)), &suites); err != nil {
		t.Fatal(err)
	}
	s := suites.Suite
	if s.Tests != 3 || s.Failures != 1 || s.Errors != 1 || s.Cases[1].Failure.Type != "ran-again" || !strings.Contains(s.Cases[1].Out, "<b>") || s.Cases[2].Error.Message != "the provider said <no>" {
		t.Errorf("%+v", s)
	}
}
