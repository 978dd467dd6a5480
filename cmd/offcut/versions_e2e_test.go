package main_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
)

// goesOn is in the hidden message of a turn that continues another.
const goesOn = "previous answer was interrupted"

// begin makes a call that begins a turn, and returns its id.
func (s *server) begin(path string, body any) string {
	s.t.Helper()
	var ref struct {
		TurnID string `json:"turn_id"`
	}
	s.must(http.MethodPost, path, body, &ref)
	return ref.TurnID
}

func (s *server) retry(turn string) apiTurn {
	s.t.Helper()
	return s.settled(s.begin("/turns/"+turn+"/retry", nil))
}

// texts are what was said, each with who said it.
func (s *server) texts(session, include string) (texts []string) {
	s.t.Helper()
	var list struct {
		Items []apiMessage `json:"items"`
	}
	s.must(http.MethodGet, "/sessions/"+session+"/messages?limit=200&include="+include, nil, &list)
	for _, m := range list.Items {
		texts = append(texts, m.Role+": "+m.Content)
	}
	return texts
}

// spoken are the messages of a request without the instructions.
func (r request) spoken() (texts []string) {
	for _, m := range r.Messages {
		if m.Role != "system" {
			texts = append(texts, m.Role+": "+m.Content)
		}
	}
	return texts
}

