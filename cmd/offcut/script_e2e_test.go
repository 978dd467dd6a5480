package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// runScript lets the model run a script and looks at what it was sent back.
func runScript(t *testing.T, s *server, p *provider, code string) run {
	t.Helper()
	key := fmt.Sprintf("run this: %s %d", t.Name(), time.Now().UnixNano())
	p.on(key, scripted(code), says("Done."))
	r := run{session: s.ask(key)}
	results := p.lastSent(t, key).results()
	if len(results) != 1 {
		t.Fatalf("the model was sent %d results", len(results))
	}
	r.meta, r.body = results[0].result(t)
	return r
}

func scripted(code string) reply { return calls(call("run_script", args{"code": code})) }

// nested are the entries of the metadata line about kept copies of nested calls.
func (r run) nested() (entries []map[string]any) {
	list, _ := r.meta["nested"].([]any)
	for _, entry := range list {
		entries = append(entries, entry.(map[string]any))
	}
	return entries
}

func TestAScriptReadsThreeLargeResultsAndReturnsOneNumber(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	const code = `
const outputs = await Promise.all([1, 2, 3].map(n => tools.run_command({command: "seq " + n + " 3 60000"})));
return outputs.reduce((sum, o) => sum + o.total_bytes, 0)`
	var ids []string
	p.onFunc("three results",
		func(request) reply { return scripted(code) },
		func(r request) reply {
			meta, body := r.results()[0].result(t)
			list, _ := meta["nested"].([]any)
			if body != "338894" && len(list) != 3 {
				t.Errorf("the model was sent %v, %q", meta, body)
			}
			var read []toolCall
			for _, entry := range list {
				ids = append(ids, entry.(map[string]any)["output_id"].(string))
				read = append(read, call("read_tool_output", args{"output_id": ids[len(ids)-1]}))
			}
			return calls(read...)
		},
		func(request) reply { return says("Read.") })
	session := s.ask("three results")
	if len(ids) != 3 {
		t.Fatalf("%d copies were named", len(ids))
	}
	for i, result := range p.lastSent(t, "three results").results()[1:] {
		if _, body := result.result(t); !strings.HasPrefix(body, fmt.Sprintf("%d\n%d\n", i+1, i+4)) || len(body) < 4000 {
			t.Errorf("the page of copy %d is %.40q", i, body)
		}
	}
	var sum int
	outputs := s.outputs(session)
	if len(outputs) != 3 {
		t.Fatalf("%d outputs are kept", len(outputs))
	}
	parent := s.messages(session, false)[1].ToolCalls[0].ID
	for _, o := range outputs {
		text := s.copyOf(session, o.ID)
		sum += len(text)
		if o.Tool != "run_command" || !strings.HasPrefix(o.CallID, parent+"_s") || !o.Complete || !slices.Contains(ids, o.ID) || strings.Count(text, "\n") != 20000 {
			t.Errorf("output %+v with %d bytes", o, len(text))
		}
		if len(o.Coverage) != 1 || o.Coverage[0][0] != 0 || o.Coverage[0][1] > 4096 { // the page, not what the script saw
			t.Errorf("coverage of %s: %v", o.ID, o.Coverage)
		}
	}
	if body := s.resultsOf(session)[0].Content; body != strconv.Itoa(sum) {
		t.Errorf("the script returned %q of %d bytes", body, sum)
	}
}

func TestALongReturnedValueIsABoundedResult(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	r := runScript(t, s, p, `return {rows: Array.from({length: 20000}, (_, n) => ({n, text: "row number " + n + " of many"}))}`)
	text := r.checkKept(t, s)
	if r.meta["is_error"] != false || r.meta["truncated"] != true || len(text) < 800000 || strings.Contains(text, "\n") || len(r.body) > 26000 {
		t.Errorf("%d bytes are kept, the body has %d: %v", len(text), len(r.body), r.meta)
	}
	if len(r.nested()) != 0 {
		t.Errorf("nested %v", r.nested())
	}
}

func TestAThrowAfterANestedResultKeepsIt(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	r := runScript(t, s, p, "console.log('before');\nconst r = await tools.run_command({command: 'seq 20000'});\nconsole.log(r.output_id);\nnull_value.x")
	nested := r.nested()
	if r.meta["is_error"] != true || len(nested) != 1 || nested[0]["total_bytes"] != float64(108894) || nested[0]["complete"] != true {
		t.Fatalf("%v %q", r.meta, r.body)
	}
	id := nested[0]["output_id"].(string)
	if r.body != "before\n"+id+"\nReferenceError: null_value is not defined (line 4)" {
		t.Errorf("the body is %q", r.body)
	}
	if text := s.copyOf(r.session, id); !strings.HasSuffix(text, "\n20000\n") {
		t.Errorf("the copy ends with %q", text[max(0, len(text)-20):])
	}
}

