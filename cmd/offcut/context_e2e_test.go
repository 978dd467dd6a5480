package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
)

// small is a window that a few long messages fill, beside the instructions and
// the tools.
const small = "OFFCUT_MODEL_CONTEXT_TOKENS=16000"

// aSummary is asked for with messages of this form.
const aSummary = "Messages:\n{"

// long is a message of about 2,000 tokens.
func long(n int) string { return fmt.Sprintf("remember part %d: %s", n, strings.Repeat("word ", 1600)) }

// conversation is what a request holds beside the instructions.
func (r request) conversation() []sentMessage {
	var list []sentMessage
	for _, m := range r.Messages {
		if m.Role != "system" {
			list = append(list, m)
		}
	}
	return list
}

// summaries are the requests for one.
func (p *provider) summaries() int { return len(p.sent(aSummary)) }

// fill says long messages until a summary was made, and is how many it took.
func (s *server) fill(p *provider, session string) (said int) {
	s.t.Helper()
	for p.summaries() == 0 {
		if said++; said > 12 {
			s.t.Fatal("nothing was summarised")
		}
		if turn := s.say(session, long(said)); turn.State != "done" {
			s.t.Fatalf("part %d: %+v", said, turn)
		}
	}
	return said
}

func TestASessionThatOutgrowsItsWindowIsSummarised(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, small)
	p.on(aSummary, says("They gave parts to remember."))
	p.on("many lines", runs("seq 1 20000"), says("There they are."))
	p.on("remember part", says("Noted."))
	session := s.newSession()
	s.say(session, "many lines")
	kept := s.output(session).ID
	said := s.fill(p, session)

	last := p.lastSent(t, long(said))
	wellFormed(t, last)
	first := last.conversation()[0]
	if first.Role != "user" || !strings.Contains(first.Content, "They gave parts to remember.") || !strings.Contains(first.Content, `{"output_id":"`+kept+`","tool":"run_command"`) {
		t.Errorf("the conversation begins with %.400q", first.Content)
	}
	if next := last.conversation()[1]; next.Role != "user" || !strings.HasPrefix(next.Content, "remember part") {
		t.Errorf("it goes on with %.100q", next.Content)
	}
	var stored int
	for _, m := range s.messages(session, false) {
		if strings.Contains(m.Content, "They gave parts") {
			t.Error("the summary is in the list of messages")
		}
		if m.Role == "user" {
			stored++
		}
	}
	if stored != said+1 {
		t.Errorf("%d messages of the user are stored, of %d", stored, said+1)
	}

	s.kill()
	s.launch()
	p.on("read it again", calls(call("read_tool_output", args{"output_id": kept, "offset": 0})), says("Read."))
	s.say(session, "read it again")
	again := p.lastSent(t, "read it again")
	wellFormed(t, again)
	if before := again.conversation()[0]; before.Content != first.Content || p.summaries() != 1 {
		t.Errorf("after a restart it begins with %.200q, by %d requests", before.Content, p.summaries())
	}
	results := again.results()
	if _, body := results[len(results)-1].result(t); !strings.HasPrefix(body, "1\n2\n3\n") {
		t.Errorf("the kept output was read as %.50q", body)
	}
}

func TestASummaryIsNotSentOnAnotherPath(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, small)
	p.on(aSummary, says("They gave parts to remember."))
	p.on("remember part", says("Noted."))
	p.on("something else", says("Well."))
	session := s.newSession()
	s.fill(p, session)
	opening := s.messages(session, false)[0]
	var answer struct {
		TurnID string `json:"turn_id"`
	}
	s.must("POST", "/sessions/"+session+"/messages/"+opening.ID+"/edit", args{"content": "something else"}, &answer)
	s.settled(answer.TurnID)
	if sent := p.lastSent(t, "something else").conversation(); len(sent) != 1 || sent[0].Content != "something else" {
		t.Errorf("another beginning was sent with %q", outline(p.lastSent(t, "something else")))
	}
}

func TestASummaryThatFailsEndsNoTurn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, small)
	p.on(aSummary, reply{status: 400, message: "no summaries here"})
	p.on("remember part", says("Noted."))
	session := s.newSession()
	said := s.fill(p, session)
	first := p.lastSent(t, long(said)).conversation()[0]
	if !strings.Contains(first.Content, "- remember part 1: word") {
		t.Errorf("the conversation begins with %.400q", first.Content)
	}
}

func TestARefusalAsTooLongIsShortenedAndSentOnceMore(t *testing.T) {
	refusal := reply{status: 400, message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."}
	p := newProvider(t)
	s := start(t, p)
	p.on(aSummary, says("They gave parts to remember."))
	p.on("and now", refusal, says("It fits."))
	p.on("never fits", refusal)
	p.on("remember part", says("Noted."))
	session := s.newSession()
	for n := range 4 {
		s.say(session, long(n))
	}
	if turn := s.say(session, "and now"); turn.State != "done" {
		t.Fatalf("%+v", turn)
	}
	if sent := p.sent("and now"); len(sent) != 2 || !strings.Contains(sent[1].conversation()[0].Content, "They gave parts") {
		t.Fatalf("%d requests, the last of %q", len(sent), outline(sent[len(sent)-1]))
	}
	if turn := s.say(session, "never fits"); turn.State != "error" || turn.ErrorCode != "context_overflow" ||
		!strings.Contains(turn.Error, "8192 tokens") || !strings.Contains(turn.Error, "new chat") {
		t.Errorf("%+v", turn)
	}
	if sent := p.sent("never fits"); len(sent) > 2 {
		t.Errorf("%d requests", len(sent))
	}
}

func TestTheDemoModelSummarisesToo(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, small, "OFFCUT_MODEL=demo")
	session := s.newSession()
	s.say(session, "Run `seq 1 20000` and tell me the last line")
	for n := range 8 {
		s.say(session, fmt.Sprint("Say: ", n, strings.Repeat("x", 8000)))
	}
	if turn := s.say(session, "Find “19999” in the last kept output"); turn.State != "done" {
		t.Fatalf("%+v", turn)
	}
	if page := s.signedIn("/s/" + session); !strings.Contains(page, "fold-mark") {
		t.Error("the page shows no place up to which it was summarised")
	}
	answers := s.messages(session, false)
	if last := answers[len(answers)-1].Content; !strings.Contains(last, "19999") || strings.Contains(last, "no such output") {
		t.Errorf("it answers %.300q", last)
	}
}

// signedIn is a page as the first admin's browser has it.
func (s *server) signedIn(path string) string {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	var page []byte
	for _, address := range []string{"/login?token=" + adminToken, path} {
		answer, err := browser.Get(s.url + address)
		if err != nil {
			s.t.Fatal(err)
		}
		if page, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			s.t.Fatalf("%s: status %d, %v", path, answer.StatusCode, err)
		}
		_ = answer.Body.Close()
	}
	return string(page)
}
