package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Tries beside each other share nothing: each has the program, a data folder and
// pages to itself.
func TestTriesBesideEachOther(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept")
	out := must(t, t.TempDir(), "eval", "--sandbox", "off", "--rehearse", "--only", "total-in-the-middle,long-page,tool-result", "--repeat", "2", "--jobs", "4", "--keep", kept)
	if !strings.Contains(out, "6 of 6 passed") {
		t.Error(out)
	}
	if folders, err := os.ReadDir(kept); err != nil || len(folders) != 6 {
		t.Errorf("%d data folders are kept: %v", len(folders), err)
	}
}

// A folder of sessions that is named from where one stands is as good as any: the
// commands of a session run elsewhere.
func TestSessionsAreKeptInARelativeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	out := must(t, t.TempDir(), "eval", "--rehearse", "--only", "once-only", "--keep", "runs")
	if !strings.Contains(out, "1 of 1 passed") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join("runs", "once-only-1", "offcut.db")); err != nil {
		t.Error(err)
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

func TestToolsThatThereAreNotAreNamed(t *testing.T) {
	dir := t.TempDir()
	text := "title: C\nquestion: Q?\nanswer:\n  right:\n    - contains: x\nchecks:\n  tools:\n    serch_files: {max: 1}\nwalkthrough:\n  - call: serch\n  - call: own\n  - say: x\n" +
		"fixture:\n  tools:\n    - name: own\n      replies:\n        - text: x\n"
	if err := os.WriteFile(filepath.Join(dir, "tools.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs := command(t, t.TempDir(), "", "eval", "--rehearse", "--scenarios", dir)
	for _, want := range []string{`tools.yaml:8: checks.tools.serch_files: there is no tool "serch_files"`, `tools.yaml:10: walkthrough[0].call: there is no tool "serch"; there are run_command, `} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not said:\n%s", want, errs)
		}
	}
	if status != exitUsage || out != "" || strings.Contains(errs, `"own"`) {
		t.Errorf("status %d: %s%s", status, out, errs)
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

func TestAReportThatCannotBeWrittenIsToldOfBeforeAnythingIsAsked(t *testing.T) {
	status, out, errs := command(t, t.TempDir(), "", "eval", "--sandbox", "off", "--rehearse", "--only", "late-line", "--out", filepath.Join(t.TempDir(), "nowhere", "report"))
	if status != exitFailed || out != "" || strings.Contains(errs, "pass") || !strings.Contains(errs, "--out") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

func TestNumbersOfTriesAreChecked(t *testing.T) {
	for _, flag := range []string{"--repeat=0", "--jobs=0", "--timeout=0s"} {
		if status, out, errs := command(t, t.TempDir(), "", "eval", "--rehearse", "--only", "late-line", flag); status != exitUsage || out != "" || !strings.Contains(errs, "at least 1") {
			t.Errorf("%s: status %d: %s%s", flag, status, out, errs)
		}
	}
}

// A server that is not there is the first thing that goes wrong: it is said at
// once, of each scenario, and the run does not try them all.
func TestAServerThatIsNotThereEndsTheRun(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	status, out, errs := command(t, t.TempDir(), "", "eval", "--sandbox", "off", "--model", "right", "--base-url", "http://"+address+"/v1")
	if status != exitFailed || time.Since(began) > time.Minute {
		t.Errorf("status %d after %s", status, time.Since(began))
	}
	if n := strings.Count(errs, "FAIL "); n != 3 || strings.Count(errs, "connection refused") < n || !strings.Contains(errs, address) {
		t.Errorf("%d scenarios were tried:\n%s", n, errs)
	}
	if !strings.Contains(errs, "stopped after 3 of ") || !strings.Contains(errs, "the model's server gives no answer") || !strings.Contains(out, "0 of 3 passed") {
		t.Errorf("%s%s", out, errs)
	}
}

// A server that is there and refuses is waited for once, as a turn waits for it; the
// tries after that are short, and three of them are enough.
func TestAServerThatRefusesEverythingEndsTheRun(t *testing.T) {
	for name, test := range map[string]struct {
		status, asked int
		says          string
	}{
		"one that is overloaded": {http.StatusServiceUnavailable, 11 + 4 + 4, "failed (503)"},
		"a wrong key":            {http.StatusUnauthorized, 3, "refused the request (401)"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, `{"error": {"message": "no luck today"}}`)
			}))
			defer server.Close()
			status, out, errs := command(t, t.TempDir(), "", "eval", "--sandbox", "off", "--model", "right", "--base-url", server.URL+"/v1")
			if status != exitFailed || int(asked.Load()) != test.asked || !strings.Contains(out, "0 of 3 passed") {
				t.Errorf("status %d, asked %d times:\n%s", status, asked.Load(), out)
			}
			if n := strings.Count(errs, "FAIL "); n != 3 || strings.Count(errs, "no luck today") != n+1 || strings.Count(errs, test.says) != n+1 {
				t.Errorf("%d scenarios were tried:\n%s", n, errs)
			}
			if !strings.Contains(errs, "stopped after 3 of ") || !strings.Contains(errs, "the model's server refuses every request, 3 times in a row") {
				t.Error(errs)
			}
		})
	}
}

// What has answered once may do so again.
func TestAServerThatFailsNowAndThenEndsNoRun(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 1 {
			http.Error(w, `{"error": {"message": "not any more"}}`, http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	_, out, errs := command(t, t.TempDir(), "", "eval", "--sandbox", "off", "--model", "right", "--base-url", server.URL+"/v1", "--only", "once-only", "--repeat", "5")
	if !strings.Contains(out, "0 of 5 passed") || strings.Contains(errs, "stopped after") {
		t.Errorf("%s%s", out, errs)
	}
}

func TestATimeLimitKeepsWhatWasWaitedFor(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	_, _, errs := command(t, t.TempDir(), "", "eval", "--sandbox", "off", "--model", "right", "--base-url", busy.URL+"/v1", "--only", "once-only", "--timeout", "1s")
	if !strings.Contains(errs, "the time limit of a scenario, and waited for the model: The model's server answered 503") {
		t.Error(errs)
	}
}
