package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// resume is the hidden message after an output-token limit, word for word.
const resume = "Output token limit hit. Resume directly — no apology, no recap of what you were doing. Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces."

func cutAt(text string) reply { return reply{text: []string{text}, finish: "length"} }

// outline is a request's conversation in short: the role and how its text begins.
func outline(r request) []string {
	var lines []string
	for _, m := range r.Messages {
		switch {
		case m.Role == "system":
		case m.Role == "tool":
			lines = append(lines, "result")
		case len(m.ToolCalls) > 0:
			lines = append(lines, fmt.Sprintf("calls %d", len(m.ToolCalls)))
		case m.Content == resume:
			lines = append(lines, "resume")
		default:
			lines = append(lines, m.Role+" "+m.Content)
		}
	}
	return lines
}

func TestACutAnswerIsContinued(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)

	t.Run("with the hidden message and a new call", func(t *testing.T) {
		p.on("tell a story", cutAt("Once"), cutAt(" upon"), says(" a time."))
		session := s.newSession()
		turn := s.say(session, "tell a story")
		if turn.State != "done" || turn.Continuations != 2 {
			t.Fatalf("%+v", turn)
		}
		want := []string{"user tell a story", "assistant Once", "resume", "assistant  upon", "resume"}
		if diff := cmp.Diff(want, outline(p.lastSent(t, "tell a story"))); diff != "" {
			t.Error(diff)
		}
		for _, m := range s.messages(session, false) {
			if m.IsMeta || m.Content == resume {
				t.Error("the hidden message is in the list")
			}
		}
		var hidden int
		for _, m := range s.messages(session, true) {
			if m.IsMeta && m.Role == "user" && m.Content == resume {
				hidden++
			}
		}
		if hidden != 2 {
			t.Errorf("%d hidden messages are stored", hidden)
		}
	})

	t.Run("three times at most", func(t *testing.T) {
		p.on("for ever and ever", cutAt("and on "))
		session := s.newSession()
		turn := s.say(session, "for ever and ever")
		if turn.State != "error" || turn.ErrorCode != "output_limit" || turn.Continuations != 3 {
			t.Fatalf("%+v", turn)
		}
		if !strings.Contains(turn.Error, "repeatedly exceeded the output token limit") {
			t.Errorf("error %q", turn.Error)
		}
		if sent := len(p.sent("for ever and ever")); sent != 4 {
			t.Errorf("the model was asked %d times", sent)
		}
		if all := s.messages(session, true); all[len(all)-1].IsMeta {
			t.Error("a hidden message stands after the last cut")
		}
	})

	t.Run("a round with tool calls is not counted, and sets the count to zero", func(t *testing.T) {
		withCall := reply{text: []string{"let me see "}, calls: []toolCall{call("run_command", args{"command": "echo seen"})}, finish: "length"}
		p.on("cut and call", cutAt("a"), cutAt("b"), cutAt("c"), withCall, cutAt("d"), cutAt("e"), cutAt("f"), says("end"))
		session := s.newSession()
		turn := s.say(session, "cut and call")
		if turn.State != "done" {
			t.Fatalf("%+v", turn)
		}
		want := []string{
			"user cut and call", "assistant a", "resume", "assistant b", "resume", "assistant c", "resume",
			"calls 1", "result", "resume", "assistant d", "resume", "assistant e", "resume", "assistant f", "resume",
		}
		if diff := cmp.Diff(want, outline(p.lastSent(t, "cut and call"))); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a turn as a whole is bounded", func(t *testing.T) {
		n := 0
		p.onFunc("cut with a call each time", func(request) reply {
			n++
			return reply{calls: []toolCall{call("run_command", args{"command": fmt.Sprintf("echo %d", n)})}, finish: "length"}
		})
		session := s.newSession()
		if turn := s.say(session, "cut with a call each time"); turn.State != "error" || turn.ErrorCode != "turn_limit" {
			t.Fatalf("%+v after %d calls", turn, n)
		}
		if n > 100 {
			t.Errorf("the model was called %d times", n)
		}
	})

	t.Run("reasoning alone is sent back", func(t *testing.T) {
		p.on("think hard", reply{reasoning: "First I consider", finish: "length"}, says("The answer."))
		session := s.newSession()
		if turn := s.say(session, "think hard"); turn.State != "done" {
			t.Fatalf("%+v", turn)
		}
		for _, m := range p.lastSent(t, "think hard").Messages {
			if m.Role == "assistant" && (m.Reasoning != "First I consider" || m.Content == "") {
				t.Errorf("sent back: %+v", m)
			}
		}
	})

	t.Run("nothing at all ends with an error that can be seen", func(t *testing.T) {
		p.on("say nothing", reply{finish: "length"})
		session := s.newSession()
		if turn := s.say(session, "say nothing"); turn.State != "error" || turn.Error == "" {
			t.Fatalf("%+v", turn)
		}
	})
}

