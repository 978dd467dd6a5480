package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

// roles are the messages of a page in order.
func roles(doc *goquery.Document) string {
	var out []string
	doc.Find("[data-testid=message]").Each(func(_ int, m *goquery.Selection) {
		out = append(out, m.AttrOr("data-role", "")+" "+m.AttrOr("data-state", ""))
	})
	return strings.Join(out, ", ")
}

func TestAChatBeginsWithItsFirstMessage(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	s.script.Then(agenttest.Says("Hello **you**."))
	if a := b.get("/"); a.status != 200 || a.page(t).Find("[data-testid=composer] textarea").Length() != 1 {
		t.Fatalf("home: %d", a.status)
	}
	form := url.Values{"content": {"hi <there>"}, "client_id": {"c1"}}
	first, again := b.post("/sessions", form), b.post("/sessions", form)
	at := first.header.Get("Location")
	if first.status != 303 || !strings.HasPrefix(at, "/s/ses_") || again.header.Get("Location") != at {
		t.Fatalf("begun twice: %d %q, %d %q", first.status, at, again.status, again.header.Get("Location"))
	}
	id := strings.TrimPrefix(at, "/s/")
	s.rests(ann, s.turnsOf(ann, id)[0])
	doc := b.get(at).page(t)
	if got := roles(doc); got != "user done, assistant done" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("[data-role=user] .said").Text(); !strings.Contains(got, "hi <there>") {
		t.Errorf("the message is %q", got)
	}
	if got := doc.Find("[data-role=assistant] .blocks strong").Text(); got != "you" {
		t.Errorf("the answer's Markdown: %q", got)
	}
	if item := doc.Find("[data-testid=session-item] a[aria-current=page]"); item.Length() != 1 {
		t.Error("the session is not the current one of the list")
	}
	if doc.Find("#chat").AttrOr("data-seq", "0") == "0" {
		t.Error("the page does not say where the live events go on")
	}
}

