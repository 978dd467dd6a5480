package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// awaits waits until a turn asks somebody.
func (s *server) awaits(turnID string) apiTurn {
	s.t.Helper()
	for range 12 {
		turn := s.turn(turnID, "?wait=5")
		switch turn.State {
		case "queued", "running":
			continue
		case "awaiting_approval":
			return turn
		}
		s.t.Fatalf("the turn is %s: %s", turn.State, turn.Error)
	}
	s.t.Fatalf("turn %s never asks", turnID)
	return apiTurn{}
}

// decide answers a call and returns the status.
func (s *server) decide(turnID, callID, decision string) int {
	s.t.Helper()
	return s.as(adminToken, http.MethodPost, "/turns/"+turnID+"/approvals", map[string]string{"call_id": callID, "decision": decision}, nil)
}

// answer decides about the only call that waits.
func (s *server) answer(turn apiTurn, decision string) {
	s.t.Helper()
	if len(turn.Pending) != 1 {
		s.t.Fatalf("%d calls wait: %+v", len(turn.Pending), turn.Pending)
	}
	if status := s.decide(turn.ID, turn.Pending[0].CallID, decision); status != http.StatusAccepted {
		s.t.Fatalf("%s is answered with %d", decision, status)
	}
}

// asking is a server that asks before each call that does something.
func asking(t *testing.T) (*server, *provider) {
	t.Helper()
	p := newProvider(t)
	return start(t, p, "OFFCUT_APPROVAL=ask"), p
}

