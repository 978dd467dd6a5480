package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"offcut/agent"
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

func commas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", commas(n/1000), n%1000)
}

// said is what a pager says of an offset or a pattern that it could not take.
func said(page *goquery.Document) string { return page.Find(".pager .problem:not([hidden])").Text() }

func TestThePagerGoesThroughAnOutputByteForByte(t *testing.T) {
	s := start(t)
	text := strings.Repeat("Zeile für Zeile – 行\r\n\x1b[31mrot\x1b[0m\n", 400)
	id, output := s.withOutput(text)
	b := s.signedIn(ann)
	at := "/s/" + id + "/out/" + output
	var joined strings.Builder
	for next := at; next != ""; {
		doc := b.get(next).page(t)
		joined.WriteString(doc.Find("[data-testid=output-text]").Text())
		button := doc.Find("[data-testid=output-next]")
		next = ""
		if _, off := button.Attr("disabled"); !off {
			next = at + "?offset=" + button.AttrOr("value", "")
		}
	}
	if got := strings.Count(joined.String(), "Zeile für Zeile – 行"); got != 400 {
		t.Errorf("the pages hold %d of 400 lines", got)
	}
	doc := b.get(at + "?offset=" + fmt.Sprint(len(text)*2)).page(t)
	if doc.Find(".end").Length() != 1 {
		t.Error("past the end is not the last page")
	}
	for typed, want := range map[string]string{
		"100000000": "Byte 100000000 is past the end", "99999999999999999999": "past the end: the copy has " + fmt.Sprint(len(text)) + " bytes",
		"8": "inside a character; this page begins where the character does, at byte 7", "abc": "“abc” is no byte", "-5": "“-5” is no byte", "1e3": "“1e3” is no byte",
		"4096": "", "4,096": "", fmt.Sprint(len(text)): "",
	} {
		if got := said(b.get(at + "?offset=" + typed).page(t)); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("at byte %s the page says %q, want %q", typed, got, want)
		}
	}
	doc = b.get(at + "?q=rot&from=5000").page(t)
	if doc.Find("mark").Length() == 0 || doc.Find(".hits a").Length() == 0 {
		t.Error("a search shows no hit")
	}
	if doc := b.get(at + "?q=%28&regexp=true").page(t); said(doc) == "" {
		t.Error("a pattern that cannot be used is not said")
	}
	if about := b.get(at).page(t).Find(".side").Text(); !strings.Contains(about, "12 ms") {
		t.Errorf("the page does not say how long the call took: %s", about)
	}
	fragment := b.get(at+"/pager?offset=100", "HX-Request", "true")
	if fragment.status != 200 || strings.Contains(string(fragment.body), "<html") {
		t.Errorf("the pager of a card: %d\n%s", fragment.status, clip(fragment.body))
	}
	if a := b.get(at + "/raw"); string(a.body) != text || a.header.Get("Content-Security-Policy") == "" {
		t.Errorf("the download has %d bytes of %d", len(a.body), len(text))
	}
	a := b.post(at+"/delete", nil)
	if a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/s/"+id+"#t-") {
		t.Errorf("deleting: %d %q", a.status, a.header.Get("Location"))
	}
	if a := b.get(at); a.status != 404 || !strings.Contains(a.page(t).Find("[role=alert]").Text(), "deleted on") {
		t.Errorf("a deleted output: %d %q", a.status, a.page(t).Find("[role=alert]").Text())
	}
	call := strings.TrimPrefix(a.header.Get("Location"), "/s/"+id+"#t-")
	body := b.get("/s/" + id + "/calls/" + call)
	if body.status != 200 || body.page(t).Find("a.cut").Length() != 0 {
		t.Errorf("the card of a deleted output: %d\n%s", body.status, clip(body.body))
	}
}

func TestAForkLeadsBackToTheOutputsOfItsOriginal(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(300))
	b := s.signedIn(ann)
	a := b.post("/s/"+id+"/fork", nil)
	fork := strings.TrimPrefix(a.header.Get("Location"), "/s/")
	if a.status != 303 || fork == id {
		t.Fatalf("forking: %d %q", a.status, a.header.Get("Location"))
	}
	doc := b.get("/s/" + fork).page(t)
	if doc.Find("[data-fork-notice] a").AttrOr("href", "") != "/s/"+id || roles(doc) != "user done, assistant done" {
		t.Errorf("the fork: %q", roles(doc))
	}
	missing := b.get("/s/" + fork + "/out/" + output)
	if missing.status != 404 || missing.page(t).Find(`a[href="/s/`+id+`"]`).Length() == 0 {
		t.Errorf("an output of the original in the fork: %d", missing.status)
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

// A turn longer than any page of the store is one answer on one page.
func TestATurnOfManyStepsIsOneAnswer(t *testing.T) {
	s := start(t, offering(agenttest.Returns("look", "seen")))
	id := s.newSession(ann)
	s.seed(id, "before", "yes")
	for i := range 60 {
		s.script.Then(agenttest.Calls("look", fmt.Sprintf(`{"at":%d}`, i)))
	}
	s.script.Then(agenttest.Says("Looked."))
	s.says(ann, id, "look sixty times")
	doc := s.signedIn(ann).get("/s/" + id).page(t)
	if got := doc.Find("[data-role=assistant]").Last().Find("[data-testid=tool-card]").Length(); got != 60 {
		t.Errorf("the answer has %d cards, want 60", got)
	}
	ids := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
		id := e.AttrOr("id", "")
		if ids[id] {
			t.Errorf("the id %q is there twice", id)
		}
		ids[id] = true
	})
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

