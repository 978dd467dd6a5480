package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"

	"github.com/PuerkitoBio/goquery"
)

// conversation is a session of ann's with n questions, and the ids of its
// messages in order.
func (s *server) conversation(n int) (session string, messages []string) {
	s.t.Helper()
	session = s.newSession(ann)
	for i := range n {
		s.script.Then(agenttest.Says(fmt.Sprint("answer ", i)))
		s.says(ann, session, fmt.Sprint("question ", i))
	}
	for _, m := range s.wants(200, ann, "GET", "/sessions/"+session+"/messages?limit=200", nil)["items"].([]any) {
		messages = append(messages, m.(map[string]any)["id"].(string))
	}
	return session, messages
}

func TestAMessageOfALongConversationIsOpenedWhereItStands(t *testing.T) {
	s := start(t)
	session, messages := s.conversation(40)
	b := s.signedIn(ann)
	for i, anchor := range map[int]string{0: "#m-", 1: "#p-"} {
		to := b.get("/s/" + session + "/at/" + messages[i]).header.Get("Location")
		address, found, _ := strings.Cut(to, "#")
		if address != "/s/"+session+"?at="+messages[i] || "#"+found != anchor+messages[i] {
			t.Fatalf("message %d is at %q", i, to)
		}
		page := b.get(address).page(t)
		if page.Find(anchor+messages[i]).Length() != 1 || page.Find("[data-testid=past]").Length() != 1 {
			t.Errorf("the page of message %d does not hold it, or does not say that it shows the past", i)
		}
		if page.Find("[data-testid=composer], #conn").Length() != 0 {
			t.Error("a page of the past can be written on, or is live")
		}
		later, _ := page.Find("[data-testid=past] a").First().Attr("href")
		if later != "/s/"+session+"/at/"+messages[2] {
			t.Errorf("later messages are at %q", later)
		}
	}
	last := messages[len(messages)-1]
	if to := b.get("/s/" + session + "/at/" + last).header.Get("Location"); to != "/s/"+session+"#p-"+last {
		t.Errorf("the newest message is at %q", to)
	}
	for _, path := range []string{"/at/msg_unknown", "/at/" + session} {
		if status := b.get("/s/" + session + path).status; status != 404 {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if status := s.signedIn(bob).get("/s/" + session + "/at/" + messages[0]).status; status != 404 {
		t.Errorf("bob gets %d", status)
	}
}

func TestTheHistoryIsOnesOwn(t *testing.T) {
	s := start(t)
	session, _ := s.conversation(1)
	his := s.wants(201, bob, "POST", "/sessions", `{"title":"question of bob"}`)["id"].(string)
	b := s.signedIn(bob)
	page := b.get("/history?q=question").page(t)
	if rows := page.Find("main [data-testid=session-item]"); rows.Length() != 1 || rows.AttrOr("data-session", "") != his {
		t.Errorf("bob finds %d sessions", rows.Length())
	}
	for _, deed := range []string{"archive", "pin", "delete"} {
		b.post("/history/"+deed, url.Values{"id": {session}, "sure": {"true"}})
	}
	hers := s.wants(200, ann, "GET", "/sessions/"+session, nil)
	if hers["archived"] != false || hers["pinned"] != false {
		t.Errorf("bob changed it into %v", hers)
	}
	if a := b.post("/history/delete", url.Values{"id": {session}}); a.status != 404 {
		t.Errorf("bob is asked whether ann's session is to be deleted: %d", a.status)
	}
	many := make([]string, 201)
	if a := b.post("/history/archive", url.Values{"id": many}); a.status != 422 {
		t.Errorf("201 sessions at once: status %d", a.status)
	}
}

func TestWhatIsArchivedIsFoundAndComesBackWhereItWas(t *testing.T) {
	s := start(t)
	session, _ := s.conversation(1)
	before := s.wants(200, ann, "GET", "/sessions/"+session, nil)
	b := s.signedIn(ann)
	if a := b.post("/history/archive", url.Values{"id": {session}, "next": {"/history?q=answer"}}); a.header.Get("Location") != "/history?q=answer" {
		t.Fatalf("status %d to %q", a.status, a.header.Get("Location"))
	}
	// What is no page that somebody reads does not take the notice away.
	if a := b.get("/s/none"); a.status != 404 || a.page(t).Find("[data-testid=notice]").Length() != 0 {
		t.Errorf("an error page has the notice (%d)", a.status)
	}
	b.watching(session, 0)
	page := b.get("/history?q=answer").page(t)
	if page.Find("main mark").Length() != 1 {
		t.Error("the contents of the archive are not searched")
	}
	undo := page.Find("[data-testid=notice] form")
	if undo.AttrOr("action", "") != "/history/restore" || undo.Find("input[name=id]").AttrOr("value", "") != session {
		t.Error("there is no way back")
	}
	if b.get("/history").page(t).Find("[data-testid=notice]").Length() != 0 {
		t.Error("it is said twice")
	}
	b.post("/history/restore", url.Values{"id": {session}})
	if after := s.wants(200, ann, "GET", "/sessions/"+session, nil); after["updated_at"] != before["updated_at"] {
		t.Errorf("it came back at %v, and was at %v", after["updated_at"], before["updated_at"])
	}
	if to := b.post("/history/restore", url.Values{"id": {session}, "next": {"https://elsewhere.test/"}}).header.Get("Location"); to != "/history" {
		t.Errorf("the browser is sent to %q", to)
	}
}

func TestTheHistoryIsNarrowedToAPartAndATime(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	s := start(t, with(func(c *Config) { c.Handlers.Now = func() time.Time { return now } }))
	session, _ := s.conversation(1)
	titled := s.wants(201, ann, "POST", "/sessions", `{"title":"answer of a title"}`)["id"].(string)
	b := s.signedIn(ann)
	for query, want := range map[string][]string{
		"q=answer":                           {session, titled},
		"q=answer&in=titles":                 {titled},
		"q=answer&in=messages":               {session},
		"q=answer&in=outputs":                nil,
		"q=answer&in=messages&archived=true": nil,
		"q=answer&when=today":                {session, titled},
		"q=answer&when=2026-11":              {session, titled},
		"q=answer&when=2026-10":              nil,
		"when=7d":                            {session, titled},
		"when=2025-01":                       nil,
		"in=outputs":                         nil,
	} {
		page := b.get("/history?" + query).page(t)
		var found []string
		page.Find("main [data-testid=session-item]").Each(func(_ int, item *goquery.Selection) {
			found = append(found, item.AttrOr("data-session", ""))
		})
		slices.Sort(found)
		slices.Sort(want)
		if !slices.Equal(found, want) {
			t.Errorf("%s: found %q, want %q", query, found, want)
		}
		params, err := url.ParseQuery(query)
		must(t, err)
		if got := page.Find("[data-testid=history-in] option[selected]").AttrOr("value", ""); got != params.Get("in") {
			t.Errorf("%s: the page shows the part %q", query, got)
		}
		if got := page.Find("[data-testid=history-when] option[selected]").AttrOr("value", ""); got != params.Get("when") {
			t.Errorf("%s: the page shows the time %q", query, got)
		}
		if widen := page.Find("[data-testid=nothing-found] a").AttrOr("href", ""); len(want) == 0 && (strings.Contains(widen, "when=") || strings.Contains(widen, "in=") || widen == "") {
			t.Errorf("%s: nothing is found, and the way on is %q", query, widen)
		}
	}
	for _, query := range []string{"in=files", "when=yesterday", "when=2026-13", "when=2026-11-30"} {
		if a := b.get("/history?" + query); a.status != 400 {
			t.Errorf("%s: status %d", query, a.status)
		}
	}
}

func TestAnEarlierVersionIsFoundAndShown(t *testing.T) {
	s := start(t)
	session, messages := s.conversation(1)
	s.script.Then(agenttest.Says("another answer"))
	b := s.signedIn(ann)
	edited := s.wants(202, ann, "POST", "/sessions/"+session+"/messages/"+messages[0]+"/edit", `{"content":"something else"}`)["turn_id"].(string)
	s.wants(200, ann, "GET", "/turns/"+edited+"?wait=10", nil)

	snippet := b.get("/history?q=%22answer+0%22").page(t).Find("main form:has([data-testid=snippet])")
	if snippet.Length() != 1 || !strings.Contains(snippet.Text(), "earlier version") {
		t.Fatalf("%d places in earlier versions are shown", snippet.Length())
	}
	fields := url.Values{"message": {snippet.Find("[name=message]").AttrOr("value", "")}}
	to := b.post(snippet.AttrOr("action", ""), fields).header.Get("Location")
	if to != "/s/"+session+"/at/"+messages[1] {
		t.Fatalf("the place is at %q", to)
	}
	if at := b.get(to).header.Get("Location"); at != "/s/"+session+"#p-"+messages[1] {
		t.Errorf("the message is at %q", at)
	}
	if page := b.get("/s/" + session).page(t); !strings.Contains(page.Find("main").Text(), "answer 0") {
		t.Error("the version is not shown")
	}
}

// A single letter, typed into the list beside a conversation, is looked for in
// titles: no message is read for it.
func TestALetterInTheSidebarIsLookedForInTitles(t *testing.T) {
	s := start(t)
	session := s.newSession(ann)
	s.seed(session, "a question of zebras", "they are striped")
	s.wants(200, ann, "PATCH", "/sessions/"+session, map[string]any{"title": "About quaggas"})
	b := s.signedIn(ann)
	for text, found := range map[string]bool{"z": false, "q": true, "ze": true, "z stri": false} {
		doc := b.get("/sessions?q="+url.QueryEscape(text), "HX-Request", "true").page(t)
		if is := strings.Contains(doc.Text(), "About quaggas"); is != found {
			t.Errorf("%q is found: %v", text, is)
		}
	}
}
