package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// behind is a reply that starts a command in the background.
func behind(command string) reply {
	return calls(call("run_command", args{"command": command, "background": true}))
}

// resultsOf are the tool messages of a session, oldest first.
func (s *server) resultsOf(session string) []apiMessage {
	s.t.Helper()
	var results []apiMessage
	for _, m := range s.messages(session, true) {
		if m.Role == "tool" {
			results = append(results, m)
		}
	}
	return results
}

// runningCall waits for the only call of a session to run, and print.
func (s *server) runningCall(session string) string {
	s.t.Helper()
	id := ""
	s.waitFor("a command runs and its output is kept", func() bool {
		for _, o := range s.outputs(session) {
			if o.Running && o.TotalBytes > 0 {
				id = o.CallID
			}
		}
		return id != ""
	})
	return id
}

// move moves a call to the background and returns the status.
func (s *server) move(turn, callID string) int {
	return s.as(adminToken, http.MethodPost, "/turns/"+turn+"/background", args{"call_id": callID}, nil)
}

// stopOutput stops the command that prints an output and returns the status.
func (s *server) stopOutput(session, output string) int {
	return s.as(adminToken, http.MethodPost, "/sessions/"+session+"/outputs/"+output+"/stop", nil, nil)
}

// ended waits until the output of a session's only background command has ended.
func (s *server) ended(session string) apiOutput {
	s.t.Helper()
	s.waitFor("the background command ends", func() bool { return !s.output(session).Running })
	return s.output(session)
}

func TestACommandStartedInTheBackground(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("begin it", behind("echo first words; while ! test -e go; do sleep 0.05; done; echo last words; exit 3"), says("It runs."))
	session := s.ask("begin it")

	result := s.resultsOf(session)[0]
	meta := result.Metadata
	output, _ := meta["output_id"].(string)
	if output == "" || meta["complete"] != false || meta["background"] != "started" || meta["is_error"] != false || meta["exit_code"] != nil || meta["total_bytes"] == nil {
		t.Fatalf("the result's metadata are %v", meta)
	}
	if !strings.Contains(result.Content, "background") || !strings.Contains(result.Content, "read_tool_output") || !strings.Contains(result.Content, output) {
		t.Errorf("the result says %q", result.Content)
	}
	s.waitFor("the first words are kept while it runs", func() bool {
		return strings.HasPrefix(s.page(session, output, 0).Text, "first words\n")
	})
	if page := s.page(session, output, 0); page.Complete {
		t.Error("the page of a running command calls itself complete")
	}
	if found := s.search(session, output, "first"); len(found.Matches) != 1 {
		t.Errorf("the search meanwhile finds %v", found)
	}
	if o := s.output(session); !o.Running || o.Complete || o.Background != "running" || o.ExitCode != nil {
		t.Errorf("the output meanwhile is %+v", o)
	}

	// A second turn runs meanwhile: the model is told, reads, and lets it end.
	p.on("read it", calls(call("read_tool_output", args{"output_id": output})), calls(call("write_file", args{"path": "go", "content": "go"})), says("Read."))
	if turn := s.say(session, "read it"); turn.State != "done" {
		t.Fatalf("the second turn is %+v", turn)
	}
	if told := p.sent("read it")[0].Messages; !strings.Contains(told[len(told)-1].Content, output+" (echo first words") || !strings.Contains(told[len(told)-1].Content, "still runs") {
		t.Errorf("the model was told %q", told[len(told)-1].Content)
	}
	if page := s.resultsOf(session)[1]; page.Content != "first words\n" || page.Metadata["complete"] != false || page.Metadata["background"] != "running" {
		t.Errorf("the page that the model read is %+v", page)
	}

	o := s.ended(session)
	if !o.Complete || o.Background != "ended" || o.ExitCode == nil || *o.ExitCode != 3 {
		t.Errorf("the output at the end is %+v", o)
	}
	if text := s.copyOf(session, output); text != "first words\nlast words\n" {
		t.Errorf("the copy is %q", text)
	}
	if now := s.resultsOf(session)[0]; now.Content != result.Content || fmt.Sprint(now.Metadata) != fmt.Sprint(meta) {
		t.Error("the result that the model was sent has changed")
	}
	p.on("how did it end", calls(call("read_tool_output", args{"output_id": output})), says("With 3."))
	s.say(session, "how did it end")
	told := p.sent("how did it end")
	if text := told[0].Messages[len(told[0].Messages)-1].Content; !strings.Contains(text, "ended with exit code 3") {
		t.Errorf("the model was told %q", text)
	}
	last := s.resultsOf(session)
	if meta := last[len(last)-1].Metadata; meta["exit_code"] != float64(3) || meta["background"] != "ended" || meta["complete"] != true {
		t.Errorf("the model read %v", meta)
	}
	p.on("and now", says("Nothing."))
	s.say(session, "and now")
	if text := p.lastSent(t, "and now").Messages; strings.Contains(text[len(text)-1].Content, output) {
		t.Error("the model is told again of what it knows")
	}
}