func TestARunningTurnIsOnThePageAsFarAsItCame(t *testing.T) {
	release := make(chan struct{})
	waits := agenttest.ToolFunc("wait", func(ctx context.Context, call agent.Call) (agent.ToolResult, error) {
		call.Live("printed so far\n", 15)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return agenttest.Text("over"), nil
	})
	s := start(t, offering(waits))
	s.script.Then(agenttest.Calls("wait", `{}`), agenttest.Says("Done."))
	id := s.newSession(ann)
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"wait"}`)["turn_id"].(string)
	s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"and then?"}`)
	b := s.signedIn(ann)
	var doc *goquery.Document
	for range 200 {
		doc = b.get("/s/" + id).page(t)
		if strings.Contains(doc.Find("[data-live]").Text(), "printed so far") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	card := doc.Find("[data-testid=tool-card]")
	if card.AttrOr("data-state", "") != "running" || card.Find("[data-testid=tool-stop]").Length() != 1 {
		t.Errorf("the running card: %q", card.AttrOr("data-state", ""))
	}
	if got := roles(doc); got != "user done, assistant running, user queued" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("#chat").AttrOr("data-turn", ""); got != turn {
		t.Errorf("the running turn is %q, want %q", got, turn)
	}
	if got := doc.Find("title").Text(); !strings.HasPrefix(got, "● ") || strings.HasPrefix(doc.Find("#chat").AttrOr("data-title", ""), "●") {
		t.Errorf("the title of the window is %q", got)
	}
	s.script.Then(agenttest.Says("Then this."))
	close(release)
	for _, turn := range s.turnsOf(ann, id) {
		s.rests(ann, turn)
	}
	if got := roles(b.get("/s/" + id).page(t)); got != "user done, assistant done, user done, assistant done" {
		t.Errorf("in the end the page shows %q", got)
	}
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
	changing := "[data-testid=composer], #session-menu, #dlg-delete, #dlg-rename, [data-testid=fork], [data-testid=output-delete], #dlg-output"
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

func TestATurnThatFailedSaysWhy(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Fails(&agent.ModelError{Code: models.CodeProviderRefused, Status: 400, Message: "The model does not like the letter q."}), agenttest.Breaks("Half a sentence"))
	id := s.newSession(ann)
	b := s.signedIn(ann)
	if turn := s.says(ann, id, "refuse me"); turn["state"] != "error" || turn["error_code"] != "provider_refused" {
		t.Fatalf("the turn is %v", turn)
	}
	doc := b.get("/s/" + id).page(t)
	if got := roles(doc); got != "user done, assistant error" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("[data-testid=turn-error]").Text(); !strings.Contains(got, "the letter q.") || !strings.Contains(got, "settings") {
		t.Errorf("the error says %q, without what to do next", got)
	}
	if n := doc.Find("[data-copy-answer]").Length(); n != 0 {
		t.Error("an answer without words can be copied")
	}
	s.says(ann, id, "break off")
	doc = b.get("/s/" + id).page(t)
	if got := roles(doc); got != "user done, assistant error, user done, assistant interrupted" {
		t.Errorf("the page shows %q", got)
	}
	if got := doc.Find("[data-role=assistant]").Last().Text(); !strings.Contains(got, "Half a sentence") {
		t.Errorf("the broken answer is %q", got)
	}
	if n := doc.Find("[data-copy-answer]").Length(); n != 1 {
		t.Error("half an answer cannot be copied")
	}
}

func TestAPageThatIsLoadedDuringARetryCountsDown(t *testing.T) {
	release := make(chan struct{})
	s := start(t)
	step := agenttest.Blocks("", release)
	step.Retries = []agent.Retry{{Attempt: 3, Most: 10, Wait: time.Minute, Reason: "The server is busy."}}
	s.script.Then(step)
	id := s.newSession(ann)
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"go"}`)["turn_id"].(string)
	b := s.signedIn(ann)
	var notice *goquery.Selection
	for range 200 {
		if notice = b.get("/s/" + id).page(t).Find(".turn-end [data-testid=retry-notice]"); notice.Length() > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	until, _ := strconv.ParseInt(notice.AttrOr("data-until", ""), 10, 64)
	if left := time.Until(time.UnixMilli(until)); left < 50*time.Second || left > time.Minute {
		t.Errorf("the next try is in %v", left)
	}
	if text := notice.Text(); !strings.Contains(text, "The server is busy.") || !strings.Contains(text, "(3 of 10)") {
		t.Errorf("the notice says %q", text)
	}
	close(release)
	s.rests(ann, turn)
	if n := b.get("/s/" + id).page(t).Find(".turn-end [data-testid=retry-notice]").Length(); n > 0 {
		t.Error("the notice outlives the wait")
	}
}

func TestAnAnswerOfNothingSaysSo(t *testing.T) {
	s := start(t)
	s.prints("printed\n")
	s.script.Then(agenttest.Says(""), agenttest.Cut("First half, "), agenttest.Says("second half."))
	id := s.newSession(ann)
	for _, content := range []string{"print", "nothing?", "now two halves"} {
		s.says(ann, id, content)
	}
	var said []bool
	s.signedIn(ann).get("/s/" + id).page(t).Find("[data-role=assistant] .turn-end").Each(func(_ int, end *goquery.Selection) {
		said = append(said, strings.Contains(end.Text(), "The model answered nothing."))
	})
	if want := []bool{false, true, false}; !slices.Equal(said, want) {
		t.Errorf("the answers say that they are of nothing: %v, want %v", said, want)
	}
}