// turnsOf are the turns of a session in order.
func (s *server) turnsOf(as, session string) (ids []string) {
	s.t.Helper()
	for _, item := range s.wants(200, as, "GET", "/sessions/"+session+"/messages?limit=200", nil)["items"].([]any) {
		id := item.(map[string]any)["turn_id"].(string)
		if len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestAScriptGetsTheArticleAndAFormThePage(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Says("One."), agenttest.Says("Two."))
	id := s.newSession(ann)
	b := s.signedIn(ann)
	a := b.post("/s/"+id+"/messages", url.Values{"content": {"first"}, "client_id": {"c1"}}, "HX-Request", "true")
	doc := a.page(t)
	if a.status != 202 || doc.Find("article[data-role=user]").Length() != 1 || doc.Find("html [data-testid=composer]").Length() != 0 {
		t.Errorf("a script gets %d\n%s", a.status, clip(a.body))
	}
	if a := b.post("/s/"+id+"/messages", url.Values{"content": {"second"}}); a.status != 303 || a.header.Get("Location") != "/s/"+id {
		t.Errorf("a form gets %d", a.status)
	}
	a = b.post("/s/"+id+"/messages", url.Values{"content": {" "}})
	if a.status != 422 || a.page(t).Find("#composer-problem").Text() == "" {
		t.Errorf("a refused form: %d", a.status)
	}
	long := strings.Repeat("é", 600_000)
	a = b.post("/s/"+id+"/messages", url.Values{"content": {long}})
	if a.status != 413 || !strings.Contains(a.page(t).Find("#composer-problem").Text(), "1048576") {
		t.Errorf("a long form: %d %q", a.status, a.page(t).Find("#composer-problem").Text())
	}
}

func TestACardShowsTheShownTextAndWhatWasLeftOut(t *testing.T) {
	s := start(t)
	text := lines(1000)
	id, output := s.withOutput(text)
	b := s.signedIn(ann)
	card := b.get("/s/" + id).page(t).Find("[data-testid=tool-card]")
	if card.AttrOr("data-tool", "") != "print" || card.AttrOr("data-state", "") != "ok" {
		t.Fatalf("the card is %s %s", card.AttrOr("data-tool", ""), card.AttrOr("data-state", ""))
	}
	if card.Find(".cutchip").Length() != 1 || card.Find("svg.cov rect.read").Length() != 2 {
		t.Error("the row has no cut edge or no bar")
	}
	call := strings.TrimPrefix(card.AttrOr("id", ""), "t-")
	body := b.get("/s/"+id+"/calls/"+call, "HX-Request", "true").page(t)
	var shown []string
	body.Find(".out .pre").Each(func(_ int, p *goquery.Selection) { shown = append(shown, p.Text()) })
	if len(shown) != 2 || shown[0] != text[:100] || shown[1] != text[len(text)-100:] {
		t.Errorf("the card shows %q", shown)
	}
	cut := body.Find("a.cut")
	if cut.Length() != 1 || cut.AttrOr("href", "") != "/s/"+id+"/out/"+output+"?offset=100" {
		t.Errorf("the cut edge leads to %q", cut.AttrOr("href", ""))
	}
	if got := cut.Find("b").Text(); !strings.HasPrefix(got, commas(len(text)-200)) {
		t.Errorf("the cut edge says %q", got)
	}
	if !strings.Contains(body.Find(".saw").Text(), "200") || body.Find("[data-testid=coverage]").Length() != 1 {
		t.Errorf("the card says of what was seen: %q", body.Find(".saw").Text())
	}
}

func TestALongSessionOpensWithItsEndAndGoesBackByLinks(t *testing.T) {
	s := start(t)
	id := s.newSession(ann)
	for i := range 40 {
		s.seed(id, fmt.Sprintf("question %d", i), fmt.Sprintf("answer %d", i))
	}
	b := s.signedIn(ann)
	doc := b.get("/s/" + id).page(t)
	var said []string
	collect := func(doc *goquery.Document) (older string) {
		var page []string
		doc.Find("[data-role=user] .said").Each(func(_ int, m *goquery.Selection) { page = append(page, strings.TrimSpace(m.Text())) })
		said = append(page, said...)
		return doc.Find("[data-older]").AttrOr("href", "")
	}
	older := collect(doc)
	if len(said) < 10 || len(said) > 15 || said[len(said)-1] != "question 39" {
		t.Errorf("the page opens with %d messages, the last %q", len(said), said[len(said)-1])
	}
	for n := 0; older != "" && n < 10; n++ {
		older = collect(b.get(older, "HX-Request", "true").page(t))
	}
	for i, text := range said {
		if text != fmt.Sprintf("question %d", i) {
			t.Fatalf("message %d is %q: something is there twice or missing", i, text)
		}
	}
	if len(said) != 40 {
		t.Errorf("%d messages in all, want 40", len(said))
	}
}

func TestAPageOfHugeAnswersStaysSmall(t *testing.T) {
	s := start(t)
	id := s.newSession(ann)
	for i := range 8 {
		s.seed(id, fmt.Sprintf("question %d", i), strings.Repeat("word ", 20_000))
	}
	b := s.signedIn(ann)
	a := b.get("/s/" + id)
	if len(a.body) > 512<<10 {
		t.Errorf("the page has %d bytes", len(a.body))
	}
	doc, seen := a.page(t), 0
	for {
		seen += doc.Find("[data-role=user]").Length()
		older, more := doc.Find("[data-older]").Attr("href")
		if !more || seen > 8 {
			break
		}
		doc = b.get(older).page(t)
	}
	if seen != 8 {
		t.Errorf("%d of 8 messages by links", seen)
	}
}

// seed stores a question with its answer as a turn that is done.
func (s *server) seed(session, question, answer string) {
	s.t.Helper()
	ctx := s.t.Context()
	turn, _, _, err := s.store.Enqueue(ctx, models.NewTurn{SessionID: session, OwnerID: s.owner(ann), Content: question, Now: time.Now()})
	s.must(err)
	turn, err = s.store.StartTurn(ctx, turn.ID, time.Now())
	s.must(err)
	_, err = s.store.AppendMessage(ctx, models.Message{
		ID: models.NewID(models.PrefixMessage), SessionID: session, TurnID: turn.ID, Role: models.RoleAssistant,
		Content: answer, State: models.StateDone, FinishReason: models.FinishStop, Model: "scripted", CreatedAt: time.Now(),
	})
	s.must(err)
	now := time.Now()
	turn.State, turn.EndedAt = models.StateDone, &now
	s.must(s.store.FinishTurn(ctx, turn))
}

func TestPagesOfOthersAreForReadingToAnAdmin(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(300))
	b := s.signedIn(root)
	a := b.get("/s/" + id)
	if a.status != 200 {
		t.Fatalf("the page: %d", a.status)
	}
	doc := a.page(t)
	if note := doc.Find("[data-testid=read-only]").Text(); !strings.Contains(note, "session of "+ann) || !strings.Contains(note, "read-only") {
		t.Errorf("the page says %q", note)
	}
	changing := "[data-testid=composer], #session-menu, #dlg-delete, #dlg-rename, [data-testid=fork], [data-testid=fork-session], [data-testid=output-delete], #dlg-output"
	if n := doc.Find(changing).Length(); n > 0 {
		t.Errorf("%d things to change the session with", n)
	}
	if n := b.get("/s/" + id + "/out/" + output).page(t).Find(changing).Length(); n > 0 {
		t.Errorf("%d things to change the output with", n)
	}
	if n := s.signedIn(ann).get("/s/" + id).page(t).Find(changing).Length(); n != 7 {
		t.Errorf("the owner has %d things to change the session with, want 7", n)
	}
	if a := b.post("/s/"+id+"/messages", url.Values{"content": {"x"}}); a.status != 403 {
		t.Errorf("writing: %d", a.status)
	}
}