func TestHalfACharacterOfAScriptIsCountedAndDoesNotEndTheSession(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	r := runScript(t, s, p, `console.log(["😀"[0]]); return "😀".slice(0, 1)`)
	if r.body != "[\"\\ud83d\"]\n\uFFFD\uFFFD\uFFFD" || r.meta["replaced_bytes"] != float64(3) || r.meta["retention"] != "kept" {
		t.Fatalf("the body is %q, %v", r.body, r.meta)
	}
	if raw := s.rawOf(r.session, r.meta["output_id"].(string)); raw != "[\"\\ud83d\"]\n\xed\xa0\xbd" {
		t.Errorf("what was returned is kept as %q", raw)
	}
	p.on("and on", says("On."))
	if turn := s.say(r.session, "and on"); turn.State != "done" {
		t.Errorf("%+v", turn)
	}
}

func TestHostileScriptsAreErrorsAndTheServerGoesOn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	hasty := start(t, p, "OFFCUT_CONFIG="+configFile(t, "tools:\n  run_script:\n    timeoutSeconds: 3\n"))
	for name, test := range map[string]struct {
		server     *server
		code, says string
	}{
		"a loop":               {hasty, "for (;;) {}", "ran for more than 3s of its own time"},
		"a regular expression": {hasty, `/^(?=(a+)+$)(\w+\s?)+\1$/.test("a".repeat(60) + "!")`, "It could not be interrupted"},
		"memory":               {s, "const a = []; for (;;) a.push('é'.repeat(2 ** 26))", "used more than 256 MiB of memory"},
		"a promise":            {s, "await new Promise(() => {})", "never settles"},
		"recursion":            {s, "(function f() { f() })()", "too deeply"},
		"a flood of calls":     {s, "for (;;) tools.list_files({})", "made more than 200 tool calls"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runScript(t, test.server, p, "console.log('begun');\n"+test.code)
			if r.meta["is_error"] != true || !strings.HasPrefix(r.body, "begun\n") || !strings.Contains(r.body, test.says) {
				t.Errorf("%v %q", r.meta, r.body)
			}
		})
	}
	for _, s := range []*server{s, hasty} {
		if r := runScript(t, s, p, "return 1 + 1"); r.body != "2" {
			t.Errorf("after all that a script returns %q", r.body)
		}
		s.waitFor("no script is left", func() bool { return len(s.scripts()) == 0 })
	}
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// scripts are the processes of scripts that the server has.
func (s *server) scripts() (pids []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range found {
		line, _ := os.ReadFile(path)
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if string(line) == "offcut-script\x00" && len(fields) > 1 && fields[1] == strconv.Itoa(s.cmd.Process.Pid) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func isScript(pid int) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(line) == "offcut-script\x00"
}

func TestTheCallsOfAScriptWaitForApproval(t *testing.T) {
	s, p := asking(t)
	p.on("write by script", scripted(`await tools.write_file({path: "f", content: "one"}); await tools.write_file({path: "g", content: "two"}); return "both"`), says("Written."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "write by script"))
	if got := turn.Pending; len(got) != 1 || got[0].Tool != "run_script" {
		t.Fatalf("waits: %+v", got)
	}
	parent := turn.Pending[0].CallID
	s.answer(turn, "once")
	turn = s.awaits(turn.ID)
	if got := turn.Pending; len(got) != 1 || got[0].Tool != "write_file" || got[0].CallID != parent+"_s1" || !strings.Contains(got[0].Arguments, `"one"`) {
		t.Fatalf("waits: %+v", got)
	}
	if s.workspaceFile(session, "f") != "" {
		t.Error("the file was written before anybody allowed it")
	}
	s.answer(turn, "once")
	s.waitFor("the second call waits", func() bool {
		turn = s.turn(turn.ID, "")
		return len(turn.Pending) == 1 && turn.Pending[0].CallID == parent+"_s2"
	})
	s.answer(turn, "deny")
	if end := s.settled(turn.ID); end.State != "done" {
		t.Fatalf("%+v", end)
	}
	result := s.resultsOf(session)[0]
	if s.workspaceFile(session, "f") != "one" || s.workspaceFile(session, "g") != "" || !strings.Contains(result.Content, "denied it: write_file was not run") {
		t.Errorf("%+v", result)
	}
	made := result.Metadata["calls"].([]any)
	if len(made) != 2 || made[0].(map[string]any)["state"] != "ok" || made[1].(map[string]any)["state"] != "denied" {
		t.Errorf("calls %v", made)
	}
}

func TestTheCallsOfAScriptWaitInTheirOrderAndAStopTellsThatNoneRan(t *testing.T) {
	s, p := asking(t)
	p.on("write three", scripted(`await Promise.all([1, 2, 3].map(n => tools.write_file({path: "f" + n, content: "x"})))`), says("Never."))
	p.on("go on", says("On."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "write three"))
	parent := turn.Pending[0].CallID
	s.answer(turn, "once")
	s.waitFor("three calls wait", func() bool { turn = s.turn(turn.ID, ""); return len(turn.Pending) == 3 })
	for i, waits := range turn.Pending {
		if waits.CallID != fmt.Sprintf("%s_s%d", parent, i+1) || !strings.Contains(waits.Arguments, fmt.Sprintf("f%d", i+1)) {
			t.Errorf("%d: %+v", i, waits)
		}
	}
	s.stop(turn.ID)
	s.settled(turn.ID)
	s.say(session, "go on")
	meta, body := p.lastSent(t, "go on").results()[0].result(t)
	if meta["is_error"] != true || !strings.Contains(body, "[Of the script's calls, 3 did not run and had no effect (3 write_file).]") {
		t.Errorf("the model is told %v %q", meta, body)
	}
	for _, made := range callsOf(s.resultsOf(session)[0]) {
		if made["state"] != "stopped" || made["unstarted"] != true || made["is_error"] == true {
			t.Errorf("call %v", made)
		}
	}
}

// callsOf are the calls that a script made, as its result tells people.
func callsOf(result apiMessage) (calls []map[string]any) {
	list, _ := result.Metadata["calls"].([]any)
	for _, made := range list {
		calls = append(calls, made.(map[string]any))
	}
	return calls
}

// A call that ended, one that ran and one that waited: each is known as what it
// was after a crash.
func TestAfterACrashItIsKnownWhichCallsOfAScriptRan(t *testing.T) {
	s, p := asking(t)
	p.on("three calls", scripted(`
await tools.run_command({command: "seq 20000"});
const slow = tools.run_command({command: "echo begun; sleep 60"});
await tools.write_file({path: "f", content: "x"})`), says("Never."))
	p.on("go on", says("On."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "three calls"))
	s.answer(turn, "once")
	turn = s.awaits(turn.ID)
	s.answer(turn, "session") // all commands
	printed := func(o apiOutput) bool { return o.TotalBytes == int64(len("begun\n")) }
	s.waitFor("the last call waits, and what the one before printed is kept", func() bool {
		turn = s.turn(turn.ID, "")
		kept := s.outputs(session)
		return len(turn.Pending) == 1 && turn.Pending[0].Tool == "write_file" && len(kept) == 3 && slices.ContainsFunc(kept, printed)
	})
	s.kill()
	s.launch()
	s.say(session, "go on")
	meta, body := p.lastSent(t, "go on").results()[0].result(t)
	says := "[Of the script's calls, 1 came to the end (run_command); 1 had begun and did not come to the end, with effects unknown (run_command); 1 did not run and had no effect (write_file).]"
	if meta["is_error"] != true || meta["truncated"] != false || !strings.HasSuffix(body, says) {
		t.Errorf("the model is told %v %q", meta, body)
	}
	made := callsOf(s.resultsOf(session)[0])
	if len(made) != 3 {
		t.Fatalf("calls %v", made)
	}
	if ended := made[0]; ended["state"] != "ok" || ended["exit_code"] != float64(0) || ended["complete"] != true {
		t.Errorf("the call that ended: %v", ended)
	}
	if cut := made[1]; cut["state"] != "interrupted" || cut["unstarted"] != nil || cut["complete"] != false || s.copyOf(session, cut["output_id"].(string)) != "begun\n" {
		t.Errorf("the call that ran: %v", cut)
	}
	if waited := made[2]; waited["state"] != "interrupted" || waited["unstarted"] != true || waited["output_id"] != nil {
		t.Errorf("the call that waited: %v", waited)
	}
	nested := run{meta: meta}.nested()
	if len(nested) != 2 || nested[0]["output_id"] != made[0]["output_id"] || nested[1]["output_id"] != made[1]["output_id"] {
		t.Errorf("nested %v", nested)
	}
}

func TestStopEndsAScriptWithItsCalls(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	mark := fmt.Sprintf("3%d", time.Now().UnixNano()%1_000_000_000)
	p.on("long script", scripted(`console.log("begun"); await tools.run_command({command: "echo first; sleep `+mark+`"})`), says("Never."))
	p.on("go on", says("On."))
	session := s.newSession()
	turn := s.send(session, "long script")
	s.waitFor("the command runs", func() bool { return len(processesWith(mark)) > 0 })
	time.Sleep(1200 * time.Millisecond) // what it prints is stored once it has run for a second
	began := time.Now()
	s.stop(turn)
	if stopped := s.settled(turn); stopped.State != "stopped" || time.Since(began) > 1500*time.Millisecond {
		t.Fatalf("%+v after %v", stopped, time.Since(began))
	}
	s.waitFor("nothing is left", func() bool { return len(processesWith(mark)) == 0 && len(s.scripts()) == 0 })
	s.say(session, "go on")
	request := p.lastSent(t, "go on")
	wellFormed(t, request)
	meta, body := request.results()[0].result(t)
	if !strings.HasPrefix(body, "begun\n") || !strings.Contains(body, "Its effects are unknown") || meta["is_error"] != true ||
		!strings.Contains(body, "1 had begun and did not come to the end, with effects unknown (run_command)") {
		t.Errorf("the model is told %v %q", meta, body)
	}
	nested, _ := meta["nested"].([]any)
	if len(nested) != 1 || nested[0].(map[string]any)["complete"] != false {
		t.Fatalf("nested %v", nested)
	}
	if text := s.copyOf(session, nested[0].(map[string]any)["output_id"].(string)); text != "first\n" {
		t.Errorf("the copy is %q", text)
	}
}

func TestNoScriptOutlivesItsServer(t *testing.T) {
	for name, end := range map[string]func(*server){"ended": (*server).terminate, "killed": (*server).kill} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			s := start(t, p)
			p.on("for ever", scripted(`await tools.run_command({command: "seq 20000"}); await tools.run_command({command: "sleep 60"})`), says("Never."))
			session := s.newSession()
			s.send(session, "for ever")
			var pids []int
			s.waitFor("the script runs", func() bool { pids = s.scripts(); return len(pids) == 1 && len(s.outputs(session)) == 1 })
			end(s)
			s.waitFor("it is gone", func() bool { return !isScript(pids[0]) })
			s.launch()
			p.on("go on", says("On."))
			if turn := s.say(session, "go on"); turn.State != "done" {
				t.Errorf("%+v", turn)
			}
			request := p.lastSent(t, "go on")
			wellFormed(t, request)
			meta, _ := request.results()[0].result(t)
			nested, _ := meta["nested"].([]any)
			if len(nested) == 0 {
				t.Fatalf("of what the script had read the model is told %v", meta)
			}
			if id := nested[0].(map[string]any)["output_id"].(string); len(s.copyOf(session, id)) != 108894 {
				t.Errorf("%s is not what the script had read", id)
			}
		})
	}
}