// wellFormed fails where a call has no result right after it, or a result no call.
func wellFormed(t *testing.T, r request) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				t.Errorf("message %d is a result without its call", i)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("before message %d the calls %v have no result", i, open)
		}
		open = map[string]bool{}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
		if m.Role == "assistant" && m.Content == "" && len(m.ToolCalls) == 0 {
			t.Errorf("message %d is empty", i)
		}
	}
	if len(open) > 0 {
		t.Errorf("at the end the calls %v have no result", open)
	}
}

func TestStopLeavesASessionThatGoesOn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)

	t.Run("in the middle of the text", func(t *testing.T) {
		p.on("count slowly", reply{text: []string{"1 ", "2 ", "3 "}, hold: make(chan struct{})})
		p.on("go on after text", says("Gone on."))
		session := s.newSession()
		turn := s.send(session, "count slowly")
		s.waitFor("the text is stored", func() bool {
			all := s.messages(session, false)
			return all[len(all)-1].Content == "1 2 3 "
		})
		began := time.Now()
		s.stop(turn)
		if stopped := s.settled(turn); stopped.State != "stopped" || time.Since(began) > 1500*time.Millisecond {
			t.Fatalf("%+v after %v", stopped, time.Since(began))
		}
		s.say(session, "go on after text")
		request := p.lastSent(t, "go on after text")
		wellFormed(t, request)
		if diff := cmp.Diff([]string{"user count slowly", "assistant 1 2 3 ", "user go on after text"}, outline(request)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("in the middle of three commands", func(t *testing.T) {
		p.on("three commands", calls(
			call("run_command", args{"command": "echo quick"}),
			call("run_command", args{"command": "echo began; sleep 60"}),
			call("run_command", args{"command": "sleep 61"}),
		))
		p.on("go on after commands", says("Gone on."))
		session := s.newSession()
		turn := s.send(session, "three commands")
		s.waitFor("the calls are stored", func() bool {
			all := s.messages(session, false)
			return len(all[len(all)-1].ToolCalls) == 3
		})
		time.Sleep(time.Second)
		began := time.Now()
		s.stop(turn)
		if stopped := s.settled(turn); stopped.State != "stopped" || time.Since(began) > 1500*time.Millisecond {
			t.Fatalf("%+v after %v", stopped, time.Since(began))
		}
		if turn := s.say(session, "go on after commands"); turn.State != "done" {
			t.Fatalf("%+v", turn)
		}
		request := p.lastSent(t, "go on after commands")
		wellFormed(t, request)
		results := request.results()
		if len(results) != 3 {
			t.Fatalf("%d results were sent", len(results))
		}
		if !strings.Contains(results[1].Content, "unknown") || !strings.Contains(results[1].Content, "began") {
			t.Errorf("the model is told %q", results[1].Content)
		}
	})

	t.Run("a queued message is removed, the running turn goes on", func(t *testing.T) {
		hold := make(chan struct{})
		p.on("the running one", reply{text: []string{"Working."}, hold: hold})
		p.on("the queued one", says("Never."))
		p.on("the next one", says("Next."))
		session := s.newSession()
		running := s.send(session, "the running one")
		queued, next := s.send(session, "the queued one"), s.send(session, "the next one")
		if turn := s.turn(queued, ""); turn.State != "queued" {
			t.Errorf("%+v", turn)
		}
		s.stop(queued)
		if turn := s.turn(running, ""); turn.State != "running" {
			t.Errorf("%+v", turn)
		}
		close(hold)
		if turn := s.settled(running); turn.State != "done" {
			t.Errorf("%+v", turn)
		}
		if turn := s.settled(next); turn.State != "done" {
			t.Errorf("%+v", turn)
		}
		want := []string{"user the running one", "assistant Working.", "user the next one"}
		if diff := cmp.Diff(want, outline(p.lastSent(t, "the next one"))); diff != "" {
			t.Error(diff)
		}
		if len(p.sent("the queued one")) != 0 {
			t.Error("the removed message was sent")
		}
	})

	t.Run("queued messages go on in order after a stop", func(t *testing.T) {
		p.on("stop this one", reply{text: []string{"Half"}, hold: make(chan struct{})})
		p.on("waiting first", says("First."))
		p.on("waiting second", says("Second."))
		session := s.newSession()
		running := s.send(session, "stop this one")
		first, second := s.send(session, "waiting first"), s.send(session, "waiting second")
		s.waitFor("the text has come", func() bool { return len(p.sent("stop this one")) == 1 })
		s.stop(running)
		s.settled(first)
		if turn := s.settled(second); turn.State != "done" {
			t.Errorf("%+v", turn)
		}
		got := outline(p.lastSent(t, "waiting second"))
		if tail := got[len(got)-3:]; !cmp.Equal(tail, []string{"user waiting first", "assistant First.", "user waiting second"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestCallsAndResults(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)

	t.Run("results come in the order of the calls", func(t *testing.T) {
		p.on("three at once", calls(
			call("run_command", args{"command": "sleep 0.5; echo first"}),
			call("run_command", args{"command": "echo second"}),
			call("run_command", args{"command": "sleep 0.2; echo third"}),
		), says("All."))
		s.ask("three at once")
		request := p.lastSent(t, "three at once")
		wellFormed(t, request)
		for i, want := range []string{"first\n", "second\n", "third\n"} {
			if _, body := request.results()[i].result(t); body != want {
				t.Errorf("result %d is %q", i, body)
			}
		}
	})

	t.Run("what the model can mend is a result", func(t *testing.T) {
		for _, test := range []struct {
			name string
			call toolCall
			says string
		}{
			{"an unknown tool", call("make_coffee", args{"sugar": 2}), "make_coffee"},
			{"no JSON", call("run_command", `{"command": echo}`), "echo"},
			{"a wrong type", call("run_command", args{"command": 5}), "command"},
			{"a missing argument", call("run_command", args{}), "command"},
			{"a missing file", call("read_file", args{"path": "nowhere.txt"}), "nowhere.txt"},
			{"a folder", call("read_file", args{"path": "."}), "folder"},
			{"a file outside", call("read_file", args{"path": "../../offcut.db"}), ""},
			{"a system file", call("read_file", args{"path": "/proc/self/environ"}), ""},
			{"a text that is not there", call("edit_file", args{"path": "nowhere.txt", "old_string": "a", "new_string": "b"}), "nowhere.txt"},
		} {
			p.on("try "+test.name, calls(test.call), says("Seen."))
			s.ask("try " + test.name)
			request := p.lastSent(t, "try "+test.name)
			wellFormed(t, request)
			meta, body := request.results()[0].result(t)
			if meta["is_error"] != true || !strings.Contains(body, test.says) {
				t.Errorf("%s: %v %q", test.name, meta, body)
			}
			if strings.Contains(body, s.dir) || strings.Contains(body, "goroutine") {
				t.Errorf("%s shows the server's inside: %q", test.name, body)
			}
		}
	})

	t.Run("the fifth identical call in a row with an identical result is answered with an error", func(t *testing.T) {
		n := 0
		p.onFunc("again and again", func(request) reply {
			n++
			if n > 5 {
				return says("Enough.")
			}
			return calls(call("read_file", args{"path": "same.txt"}))
		})
		p.on("make same", calls(call("write_file", args{"path": "same.txt", "content": "same\n"})), says("Made."))
		session := s.ask("make same")
		s.say(session, "again and again")
		results := p.lastSent(t, "again and again").results()
		for i, result := range results[1:] {
			if meta, _ := result.result(t); meta["is_error"] != (i == 4) {
				t.Errorf("call %d: %v", i+1, meta)
			}
		}
	})

	t.Run("ids that a provider uses twice are made unique", func(t *testing.T) {
		p.mu.Lock()
		p.calls = 0
		p.mu.Unlock()
		p.on("one more id", runs("echo one"), says("One."))
		session := s.ask("one more id")
		p.mu.Lock()
		p.calls = 0
		p.mu.Unlock()
		p.on("the same id", runs("echo two"), says("Two."))
		s.say(session, "the same id")
		wellFormed(t, p.lastSent(t, "the same id"))
		seen := map[string]bool{}
		for _, m := range s.messages(session, false) {
			for _, c := range m.ToolCalls {
				if seen[c.ID] {
					t.Errorf("the id %s stands twice", c.ID)
				}
				seen[c.ID] = true
			}
		}
	})
}

func TestTheModelIsToldWhatAPreviewIs(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("hello there", says("Hello."))
	s.ask("hello there")
	request := p.lastSent(t, "hello there")
	if request.Messages[0].Role != "system" {
		t.Fatalf("the first message is of %s", request.Messages[0].Role)
	}
	system := request.Messages[0].Content
	for _, word := range []string{"preview", "complete", "read_tool_output", "head", "again"} {
		if !strings.Contains(system, word) {
			t.Errorf("the instructions do not speak of %q", word)
		}
	}
	offered := map[string]bool{}
	for _, tool := range request.Tools {
		offered[tool.Function.Name] = true
		if !strings.Contains(string(tool.Function.Parameters), `"object"`) || tool.Function.Description == "" {
			t.Errorf("the tool %s is not described", tool.Function.Name)
		}
	}
	for _, name := range []string{"run_command", "read_file", "write_file", "edit_file", "list_files", "search_files", "read_tool_output", "search_tool_output", "query_tool_output", "fetch_url", "load_skill"} {
		if !offered[name] {
			t.Errorf("the tool %s is not offered", name)
		}
	}
}

func TestAStopEndsTheWaitBeforeARetry(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("busy for minutes", reply{status: 429, message: "busy", headers: map[string]string{"Retry-After": "300"}}, says("Never."))
	p.on("after the wait", says("Going on."))
	session := s.newSession()
	turn := s.send(session, "busy for minutes")
	s.waitFor("it waits to try again", func() bool { return s.turn(turn, "").NextTry != nil })
	waits := s.turn(turn, "")
	if next := waits.NextTry; waits.Retries != 1 || next.Try != 1 || next.Of != 10 || time.Until(next.At) < 4*time.Minute || !strings.Contains(next.Reason, "429") {
		t.Errorf("%+v waits for %+v", waits, next)
	}
	s.stop(turn)
	if stopped := s.settled(turn); stopped.State != "stopped" || stopped.NextTry != nil {
		t.Errorf("%+v", stopped)
	}
	if next := s.say(session, "after the wait"); next.State != "done" || len(p.sent("busy for minutes")) != 2 {
		t.Errorf("%+v; the model was asked %d times", next, len(p.sent("busy for minutes")))
	}
}

func TestAProviderThatFails(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	for _, test := range []struct {
		name   string
		reply  reply
		state  string
		code   string
		error  string
		stands string
	}{
		{"refuses", reply{status: 400, message: "the model does not like this"}, "error", "provider_refused", "does not like this", ""},
		{"breaks off", reply{text: []string{"Half a sen"}, cut: true}, "interrupted", "stream_broken", "", "Half a sen"},
		{"refuses the key", reply{status: 401, message: "wrong key sk-e2e-secret-key"}, "error", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p.on("a provider that "+test.name, test.reply)
			session := s.newSession()
			turn := s.say(session, "a provider that "+test.name)
			if turn.State != test.state || test.code != "" && turn.ErrorCode != test.code || !strings.Contains(turn.Error, test.error) || turn.Error == "" {
				t.Errorf("%+v", turn)
			}
			if strings.Contains(turn.Error+s.log.String(), "sk-e2e-secret-key") {
				t.Error("the key is shown")
			}
			all := s.messages(session, false)
			if last := all[len(all)-1]; test.stands != "" && last.Content != test.stands {
				t.Errorf("what had come is %q", last.Content)
			}
		})
	}
}