func TestTheThemeIsRemembered(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	if a := b.post("/settings/theme", url.Values{"theme": {"dark"}}); a.status != 303 {
		t.Fatalf("choosing: %d", a.status)
	}
	if got := b.get("/").page(t).Find("html").AttrOr("data-theme", ""); got != "dark" {
		t.Errorf("the theme is %q", got)
	}
	if a := b.post("/settings/theme", url.Values{"theme": {"<script>"}}); a.status != 422 {
		t.Errorf("an unknown theme: %d", a.status)
	}
}

func TestEverythingIsUnderTheBasePath(t *testing.T) {
	s := start(t, under("/offcut"))
	b := s.browser()
	a := b.get("/offcut/login?token=" + s.link(ann))
	if a.status != 303 || a.header.Get("Location") != "/offcut/" || setCookie(t, a, "offcut_session").Path != "/offcut/" {
		t.Fatalf("signing in: %d %q", a.status, a.header.Get("Location"))
	}
	a = b.get("/offcut/")
	if a.status != 200 {
		t.Fatalf("home: %d", a.status)
	}
	a.page(t).Find("[href], [src], [action], [hx-get], [hx-post]").Each(func(_ int, e *goquery.Selection) {
		for _, name := range []string{"href", "src", "action", "hx-get", "hx-post"} {
			if at, ok := e.Attr(name); ok && !strings.HasPrefix(at, "/offcut/") && !strings.HasPrefix(at, "#") {
				t.Errorf("%s=%q leaves the base path", name, at)
			}
		}
	})
	css := a.page(t).Find("link[rel=stylesheet]").AttrOr("href", "")
	if a := b.get(css); a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/css") {
		t.Errorf("%s: %d", css, a.status)
	}
	if a := b.get("/offcut"); a.status != 308 || a.header.Get("Location") != "/offcut/" {
		t.Errorf("without the slash: %d", a.status)
	}
	if a := b.get("/"); a.status != 404 {
		t.Errorf("outside: %d", a.status)
	}
}
