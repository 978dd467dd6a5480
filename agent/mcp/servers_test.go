package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/models"
)

func TestNothingIsStartedBeforeItIsNeeded(t *testing.T) {
	off := own(t, "tools")
	off.Name, off.Off = "switched", true
	h := newHouse(t, own(t, "tools"), off)
	if s := h.servers.Status()[0]; s.State != models.ServerIdle {
		t.Errorf("it is %s", s.State)
	}
	names := h.names()
	if !slices.Contains(names, "own__env") || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "switched") }) {
		t.Errorf("offered %q", names)
	}
	all := h.servers.Status()
	if s := all[0]; s.State != models.ServerReady || s.Product != "test server 1" || len(s.Tools) != len(names) || !s.Local || s.Error != "" {
		t.Errorf("it is %+v", s)
	}
	if all[1].State != models.ServerOff {
		t.Errorf("a server that is switched off is %s", all[1].State)
	}
}

func TestAServerThatCrashedIsStartedAgain(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	crash := h.tool("own__crash")
	result, err := crash.Run(t.Context(), h.newCall("own__crash", args{}))
	if err != nil || !result.IsError || !strings.Contains(result.Content, "was lost before own__crash had a result") {
		t.Fatalf("%q, %v", result.Content, err)
	}
	failed := h.until("failed", inState(models.ServerFailed))
	if !strings.Contains(failed.Error, "exit status 7") || len(failed.Tools) != 0 {
		t.Errorf("it is %+v", failed)
	}
	if got := h.call("own__fail", args{}); !got.IsError || got.Content != "it is not there" {
		t.Errorf("after the restart: %+v", got)
	}
	// The second time in a row it waits, and says so to the model.
	if _, err := h.tool("own__crash").Run(t.Context(), h.newCall("own__crash", args{})); err != nil {
		t.Fatal(err)
	}
	again := h.until("failed", inState(models.ServerFailed))
	if !again.RetryAt.After(time.Now()) {
		t.Errorf("it may be started at %v", again.RetryAt)
	}
	result, err = crash.Run(t.Context(), h.newCall("own__crash", args{}))
	if err != nil || !result.IsError || !strings.Contains(result.Content, "is started again in") {
		t.Errorf("%q, %v", result.Content, err)
	}
}

func TestAServerThatDoesNotStartHoldsNobodyUp(t *testing.T) {
	missing := Server{Name: "missing", Command: "/nowhere/secret-place/server"}
	h := newHouse(t, missing, own(t, "broken"))
	if names := h.names(); len(names) != 0 {
		t.Errorf("offered %q", names)
	}
	all := h.servers.Status()
	if s := all[0]; s.State != models.ServerFailed || !strings.Contains(s.Error, "no such file") || strings.Contains(s.Error, "secret-place") {
		t.Errorf("it is %+v", s)
	}
	if s := all[1]; s.State != models.ServerFailed || !strings.Contains(s.Error, "exit status 3") || !strings.Contains(s.Stderr, "there is no database") {
		t.Errorf("it is %+v", s)
	}
}