func wantTexts(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestAStreamThatBreaksIsRetriedWithoutItsTextAndContinuedWithIt(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	broken := says("It is ", "forty-")
	broken.cut = true
	p.on(goesOn, says("two."))
	p.on("what is it", broken, broken)
	session := s.newSession()
	first := s.say(session, "what is it")
	if first.State != "interrupted" || first.ErrorCode != "stream_broken" || first.Error == "" {
		t.Fatalf("the turn is %+v", first)
	}
	wantTexts(t, "shown", s.texts(session, ""), "user: what is it", "assistant: It is forty-")

	second := s.retry(first.ID)
	if second.ID == first.ID || second.State != "interrupted" {
		t.Errorf("the retry is %+v", second)
	}
	sent := p.sent("what is it")
	wantTexts(t, "sent by the retry", sent[1].spoken(), "user: what is it")

	third := s.settled(s.begin("/turns/"+second.ID+"/continue", nil))
	last := p.lastSent(t, goesOn).spoken()
	if third.State != "done" || len(last) != 3 || last[1] != "assistant: It is forty-" || !strings.Contains(last[2], "may or may not have taken effect") {
		t.Errorf("the continued turn is %+v, sent are %q", third, last)
	}
	wantTexts(t, "shown", s.texts(session, ""), "user: what is it", "assistant: It is forty-", "assistant: two.")
	if hidden := s.texts(session, "hidden"); len(hidden) != 4 || !strings.Contains(hidden[2], goesOn) {
		t.Errorf("with what is hidden: %q", hidden)
	}
	if all := s.texts(session, "versions,hidden"); len(all) != 6 || all[1] != "assistant: It is forty-" || all[5] != "assistant: two." {
		t.Errorf("with all versions: %q", all)
	}
}

func TestAWaitForTheProviderEndsByRetryAndByStop(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	busy := reply{status: 429, message: "slow down", headers: map[string]string{"Retry-After": "300"}}
	p.on("be quick", busy, says("Here."))
	p.on("never mind", busy, busy, busy)
	waits := func(turn string) {
		s.waitFor("a wait for the next try", func() bool { return s.turn(turn, "").Retries == 1 })
	}

	turn := s.send(s.newSession(), "be quick")
	waits(turn)
	if same := s.begin("/turns/"+turn+"/retry", nil); same != turn {
		t.Errorf("retry began %s, want %s itself", same, turn)
	}
	if ended := s.settled(turn); ended.State != "done" || ended.Retries != 1 {
		t.Errorf("the turn is %+v", ended)
	}

	took := agenttest.Quickest(time.Second, func() time.Duration {
		turn := s.send(s.newSession(), "never mind")
		waits(turn)
		began := time.Now()
		s.stop(turn)
		if ended := s.settled(turn); ended.State != "stopped" {
			t.Errorf("the turn is %+v", ended)
		}
		return time.Since(began)
	})
	if took > time.Second {
		t.Errorf("a stop took %v", took)
	}
}

func TestARetryInTheMiddleKeepsWhatFollowedWithTheOldAnswer(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("two", says("b"), says("B"))
	p.on("one", says("a"))
	p.on("three", runs("seq 1 20000"), says("c"))
	session := s.newSession()
	s.say(session, "one")
	second := s.say(session, "two")
	s.say(session, "three")
	kept := s.output(session)

	again := s.retry(second.ID)
	wantTexts(t, "sent", p.lastSent(t, "two").spoken(), "user: one", "assistant: a", "user: two")
	wantTexts(t, "shown", s.texts(session, ""), "user: one", "assistant: a", "user: two", "assistant: B")
	if all := strings.Join(s.texts(session, "versions"), "|"); !strings.Contains(all, "assistant: c") || !strings.Contains(all, "assistant: B") {
		t.Errorf("with all versions: %q", all)
	}
	if still := s.output(session); still.ID != kept.ID || s.page(session, kept.ID, 0).Text == "" {
		t.Errorf("the kept output is %+v, was %+v", still, kept)
	}

	var fork struct {
		ID string `json:"id"`
	}
	s.must(http.MethodPost, "/sessions/"+session+"/fork", map[string]string{}, &fork)
	wantTexts(t, "the fork", s.texts(fork.ID, "versions"), "user: one", "assistant: a", "user: two", "assistant: B")
	if again.State != "done" {
		t.Errorf("the retry is %+v", again)
	}
}

func TestAnEditedMessageIsAnsweredInItsPlace(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("clearer", says("B"))
	p.on("question", says("a"), says("b"), says("c"))
	session := s.newSession()
	s.say(session, "question one")
	s.say(session, "question two")
	s.say(session, "question three")
	stored := s.messages(session, false)
	edit := func(message apiMessage, content string) string {
		return s.begin("/sessions/"+session+"/messages/"+message.ID+"/edit", map[string]string{"content": content})
	}
	if turn := s.settled(edit(stored[2], "question two, clearer")); turn.State != "done" {
		t.Errorf("the turn is %+v", turn)
	}
	wantTexts(t, "sent", p.lastSent(t, "clearer").spoken(), "user: question one", "assistant: a", "user: question two, clearer")
	wantTexts(t, "shown", s.texts(session, ""), "user: question one", "assistant: a", "user: question two, clearer", "assistant: B")

	// What is not shown can be edited too: it is the conversation that led there
	// that goes on.
	if turn := s.settled(edit(stored[4], "three, clearer")); turn.State != "done" {
		t.Errorf("the turn is %+v", turn)
	}
	wantTexts(t, "shown", s.texts(session, ""), "user: question one", "assistant: a", "user: question two", "assistant: b", "user: three, clearer", "assistant: B")
}

func TestVersionsAreRefusedWhereTheyMakeNoSense(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	release := make(chan struct{})
	p.on("take your time", reply{text: []string{"x"}, hold: release})
	p.on("hello", says("hi"))
	session := s.newSession()
	done := s.say(session, "hello")
	said := s.messages(session, false)
	stranger := s.addUser("stranger")
	edit := "/sessions/" + session + "/messages/" + said[0].ID + "/edit"
	content := map[string]string{"content": "x"}
	for _, test := range []struct {
		name, token, path string
		body              any
		status            int
	}{
		{"another's message", stranger, edit, content, 404},
		{"another's retry", stranger, "/turns/" + done.ID + "/retry", nil, 404},
		{"another's continue", stranger, "/turns/" + done.ID + "/continue", nil, 404},
		{"a message of nobody", adminToken, "/sessions/" + session + "/messages/msg_nothing/edit", content, 404},
		{"an answer", adminToken, "/sessions/" + session + "/messages/" + said[1].ID + "/edit", content, 422},
		{"nothing", adminToken, edit, map[string]string{"content": " \n"}, 422},
		{"too much", adminToken, edit, map[string]string{"content": strings.Repeat("x", 1<<20+1)}, 413},
		{"what is complete", adminToken, "/turns/" + done.ID + "/continue", nil, 409},
	} {
		if status := s.as(test.token, http.MethodPost, test.path, test.body, nil); status != test.status {
			t.Errorf("%s: status %d, want %d", test.name, status, test.status)
		}
	}
	running := s.send(session, "take your time")
	for _, path := range []string{edit, "/turns/" + done.ID + "/retry", "/turns/" + running + "/retry", "/turns/" + running + "/continue"} {
		status, _, data := s.raw(adminToken, http.MethodPost, "/api/v1"+path, strings.NewReader(`{"content":"x"}`))
		var problem struct{ Detail string }
		decode(t, data, &problem)
		if status != 409 || problem.Detail == "" {
			t.Errorf("%s while a turn runs: %d %s", path, status, data)
		}
	}
	close(release)
	s.settled(running)
}

func TestTheCapsErrorCanBeRetried(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	cut := reply{text: []string{"more "}, finish: "length"}
	p.on("Output token limit hit", cut)
	p.on("write a book", cut, says("a short one"))
	first := s.say(s.newSession(), "write a book")
	if first.State != "error" || first.ErrorCode != "output_limit" || first.Continuations != 3 {
		t.Fatalf("the turn is %+v", first)
	}
	if again := s.retry(first.ID); again.State != "done" {
		t.Errorf("the retry is %+v", again)
	}
}

func TestAKilledServersAnswerIsContinuedOrRetriedAndTheQueueGoesOn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on(goesOn, says("the end"))
	p.on("and then", says("queued answer"))
	p.on("a story", reply{text: []string{"Once upon "}, hold: make(chan struct{})}, says("Once."))
	session, other := s.newSession(), s.newSession()
	turn := s.send(session, "a story")
	s.waitFor("the first words", func() bool { return slices.Contains(s.texts(session, ""), "assistant: Once upon ") })
	p.on("the other story", reply{text: []string{"Twice upon "}, hold: make(chan struct{})})
	broken := s.send(other, "the other story")
	queued := s.send(other, "and then")
	s.waitFor("its first words", func() bool { return slices.Contains(s.texts(other, ""), "assistant: Twice upon ") })
	s.kill()
	s.launch()

	if ended := s.settled(turn); ended.State != "interrupted" || ended.Error == "" {
		t.Errorf("the turn is %+v", ended)
	}
	if ended := s.settled(queued); ended.State != "done" {
		t.Errorf("the queued turn is %+v", ended)
	}
	if status := s.as(adminToken, http.MethodPost, "/turns/"+broken+"/continue", nil, nil); status != 409 {
		t.Errorf("continue in the middle: status %d", status)
	}
	next := s.settled(s.begin("/turns/"+turn+"/continue", nil))
	wantTexts(t, "shown", s.texts(session, ""), "user: a story", "assistant: Once upon ", "assistant: the end")
	if next.State != "done" {
		t.Errorf("the continued turn is %+v", next)
	}
	s.retry(turn)
	wantTexts(t, "after the retry", s.texts(session, ""), "user: a story", "assistant: Once.")
	wantTexts(t, "sent by the retry", p.lastSent(t, "a story").spoken(), "user: a story")
}