func TestAScriptKeepsToTheStorageOfItsUser(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, "OFFCUT_CONFIG="+configFile(t, "limits:\n  storagePerUserBytes: 1048576\n"))
	r := runScript(t, s, p, `
const exits = [];
for (let i = 0; i < 3; i++) exits.push((await tools.run_command({command: "seq 100000"})).exit_code);
return exits`)
	nested := r.nested()
	if r.body != "[0,0,0]" || len(nested) != 3 {
		t.Fatalf("%v %q", r.meta, r.body)
	}
	if last := nested[2]; last["retention"] != "failed" || last["output_id"] != nil || !strings.Contains(last["retention_error"].(string), "storage") {
		t.Errorf("the last one: %v", last)
	}
}

func TestTheOutputsOfAScriptAreNobodyElses(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	token := s.addUser("eve")
	r := runScript(t, s, p, `return (await tools.run_command({command: "seq 20000"})).output_id`)
	path := "/sessions/" + r.session + "/outputs/" + r.body
	if status := s.as(adminToken, http.MethodGet, path, nil, nil); status != http.StatusOK {
		t.Errorf("its owner gets %d", status)
	}
	if status := s.as(token, http.MethodGet, path, nil, nil); status != http.StatusNotFound {
		t.Errorf("another user gets %d", status)
	}
}