func TestARunningCommandIsMoved(t *testing.T) {
	for _, finish := range []string{"tool_calls", "length"} {
		t.Run(finish, func(t *testing.T) {
			p := newProvider(t)
			s := start(t, p)
			first := calls(call("run_command", args{"command": "echo so far; sleep 300", "timeout_s": 6}), call("write_file", args{"path": "after", "content": "x"}))
			first.finish = finish
			p.on("build it", first, says("This is never asked for."))
			session := s.newSession()
			turn := s.send(session, "build it")
			callID := s.runningCall(session)
			running := time.Now()
			if status := s.move(turn, "nonsense"); status != http.StatusNotFound {
				t.Errorf("an unknown call: status %d", status)
			}
			if status := s.move(turn, callID); status != http.StatusAccepted {
				t.Fatalf("status %d", status)
			}
			if now := s.settled(turn); now.State != "done" || now.Error != "" || now.Continuations != 0 {
				t.Fatalf("the turn is %+v", now)
			}
			if n := len(p.sent("build it")); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
			results := s.resultsOf(session)
			meta := results[0].Metadata
			if meta["background"] != "moved" || meta["complete"] != false || meta["output_id"] == nil || meta["exit_code"] != nil || meta["is_error"] != false {
				t.Errorf("the moved call's metadata are %v", meta)
			}
			if !strings.HasPrefix(results[0].Content, "so far\n") || !strings.Contains(results[0].Content, "moved") {
				t.Errorf("the moved call's result is %q", results[0].Content)
			}
			if shown := fmt.Sprint(meta["shown"]); shown != "[[0 7]]" {
				t.Errorf("shown is %s", shown)
			}
			if len(results) != 2 || results[1].Metadata["is_error"] != true || !strings.Contains(results[1].Content, "not started") {
				t.Errorf("the call behind it has the result %+v", results[1:])
			}
			if status := s.move(turn, callID); status != http.StatusAccepted { // a double click
				t.Errorf("moved again: status %d", status)
			}
			time.Sleep(time.Until(running.Add(6200 * time.Millisecond))) // its time in the foreground is over
			o := s.output(session)
			if !o.Running {
				t.Fatalf("the command did not go on: %+v", o)
			}
			p.on("hello", says("Hello."))
			if turn := s.say(session, "hello"); turn.State != "done" {
				t.Errorf("the next turn is %+v", turn)
			}
			wellFormed(t, p.lastSent(t, "hello"))
			if status := s.stopOutput(session, o.ID); status != http.StatusAccepted {
				t.Fatalf("stop: status %d", status)
			}
			if o := s.ended(session); o.Complete || o.Background != "stopped" || o.TotalBytes != 7 {
				t.Errorf("the output after the stop is %+v", o)
			}
			if status := s.stopOutput(session, o.ID); status != http.StatusConflict {
				t.Errorf("stopped again: status %d", status)
			}
		})
	}
}

func TestWhatCannotBeMovedOrStopped(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	other := s.addUser("mallory")
	p.on("begin it", behind("echo words; sleep 300"), says("It runs."))
	session := s.newSession()
	turn := s.send(session, "begin it")
	s.settled(turn)
	callID := s.runningCall(session)
	output := s.output(session).ID
	for what, status := range map[string][2]int{
		"a call in the background already": {s.move(turn, callID), http.StatusAccepted}, // as it is to be
		"another user's turn":              {s.as(other, http.MethodPost, "/turns/"+turn+"/background", args{"call_id": callID}, nil), http.StatusNotFound},
		"no call":                          {s.as(adminToken, http.MethodPost, "/turns/"+turn+"/background", args{}, nil), http.StatusUnprocessableEntity},
		"another user's output":            {s.as(other, http.MethodPost, "/sessions/"+session+"/outputs/"+output+"/stop", nil, nil), http.StatusNotFound},
		"no output":                        {s.stopOutput(session, "out_nothing"), http.StatusNotFound},
		"an output that still grows":       {s.as(adminToken, http.MethodDelete, "/sessions/"+session+"/outputs/"+output, nil, nil), http.StatusConflict},
	} {
		if status[0] != status[1] {
			t.Errorf("%s: status %d, not %d", what, status[0], status[1])
		}
	}
	if status := s.stopOutput(session, output); status != http.StatusAccepted {
		t.Errorf("stop: status %d", status)
	}
	s.ended(session)
}