// Programs made with a library of before the newest version never answer what
// that begins with, and those of after it may know nothing else.
func TestServersOfAllVersionsAreMet(t *testing.T) {
	for _, kind := range []string{"strict", "mute", "modern"} {
		t.Run(kind, func(t *testing.T) {
			h := newHouseWith(t, Options{Servers: []Server{own(t, kind)}, Wait: 20 * time.Second})
			for range 2 { // and again after a restart
				if got := h.call("own__bare", args{}); got.IsError || got.Content != "ran" {
					t.Errorf("it says %+v", got)
				}
				if err := h.servers.Restart("own"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestWhatRefusesEveryGreetingIsToldOf(t *testing.T) {
	h := newHouse(t, own(t, "refusing"))
	h.names()
	if s := h.until("failed", inState(models.ServerFailed)); !strings.Contains(s.Error, "it refused the greeting") || !strings.Contains(s.Error, "not known") {
		t.Errorf("it is %+v", s)
	}
}

func TestASlowServerIsThereForALaterTurn(t *testing.T) {
	slow := own(t, "slow")
	h := newHouseWith(t, Options{Servers: []Server{slow}, Wait: 100 * time.Millisecond})
	began := time.Now()
	if names := h.names(); len(names) != 0 {
		t.Errorf("offered %q", names)
	}
	if took := time.Since(began); took > 900*time.Millisecond {
		t.Errorf("the turn was held for %v", took)
	}
	if s := h.servers.Status()[0]; s.State != models.ServerStarting {
		t.Errorf("the turn was held until it is %+v", s)
	}
	h.until("ready", inState(models.ServerReady))
	if names := h.names(); !slices.Contains(names, "own__env") {
		t.Errorf("offered %q", names)
	}
}

// One that answers to nothing would else hold up a turn at each of its starts.
func TestAServerWhoseStartFailedIsNotWaitedForAgain(t *testing.T) {
	dead := own(t, "silent")
	dead.Command, dead.Args = "false", nil
	h := newHouse(t, dead)
	server := h.servers.all[0]
	if !server.worthWaiting() {
		t.Error("its first start is not waited for")
	}
	h.names()
	h.until("failed", inState(models.ServerFailed))
	if server.worthWaiting() {
		t.Error("it is waited for again")
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	h := newHouseWith(t, Options{Servers: []Server{own(t, "silent")}, Wait: 300 * time.Millisecond})
	h.names() // it is started, and has a child that would outlive it
	group := processOf(t)
	for range 400 {
		if len(left(t, group)) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pids := left(t, group); len(pids) != 2 {
		t.Fatalf("the group %d is %v", group, pids)
	}
	began := time.Now()
	if err := h.servers.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the end took %v", took)
	}
	if pids := left(t, group); len(pids) != 0 {
		t.Errorf("of the group %d there are still %v", group, pids)
	}
	if names := h.names(); len(names) != 0 {
		t.Errorf("after the end it offers %q", names)
	}
}

// processes are those that have not ended, each with its parent and its group.
func processes(t *testing.T) map[int][2]int {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][2]int{}
	for _, entry := range entries {
		data, _ := os.ReadFile(entry)
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 3 || fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		parent, _ := strconv.Atoi(fields[1])
		group, _ := strconv.Atoi(fields[2])
		out[pid] = [2]int{parent, group}
	}
	return out
}

// processOf is the only child of the test's program.
func processOf(t *testing.T) int {
	t.Helper()
	for range 200 {
		for pid, of := range processes(t) {
			if of[0] == os.Getpid() {
				return pid
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it has no child")
	return 0
}

// left are the processes of a group.
func left(t *testing.T, group int) (pids []int) {
	t.Helper()
	for pid, of := range processes(t) {
		if of[1] == group {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestTheListChanges(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	if slices.Contains(h.names(), "own__grown") {
		t.Fatal("it is there before it came")
	}
	h.call("own__grow", args{})
	h.until("grown", func(s models.ToolServer) bool {
		return slices.ContainsFunc(s.Tools, func(t models.ServerTool) bool { return t.Name == "own__grown" })
	})
	if got := h.call("own__grown", args{}); got.Content != "new" {
		t.Errorf("it said %q", got.Content)
	}
}

// Each answer would else be followed by the next question, for as long as this
// program runs.
func TestAServerWhoseListChangesWithoutEndIsAskedNowAndThen(t *testing.T) {
	h := newHouse(t, own(t, "chatty"))
	asked := func(s models.ToolServer) int { return strings.Count(s.Stderr, "asked for its list") }
	tool := h.tool("own__bare")
	h.until("asked again", func(s models.ToolServer) bool { return asked(s) >= 2 })
	time.Sleep(2 * time.Second)
	if n := asked(h.servers.Status()[0]); n > 5 {
		t.Errorf("it was asked %d times", n)
	}
	if &h.tool("own__bare").Spec().Parameters[0] != &tool.Spec().Parameters[0] {
		t.Error("the tools of the same list were made anew")
	}
}

func TestAStopIsToldTheServer(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	file := filepath.Join(t.TempDir(), "told")
	ctx, stop := context.WithCancelCause(t.Context())
	tool := h.tool("own__hang")
	ended := make(chan error, 1)
	go func() {
		_, err := tool.Run(ctx, h.newCall("own__hang", args{"file": file}))
		ended <- err
	}()
	awaitFile(t, file, "begun")
	stopped := time.Now()
	stop(agent.ErrStopped)
	if err := within(t, ended); !errors.Is(err, agent.ErrStopped) || time.Since(stopped) > time.Second {
		t.Errorf("it ended after %v with %v", time.Since(stopped), err)
	}
	awaitFile(t, file, "cancelled")
	if s := h.servers.Status()[0]; s.State != models.ServerReady {
		t.Errorf("the server is %+v", s)
	}
}

func TestACallHasALimitOfTime(t *testing.T) {
	server := own(t, "tools")
	server.Timeout, server.Timeouts = time.Hour, map[string]time.Duration{"own__hang": 300 * time.Millisecond}
	h := newHouse(t, server)
	file := filepath.Join(t.TempDir(), "told")
	got := h.call("own__hang", args{"file": file})
	if !got.IsError || !strings.Contains(got.Content, "no result after 300ms") || !strings.Contains(got.Content, "effects are unknown") {
		t.Errorf("%+v", got)
	}
	awaitFile(t, file, "cancelled")
}

func awaitFile(t *testing.T, file, want string) {
	t.Helper()
	for range 200 {
		if data, _ := os.ReadFile(file); string(data) == want {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("the server was not told: %s is not there", file)
}

// A call right after an answer that was too long waits for the restart.
func TestAnAnswerThatWasTooLongHarmsNoOtherCall(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	flood, fail, large := h.tool("own__flood"), h.tool("own__fail"), h.tool("own__large")
	result, err := flood.Run(t.Context(), h.newCall("own__flood", args{}))
	if err != nil || !result.IsError || !strings.Contains(result.Content, "an answer may have at most 32 MiB") {
		t.Fatalf("%.300q, %v", result.Content, err)
	}
	if result, err = fail.Run(t.Context(), h.newCall("own__fail", args{})); err != nil || result.Content != "it is not there" {
		t.Errorf("the next call: %+v, %v", result, err)
	}
	h.isLarge(large.Run(t.Context(), h.newCall("own__large", args{})))
}

func TestAToolThatIsNoLongerThereIsNotCalled(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	fail := h.tool("own__fail") // as a turn has it that began before
	h.call("own__shrink", args{})
	h.until("smaller", func(s models.ToolServer) bool {
		return !slices.ContainsFunc(s.Tools, func(t models.ServerTool) bool { return t.Name == "own__fail" })
	})
	result, err := fail.Run(t.Context(), h.newCall("own__fail", args{}))
	if err != nil || !result.IsError || !strings.Contains(result.Content, "has the tool own__fail no longer") || !strings.Contains(result.Content, "was not run") {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestAModelIsToldWhyToolsAreMissing(t *testing.T) {
	broken := own(t, "broken")
	h := newHouse(t, broken)
	if why := h.servers.Missing("run_command") + h.servers.Missing("own_x"); why != "" {
		t.Errorf("of other tools it says %q", why)
	}
	for range 2 { // the second time it waits
		h.names()
		h.until("failed", inState(models.ServerFailed))
	}
	if why := h.servers.Missing("own__any"); !regexp.MustCompile(`^Tools whose names begin with own__ are not there now: the MCP server own does not run, and is started again in \d+ s\. They`).MatchString(why) {
		t.Errorf("it says %q", why)
	}
	if err := h.servers.Restart("own"); err != nil {
		t.Fatal(err)
	}
	h = newHouse(t, own(t, "tools"))
	h.names()
	if why := h.servers.Missing("own__any"); why != "" {
		t.Errorf("of a server that runs it says %q", why)
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	got := h.call("own__flood", args{})
	if !got.IsError || !strings.Contains(got.Content, "at most 32 MiB") {
		t.Errorf("%.300q", got.Content)
	}
	h.until("failed", inState(models.ServerFailed))
	if got := h.call("own__fail", args{}); got.Content != "it is not there" {
		t.Errorf("after the restart: %+v", got)
	}
}

func TestARestartIsAtOnce(t *testing.T) {
	h := newHouse(t, own(t, "tools"))
	h.names()
	first := processOf(t)
	if err := h.servers.Restart("own"); err != nil {
		t.Fatal(err)
	}
	if got := h.call("own__fail", args{}); got.Content != "it is not there" {
		t.Errorf("%+v", got)
	}
	if pids := left(t, first); len(pids) != 0 {
		t.Errorf("the first process is still there: %v", pids)
	}
	if err := h.servers.Restart("other"); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a server that is not there: %v", err)
	}
}
