package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/models"
)

func TestAModelIsChosenWithTheFirstMessageAndLater(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Says("Hello."))
	b := s.signedIn(ann)
	home := b.get("/").page(t)
	if picked := home.Find("#composer select[name=model] option[selected]").Text(); picked != "scripted" {
		t.Errorf("a new chat offers %q", picked)
	}
	a := b.post("/sessions", url.Values{"content": {"hello"}, "model": {"other"}})
	if a.status != 303 {
		t.Fatalf("the first message: %d", a.status)
	}
	session := strings.TrimPrefix(a.header.Get("Location"), "/s/")
	model := func() any { return s.wants(200, ann, "GET", "/sessions/"+session, nil)["model"] }
	if model() != "other" {
		t.Errorf("the session's model is %v", model())
	}
	if a := b.post("/s/"+session+"/model", url.Values{"model": {"scripted"}}, "HX-Request", "true"); a.status != 204 || model() != "scripted" {
		t.Errorf("choosing another: %d, %v", a.status, model())
	}
	if picked := b.get("/s/" + session).page(t).Find("[data-testid=model-picker] option[selected]").Text(); picked != "scripted" {
		t.Errorf("the page says %q", picked)
	}
	for path, form := range map[string]url.Values{
		"/s/" + session + "/model": {"model": {"nothing"}},
		"/sessions":                {"content": {"keep this"}, "model": {"nothing"}},
	} {
		a := b.post(path, form)
		if a.status != 422 || !strings.Contains(strings.ToLower(string(a.body)), "there is no model") {
			t.Errorf("%s with an unknown model: %d", path, a.status)
		}
		if form.Has("content") && a.page(t).Find("textarea").Text() != "keep this" {
			t.Error("the message is lost")
		}
	}
	s.wants(422, ann, "PATCH", "/sessions/"+session, `{"model":"nothing"}`)
	s.wants(422, ann, "POST", "/sessions", `{"model":"nothing"}`)
}

func TestASessionWhoseModelIsGoneAsksForAnother(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Says("Back again."))
	now := s.newSession(ann)
	_, err := s.store.UpdateSession(t.Context(), s.owner(ann), now, models.SessionPatch{Model: models.Ptr("retired")}, time.Now())
	must(t, err)
	b := s.signedIn(ann)
	doc := b.get("/s/" + now).page(t)
	if note := doc.Find("[data-testid=model-gone]").Text(); !strings.Contains(note, "retired") {
		t.Errorf("the page says %q", note)
	}
	problem := s.wants(409, ann, "POST", "/sessions/"+now+"/messages", `{"content":"hello"}`)
	if problem["code"] != "model_gone" {
		t.Errorf("the problem is %v", problem)
	}
	a := b.post("/s/"+now+"/messages", url.Values{"content": {"hello"}})
	if a.status != 409 || a.page(t).Find("textarea").Text() != "hello" {
		t.Errorf("sending: %d, the text is %q", a.status, a.page(t).Find("textarea").Text())
	}
	b.post("/s/"+now+"/model", url.Values{"model": {"scripted"}})
	if turn := s.says(ann, now, "hello"); turn["state"] != "done" {
		t.Errorf("with another model: %v", turn)
	}
	if b.get("/s/"+now).page(t).Find("[data-testid=model-gone]").Length() != 0 {
		t.Error("the note stays")
	}
}

func TestTokensAndCostStandUnderTheAnswerAndWithTheSession(t *testing.T) {
	s := start(t)
	says := agenttest.Says("Hello.")
	says.Usage = models.Usage{InputTokens: 1200, OutputTokens: 30, CachedTokens: 200, Cost: 0.0125}
	s.script.Then(says)
	session := s.newSession(ann)
	if turn := s.says(ann, session, "hello"); turn["usage"].(map[string]any)["cost"] != 0.0125 {
		t.Errorf("the turn's usage is %v", turn["usage"])
	}
	b := s.signedIn(ann)
	if foot := b.get("/s/" + session).page(t).Find("[data-role=assistant] .acts").Text(); !strings.Contains(foot, "scripted") || !strings.Contains(foot, "1,230 tokens") || !strings.Contains(foot, "$0.0125") {
		t.Errorf("under the answer: %q", foot)
	}
	details := b.get("/s/"+session+"/details", "HX-Request", "true").page(t).Find("[data-testid=session-details]").Text()
	if !strings.Contains(details, "1,200") || !strings.Contains(details, "200 cached") || !strings.Contains(details, "$0.0125") {
		t.Errorf("the details: %q", details)
	}
	if month := b.get("/account").page(t).Find("[data-testid=month-used]").Text(); !strings.Contains(month, "1,230 tokens") || !strings.Contains(month, "$0.0125") {
		t.Errorf("the month: %q", month)
	}
}

func TestOutputsAndReasoningAreOpenAsChosen(t *testing.T) {
	s := start(t)
	s.prints(lines(5))
	session := s.newSession(ann)
	s.says(ann, session, "print")
	b := s.signedIn(ann)
	for _, tt := range []struct {
		lines, thoughts string
		open            bool
	}{
		{"0", "", false}, {"10", "on", true}, {"50", "", true},
	} {
		b.post("/settings", url.Values{"preview_lines": {tt.lines}, "theme": {"system"}, "thoughts": {tt.thoughts}})
		doc := b.get("/s/" + session).page(t)
		_, closed := doc.Find(".tool-body").Attr("hidden")
		if closed == tt.open || (doc.Find("#chat").AttrOr("data-lines", "0") != tt.lines) {
			t.Errorf("with %s lines the card is closed: %v", tt.lines, closed)
		}
		if _, open := doc.Find(".think").Attr("open"); open != (tt.thoughts != "") {
			t.Errorf("with reasoning %q it is open: %v", tt.thoughts, open)
		}
	}
}

func TestAnotherModelIsShownInAllOpenPages(t *testing.T) {
	s := start(t)
	session := s.newSession(ann)
	b := s.signedIn(ann)
	conn := b.watching(session, b.seqOf(session))
	s.wants(200, ann, "PATCH", "/sessions/"+session, `{"model":"other"}`)
	for {
		f, code := next(t, conn)
		if code != 0 {
			t.Fatalf("the connection ended with %d", code)
		}
		if f.Type == "model" {
			if f.Text != "other" {
				t.Errorf("it says %q", f.Text)
			}
			return
		}
	}
}