// workspaceFile is a file of a session's workspace, or "" where there is none.
func (s *server) workspaceFile(session, name string) string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "workspaces", "*", session, name))
	if err != nil || len(found) == 0 {
		return ""
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func TestACallWaitsUntilItIsAllowed(t *testing.T) {
	s, p := asking(t)
	p.on("write it", calls(call("write_file", args{"path": "f", "content": "one"})), says("Written."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "write it"))
	if got := turn.Pending; len(got) != 1 || got[0].Tool != "write_file" || !strings.Contains(got[0].Arguments, `"content":"one"`) {
		t.Fatalf("waits: %+v", got)
	}
	if s.workspaceFile(session, "f") != "" {
		t.Fatal("it ran before anybody allowed it")
	}
	if again := s.turn(turn.ID, "?wait=30"); again.State != "awaiting_approval" { // at once
		t.Errorf("the turn is %s", again.State)
	}
	move := strings.NewReader(`{"call_id":"` + turn.Pending[0].CallID + `"}`)
	if status, _, body := s.raw(adminToken, http.MethodPost, "/api/v1/turns/"+turn.ID+"/background", move); status != http.StatusConflict || !strings.Contains(string(body), "call_not_started") {
		t.Errorf("a move before it began is %d: %s", status, body)
	}
	if status := s.as(adminToken, http.MethodPost, "/turns/"+turn.ID+"/approvals", args{"decision": "once"}, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("an answer about no call is %d", status)
	}
	s.answer(turn, "once")
	if done := s.settled(turn.ID); done.State != "done" || len(done.Pending) != 0 {
		t.Fatalf("%+v", done)
	}
	if s.workspaceFile(session, "f") != "one" {
		t.Error("the file was not written")
	}
	meta, _ := p.lastSent(t, "write it").results()[0].result(t)
	if meta["approved"] != true || meta["is_error"] != false {
		t.Errorf("the model is told %v", meta)
	}
	if status := s.decide(turn.ID, turn.Pending[0].CallID, "deny"); status != http.StatusConflict {
		t.Errorf("a second answer is %d", status)
	}
	var audit struct {
		Items []struct{ Action, Target, Detail string }
	}
	s.must(http.MethodGet, "/admin/audit", nil, &audit)
	if got := audit.Items[0]; got.Action != "call.allow" || got.Target != session || got.Detail != "allowed a call of write_file once" {
		t.Errorf("the audit log says %+v", got)
	}
}

func TestADeniedCallIsToldToTheModel(t *testing.T) {
	s, p := asking(t)
	p.on("remove it", runs("echo 1 >ran"), says("Then not."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "remove it"))
	call := turn.Pending[0].CallID
	for _, wrong := range []struct {
		call, decision string
		status         int
	}{{call, "maybe", 422}, {call, "", 422}, {"call_unknown", "once", 404}, {"", "once", 422}} {
		if status := s.decide(turn.ID, wrong.call, wrong.decision); status != wrong.status {
			t.Errorf("%q about %q is %d, want %d", wrong.decision, wrong.call, status, wrong.status)
		}
	}
	s.answer(turn, "deny")
	if done := s.settled(turn.ID); done.State != "done" {
		t.Fatalf("%+v", done)
	}
	meta, body := p.lastSent(t, "remove it").results()[0].result(t)
	if meta["approved"] != false || meta["is_error"] != true || !strings.Contains(body, "denied it: run_command was not run") {
		t.Errorf("the model is told %v %q", meta, body)
	}
	if s.workspaceFile(session, "ran") != "" {
		t.Error("the command ran")
	}
}

func TestOnlyTheOwnerDecides(t *testing.T) {
	s, p := asking(t)
	p.on("mine", runs("true"), says("Done."))
	ann, bob := s.addUser("ann"), s.addUser("bob")
	var session struct{ ID string }
	s.as(ann, http.MethodPost, "/sessions", map[string]any{}, &session)
	var sent struct {
		TurnID string `json:"turn_id"`
	}
	s.as(ann, http.MethodPost, "/sessions/"+session.ID+"/messages", map[string]any{"content": "mine"}, &sent)
	turn := s.awaits(sent.TurnID) // the admin reads it
	if status := s.decide(turn.ID, turn.Pending[0].CallID, "once"); status != http.StatusForbidden {
		t.Errorf("an admin's answer is %d", status)
	}
	answer := map[string]string{"call_id": turn.Pending[0].CallID, "decision": "once"}
	for _, who := range []struct {
		token string
		want  int
	}{{bob, http.StatusNotFound}, {ann, http.StatusAccepted}} {
		if status := s.as(who.token, http.MethodPost, "/turns/"+turn.ID+"/approvals", answer, nil); status != who.want {
			t.Errorf("an answer is %d, want %d", status, who.want)
		}
	}
}

func TestAToolIsAllowedForTheSession(t *testing.T) {
	s, p := asking(t)
	two := calls(call("run_command", args{"command": "echo 1 >>ran"}), call("run_command", args{"command": "echo 2 >>ran"}), call("write_file", args{"path": "f", "content": "x"}))
	p.on("do both", two, says("Done."))
	p.on("and again", runs("echo 3 >>ran"), says("Done."), runs("echo 4 >>ran"), says("Done."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "do both"))
	if len(turn.Pending) != 3 {
		t.Fatalf("%d calls wait, want all three", len(turn.Pending))
	}
	if status := s.decide(turn.ID, turn.Pending[0].CallID, "session"); status != http.StatusAccepted {
		t.Fatalf("answered with %d", status)
	}
	turn = s.awaits(turn.ID)
	if len(turn.Pending) != 1 || turn.Pending[0].Tool != "write_file" || s.workspaceFile(session, "ran") != "1\n2\n" {
		t.Fatalf("waits: %+v, ran %q", turn.Pending, s.workspaceFile(session, "ran"))
	}
	s.answer(turn, "deny")
	s.settled(turn.ID)
	if done := s.say(session, "and again"); done.State != "done" || s.workspaceFile(session, "ran") != "1\n2\n3\n" {
		t.Fatalf("%+v, ran %q", done, s.workspaceFile(session, "ran"))
	}
	results := p.lastSent(t, "and again").results()
	if meta, _ := results[3].result(t); meta["approved"] != nil {
		t.Errorf("nobody was asked, and yet: %v", meta)
	}

	var grants struct{ Items []struct{ Tool, By string } }
	s.must(http.MethodGet, "/sessions/"+session+"/approvals", nil, &grants)
	if len(grants.Items) != 1 || grants.Items[0].Tool != "run_command" || grants.Items[0].By != "admin" {
		t.Errorf("allowed: %+v", grants)
	}
	s.must(http.MethodDelete, "/sessions/"+session+"/approvals/run_command", nil, nil)
	again := s.awaits(s.send(session, "and again"))
	s.answer(again, "once")
	s.settled(again.ID)
	p.on("elsewhere", runs("true"))
	other := s.awaits(s.send(s.newSession(), "elsewhere")) // another session was never allowed
	s.stop(other.ID)
}

// Calls that are asked about together run in their order, whichever is answered
// first.
func TestParallelCallsAreAnsweredInAnyOrder(t *testing.T) {
	s, p := asking(t)
	p.on("both", calls(call("run_command", args{"command": "echo 1 >>ran"}), call("run_command", args{"command": "echo 2 >>ran"})), says("Done."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "both"))
	if len(turn.Pending) != 2 {
		t.Fatalf("waits: %+v", turn.Pending)
	}
	if status := s.decide(turn.ID, turn.Pending[1].CallID, "once"); status != http.StatusAccepted {
		t.Fatalf("answered with %d", status)
	}
	if turn = s.awaits(turn.ID); s.workspaceFile(session, "ran") != "" {
		t.Fatal("the second ran before the first")
	}
	s.answer(turn, "once")
	if done := s.settled(turn.ID); done.State != "done" || s.workspaceFile(session, "ran") != "1\n2\n" {
		t.Errorf("%+v, ran %q", done, s.workspaceFile(session, "ran"))
	}
}

func TestAStopEndsTheWaitOfACall(t *testing.T) {
	s, p := asking(t)
	p.on("wait here", runs("touch ran"), says("Done."))
	p.on("after", says("Fine."))
	session := s.newSession()
	turn := s.awaits(s.send(session, "wait here"))
	queued := s.send(session, "after")
	asked := time.Now()
	s.stop(turn.ID)
	if stopped := s.settled(turn.ID); stopped.State != "stopped" || time.Since(asked) > 3*time.Second || len(stopped.Pending) != 0 {
		t.Errorf("%+v after %s", stopped, time.Since(asked))
	}
	if status := s.decide(turn.ID, turn.Pending[0].CallID, "once"); status != http.StatusConflict {
		t.Errorf("an answer after the stop is %d", status)
	}
	if done := s.settled(queued); done.State != "done" {
		t.Errorf("%+v", done)
	}
	_, body := p.lastSent(t, "after").results()[0].result(t)
	if body != "The call was not started: the user stopped it. It had no effect." {
		t.Errorf("the model is told %q", body)
	}
	p.on("delete me", runs("touch ran"))
	session = s.newSession()
	turn = s.awaits(s.send(session, "delete me"))
	s.must(http.MethodDelete, "/sessions/"+session, nil, nil)
	if status := s.as(adminToken, http.MethodGet, "/turns/"+turn.ID, nil, nil); status != http.StatusNotFound {
		t.Errorf("the turn of a deleted session is %d", status)
	}
}

func TestAWaitEndsWithItsUser(t *testing.T) {
	s, p := asking(t)
	p.on("wait here", runs("touch ran"), says("Done."))
	ann := s.addUser("ann")
	var session struct{ ID string }
	s.as(ann, http.MethodPost, "/sessions", map[string]any{}, &session)
	var sent struct {
		TurnID string `json:"turn_id"`
	}
	s.as(ann, http.MethodPost, "/sessions/"+session.ID+"/messages", map[string]any{"content": "wait here"}, &sent)
	s.awaits(sent.TurnID)
	s.command("user", "disable", "ann")
	s.waitFor("the turn of a disabled user stops", func() bool { return s.turn(sent.TurnID, "").State == "stopped" })
}

// A wait outlives the server, however it ends: the same call waits for the same
// answer, what ran does not run again, and the turn goes on from there.
func TestAWaitSurvivesARestart(t *testing.T) {
	for name, end := range map[string]func(*server){"kill -9": (*server).kill, "SIGTERM": (*server).terminate} {
		t.Run(name, func(t *testing.T) {
			s, p := asking(t)
			p.on("three steps", calls(
				call("run_command", args{"command": "echo 1 >>ran"}), call("list_files", args{"path": "."}),
				call("run_command", args{"command": "echo 2 >>ran"}), call("run_command", args{"command": "echo 3 >>ran"}),
			), says("All done."))
			p.on("then this", says("Fine."))
			session := s.newSession()
			turn := s.awaits(s.send(session, "three steps"))
			queued := s.send(session, "then this")
			s.decide(turn.ID, turn.Pending[0].CallID, "once")
			s.decide(turn.ID, turn.Pending[2].CallID, "deny")
			before := s.awaits(turn.ID)
			if len(before.Pending) != 1 || s.workspaceFile(session, "ran") != "1\n" {
				t.Fatalf("waits: %+v, ran %q", before.Pending, s.workspaceFile(session, "ran"))
			}
			ended := time.Now()
			end(s)
			if time.Since(ended) > 3*time.Second {
				t.Errorf("the end took %s: who waits for a person is not waited for", time.Since(ended))
			}
			s.launch()

			after := s.awaits(turn.ID)
			if len(after.Pending) != 1 || after.Pending[0] != before.Pending[0] {
				t.Fatalf("waits: %+v, before %+v", after.Pending, before.Pending)
			}
			if state := s.turn(queued, "").State; state != "queued" {
				t.Errorf("the next turn is %s", state)
			}
			s.answer(after, "once")
			if done := s.settled(turn.ID); done.State != "done" || done.Error != "" {
				t.Fatalf("%+v", done)
			}
			if done := s.settled(queued); done.State != "done" {
				t.Fatalf("%+v", done)
			}
			if ran := s.workspaceFile(session, "ran"); ran != "1\n2\n" {
				t.Errorf("ran %q", ran)
			}
			var got []any
			for _, r := range p.lastSent(t, "then this").results() {
				meta, _ := r.result(t)
				got = append(got, meta["approved"])
			}
			if len(got) != 4 || got[0] != true || got[1] != nil || got[2] != true || got[3] != false {
				t.Errorf("approved: %v", got)
			}
			wellFormed(t, p.lastSent(t, "then this"))
		})
	}
}

func TestAWaitIsStoppedAfterARestart(t *testing.T) {
	s, p := asking(t)
	p.on("one", runs("touch ran"), says("Done."))
	turn := s.awaits(s.send(s.newSession(), "one"))
	s.kill()
	s.launch()
	s.awaits(turn.ID)
	s.stop(turn.ID)
	if stopped := s.settled(turn.ID); stopped.State != "stopped" {
		t.Errorf("%+v", stopped)
	}
}

// What the two settings together do, as the model sees it.
func TestTheSandboxAndTheApprovalTogether(t *testing.T) {
	for name, test := range map[string]struct {
		env  []string
		asks bool
		says string // of what is not run
	}{
		"auto, off":   {env: []string{"OFFCUT_SANDBOX=off"}, asks: true},
		"never, off":  {env: []string{"OFFCUT_SANDBOX=off", "OFFCUT_APPROVAL=never"}},
		"never, auto": {env: []string{"OFFCUT_APPROVAL=never", "PATH=/nowhere"}, says: "only with OFFCUT_SANDBOX=off"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			s := start(t, p, test.env...)
			s.env = append(s.env, test.env...) // stronger than those of the machine
			s.terminate()
			s.launch()
			p.on("do it", runs("echo it ran"), says("Done."))
			turn := s.turn(s.send(s.newSession(), "do it"), "?wait=10")
			if test.asks != (turn.State == "awaiting_approval") {
				t.Fatalf("the turn is %s", turn.State)
			}
			if test.asks {
				s.answer(turn, "once")
				s.settled(turn.ID)
			}
			meta, body := p.lastSent(t, "do it").results()[0].result(t)
			switch {
			case test.says != "" && meta["sandbox"] == true:
				// On this machine a sandbox works without a program in PATH.
				if body != "it ran\n" || meta["approved"] == true {
					t.Errorf("the model is told %v %q", meta, body)
				}
			case test.says != "":
				if meta["is_error"] != true || !strings.Contains(body, test.says) {
					t.Errorf("the model is told %v %q", meta, body)
				}
			case test.says == "" && (body != "it ran\n" || meta["sandbox"] != false || (meta["approved"] == true) != test.asks):
				t.Errorf("the model is told %v %q", meta, body)
			}
		})
	}
}