func TestOneUsersPlacesInTheBackground(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withSettings(t, "limits:\n  backgroundPerUser: 1\n"))
	p.on("begin two", calls(
		call("run_command", args{"command": "echo one; sleep 300", "background": true}),
		call("run_command", args{"command": "echo two; sleep 300", "background": true}),
	), says("One runs."))
	session := s.ask("begin two")
	results := s.resultsOf(session)
	if results[0].Metadata["is_error"] != false || results[1].Metadata["is_error"] != true || !strings.Contains(results[1].Content, "1 commands run in the background") {
		t.Fatalf("the results are %q and %q", results[0].Content, results[1].Content)
	}
	p.on("begin a third", runs("echo three; sleep 300"), says("Never."))
	third := s.newSession()
	turn := s.send(third, "begin a third")
	if status := s.move(turn, s.runningCall(third)); status != http.StatusConflict {
		t.Errorf("one more than the user may have: status %d", status)
	}
	s.stop(turn)
	s.stopOutput(session, s.output(session).ID)
	s.ended(session)
	p.on("begin a fourth", behind("echo four"), says("It runs."))
	fourth := s.ask("begin a fourth")
	if o := s.ended(fourth); !o.Complete || s.copyOf(fourth, o.ID) != "four\n" {
		t.Errorf("a small output of the background is %+v", o)
	}
}

// What runs in the background ends with its session, with its owner's right,
// and with the server however that ends.
func TestWhatEndsTheBackground(t *testing.T) {
	terminated := func(s *server, _ string) {
		began := time.Now()
		s.terminate()
		if took := time.Since(began); took > 10*time.Second {
			s.t.Errorf("the server took %v to end", took)
		}
	}
	killed := func(s *server, _ string) { s.kill() }
	unconfined := []string{"OFFCUT_SANDBOX=off", "OFFCUT_APPROVAL=never"}
	ends := map[string]struct {
		by    func(s *server, session string)
		state string // of the command afterwards; empty: nothing is left to ask
		env   []string
	}{
		"its session is deleted": {by: func(s *server, session string) {
			s.must(http.MethodDelete, "/sessions/"+session, nil, nil)
		}},
		"its session is archived": {func(s *server, session string) {
			s.must(http.MethodPatch, "/sessions/"+session, args{"archived": true}, nil)
		}, "stopped", nil},
		"the server ends":                        {terminated, "interrupted", nil},
		"the server is killed":                   {killed, "interrupted", nil},
		"the server ends, without a sandbox":     {terminated, "interrupted", unconfined},
		"the server is killed without a sandbox": {killed, "interrupted", unconfined},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			s := start(t, p, end.env...)
			mark := fmt.Sprintf("3%d", time.Now().UnixNano()%1_000_000_000)
			p.on("begin it", behind("echo words; setsid sleep "+mark+" & sleep "+mark), says("It runs."))
			session := s.ask("begin it")
			s.runningCall(session)
			s.waitFor("its processes run", func() bool { return len(processesWith(mark)) > 0 })
			end.by(s, session)
			s.waitFor("no process is left", func() bool { return len(processesWith(mark)) == 0 })
			if end.state == "" {
				return
			}
			if strings.HasPrefix(name, "the server") {
				s.launch()
			}
			if o := s.ended(session); o.Complete || o.Background != end.state || s.copyOf(session, o.ID) != "words\n" {
				t.Errorf("the output is %+v", o)
			}
			p.on("go on", says("On we go."))
			if turn := s.say(session, "go on"); turn.State != "done" {
				t.Errorf("the next turn is %+v", turn)
			}
		})
	}
}

func TestADisabledUsersBackgroundEnds(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	token := s.addUser("eve")
	mark := fmt.Sprintf("3%d", time.Now().UnixNano()%1_000_000_000)
	p.on("begin it", behind("echo words; sleep "+mark), says("It runs."))
	var session struct {
		ID string `json:"id"`
	}
	s.as(token, http.MethodPost, "/sessions", args{}, &session)
	s.as(token, http.MethodPost, "/sessions/"+session.ID+"/messages", args{"content": "begin it"}, nil)
	s.waitFor("its processes run", func() bool { return len(processesWith(mark)) > 0 })
	s.command("user", "disable", "eve")
	s.waitFor("no process is left", func() bool { return len(processesWith(mark)) == 0 })
	if o := s.ended(session.ID); o.Background != "stopped" {
		t.Errorf("the output is %+v", o)
	}
}

// A command that prints without end fills neither memory nor disk.
func TestAFloodInTheBackground(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("flood", behind("yes 'a line of a flood'"), says("It runs."))
	session := s.ask("flood")
	s.waitFor("the head that is kept is full", func() bool { return s.output(session).TotalBytes > 4<<20 })
	time.Sleep(2 * time.Second)
	if size := s.databaseSize(); size > 64<<20 {
		t.Errorf("the database has %d bytes", size)
	}
	output := s.output(session)
	s.stopOutput(session, output.ID)
	o := s.ended(session)
	if o.TotalBytes > 8<<20 || o.Complete {
		t.Errorf("the copy is %+v", o)
	}
	if page := s.page(session, o.ID, o.TotalBytes-1000); !strings.Contains(page.Text, "a line of a flood") || page.HasMore {
		t.Errorf("the end of the copy is %+v", page)
	}
	if found := s.search(session, o.ID, "were not kept here"); len(found.Matches) != 1 {
		t.Errorf("the gaps in the copy are %+v", found)
	}
}
