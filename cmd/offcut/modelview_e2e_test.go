package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded is a request as the server says that it sent it.
type recorded struct {
	Request  int64         `json:"request"`
	Model    string        `json:"model"`
	Messages []sentMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// recorded is request number n of a session; 0: the last.
func (s *server) recorded(session string, n int) recorded {
	s.t.Helper()
	address := "/s/" + session + "/model/json"
	if n > 0 {
		address += fmt.Sprint("?request=", n)
	}
	var r recorded
	if err := json.Unmarshal([]byte(s.signedIn(address)), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// sameRequest checks that what the server says it sent is what the model got.
func sameRequest(t *testing.T, said recorded, got request) {
	t.Helper()
	if diff := cmp.Diff(got.Messages, said.Messages); diff != "" {
		t.Errorf("request %d differs from what the model was sent (- sent, + told):\n%.3000s", said.Request, diff)
	}
	summary := strings.Contains(got.Messages[len(got.Messages)-1].Content, aSummary)
	if len(got.Tools) != len(said.Tools) || (len(said.Tools) == 0) != summary {
		t.Fatalf("%d tools were sent, %d are told", len(got.Tools), len(said.Tools))
	}
	for i, tool := range got.Tools {
		if told := said.Tools[i].Function; said.Tools[i].Type != "function" || told.Name != tool.Function.Name || told.Description != tool.Function.Description || string(told.Parameters) != string(tool.Function.Parameters) {
			t.Errorf("tool %d is told as %s, and was sent as %s", i, told.Name, tool.Function.Name)
		}
	}
}

// asked are the requests that the model was sent, in order.
func (p *provider) asked() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

func TestWhatTheModelWasSentIsToldExactly(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, small)
	p.on(aSummary, says("They gave parts to remember."))
	p.on("many lines", runs("seq 1 20000"), says("There they are."))
	p.on("remember part", says("Noted."))
	p.on("cut off", reply{text: []string{"This goes "}, finish: "length"})
	p.on("Output token limit hit", says("on."))
	p.on("fail", calls(call("read_file", args{"path": "nothing"})), says("It is not there."))
	session := s.newSession()
	s.say(session, "many lines <script>alert(1)</script>")
	s.say(session, "cut off")
	s.say(session, "fail")
	s.fill(p, session)
	s.say(session, "remember part of what was pruned")
	s.kill()
	s.launch()
	s.say(session, "remember part after a restart")

	asked := p.asked()
	for n := range asked {
		sameRequest(t, s.recorded(session, n+1), asked[n])
		if strings.Contains(fmt.Sprint(asked[n].Messages), aSummary) {
			page := s.signedIn(fmt.Sprintf("/s/%s/model?request=%d", session, n+1))
			if !strings.Contains(page, "asked the model to sum up older messages") || !strings.Contains(page, fmt.Sprintf("?request=%d\"", n)) {
				t.Errorf("request %d is not told as one for a summary", n+1)
			}
		}
	}
	last := s.recorded(session, 0)
	if last.Request != int64(len(asked)) {
		t.Errorf("the last request is %d of %d", last.Request, len(asked))
	}
	all := fmt.Sprint(asked)
	for what, words := range map[string]string{
		"a summary": "They gave parts to remember.", "a hidden message": "Output token limit hit", "a shortened result": `"pruning"`,
	} {
		if !strings.Contains(all, words) {
			t.Errorf("no request held %s: the test shows nothing of it", what)
		}
	}
	page := s.signedIn("/s/" + session + "/model")
	if !strings.Contains(page, "They gave parts to remember.") || strings.Contains(page, "<script>alert") || strings.Contains(page, "sk-e2e-secret-key") {
		t.Errorf("the page of the last request lacks the summary, or holds what it must not")
	}
}

func TestARequestIsToldWhileItsTurnRuns(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("go on for long", runs("echo started; sleep 60"))
	session := s.newSession()
	turn := s.send(session, "go on for long")
	s.runningCall(session)
	sameRequest(t, s.recorded(session, 0), p.lastSent(t, "go on for long"))
	if page := s.signedIn("/s/" + session + "/model"); !strings.Contains(page, "The model wrote this as its answer") {
		t.Error("the page does not tell of the answer that is not sent back yet")
	}
	s.stop(turn)
	s.settled(turn)
}

func TestTheModelsViewIsTheOwnersAndTheAdmins(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("hello", says("Hello."))
	ann := s.addUser("ann")
	var session struct {
		ID string `json:"id"`
	}
	if status := s.as(ann, "POST", "/sessions", args{}, &session); status != http.StatusCreated {
		t.Fatal(status)
	}
	var sent struct {
		TurnID string `json:"turn_id"`
	}
	s.as(ann, "POST", "/sessions/"+session.ID+"/messages", args{"content": "hello"}, &sent)
	s.settled(sent.TurnID)
	if page := s.signedIn("/s/" + session.ID + "/model"); !strings.Contains(page, "Two views of one conversation") {
		t.Error("an admin cannot see it")
	}
	var audit struct {
		Items []struct {
			Action string `json:"action"`
			Target string `json:"target"`
		} `json:"items"`
	}
	s.must("GET", "/admin/audit", nil, &audit)
	views := 0
	for _, line := range audit.Items {
		if line.Target == session.ID && strings.Contains(line.Action, "view") {
			views++
		}
	}
	if views != 1 {
		t.Errorf("the admin's view stands in the audit log %d times", views)
	}
}
