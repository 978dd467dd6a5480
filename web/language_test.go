package web

import (
	"net/url"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

func langOf(t *testing.T, a answer) string {
	t.Helper()
	return a.page(t).Find("html").AttrOr("lang", "")
}

func TestChineseIsSpokenToBrowsersThatWishIt(t *testing.T) {
	b := start(t).browser()
	for wish, want := range map[string]string{
		"zh": "zh", "zh-CN,zh;q=0.9,en;q=0.8": "zh", "zh-Hans": "zh", "zh-TW,zh;q=0.9": "zh",
		"en,zh;q=0.9": "en", "fr": "en", "": "en", "*": "en", ";;q=zh": "en",
	} {
		if got := langOf(t, b.get("/login", "Accept-Language", wish)); got != want {
			t.Errorf("%q is answered in %q, want %q", wish, got, want)
		}
	}
}

func TestTheLanguageIsChosenOnTheSignInPage(t *testing.T) {
	s := start(t)
	b := s.browser()
	page := b.get("/login?next=%2Fhistory", "Accept-Language", "en").page(t)
	if got := page.Find("[data-testid=language] [aria-pressed=true]").AttrOr("value", ""); got != "en" {
		t.Errorf("the language that is shown as chosen is %q", got)
	}
	if got := page.Find("[data-testid=language] [value=zh]").Text(); got != "简体中文" {
		t.Errorf("Chinese is offered as %q", got)
	}
	a := b.post("/settings/language", url.Values{"language": {"zh"}, "next": {"/history"}})
	if to := a.header.Get("Location"); a.status != 303 || to != "/login?next=%2Fhistory" {
		t.Fatalf("chosen: %d, to %q", a.status, to)
	}
	if got := langOf(t, b.get("/login", "Accept-Language", "en")); got != "zh" {
		t.Errorf("after Chinese was chosen the page is in %q", got)
	}
	if a := b.post("/settings/language", url.Values{"language": {"xx"}}); a.status != 422 {
		t.Errorf("an unknown language: %d", a.status)
	}
	a = b.post("/settings/language", url.Values{"language": {"en"}, "next": {"https://evil.example/"}})
	if to := a.header.Get("Location"); to != "/login" {
		t.Errorf("sent to %q", to)
	}
}

func TestTheUsersLanguageGoesBeforeTheBrowsers(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	choose := func(language string) {
		t.Helper()
		if a := b.post("/settings", url.Values{"language": {language}, "theme": {"system"}, "preview_lines": {"10"}}); a.status != 303 {
			t.Fatalf("settings: %d", a.status)
		}
	}
	choose("zh")
	page := b.get("/", "Accept-Language", "en").page(t)
	if got := page.Find("html").AttrOr("lang", ""); got != "zh" || !strings.Contains(page.Find("nav.rail").Text(), "新对话") {
		t.Errorf("the page is in %q", got)
	}
	if got := langOf(t, s.signedIn(ann).get("/", "Accept-Language", "en")); got != "zh" {
		t.Errorf("in another browser of the user it is in %q", got)
	}
	choose("")
	if got := langOf(t, b.get("/", "Accept-Language", "en")); got != "en" {
		t.Errorf("after the choice was taken back it is in %q", got)
	}
}

// The page says errors in its own language; programs are told them in English.
func TestErrorsAreSaidInTheLanguageOfThePage(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	id := s.newSession(ann)
	chinese := []string{"Accept-Language", "zh-CN"}
	if got := b.get("/s/ses_none", chinese...).page(t).Find("#failure").Text(); !strings.Contains(got, "可能已被删除") {
		t.Errorf("a session that is not there: %q", got)
	}
	if got := b.get("/nowhere", chinese...).page(t).Find("#failure").Text(); !strings.Contains(got, "这里没有此内容") {
		t.Errorf("a page that is not there: %q", got)
	}
	title := url.Values{"title": {strings.Repeat("x", 300)}}
	fragment := b.post("/s/"+id+"/rename", title, append(chinese, "HX-Request", "true")...)
	if got := fragment.page(t).Find("[data-error]").AttrOr("data-error", ""); got != "标题最多 200 个字符。" {
		t.Errorf("a title that is too long: %q", got)
	}
	problem := s.wants(422, ann, "PATCH", "/sessions/"+id, map[string]any{"title": title.Get("title")})
	if got := problem["detail"]; got != "a title has at most 200 characters" {
		t.Errorf("programs are told %q", got)
	}
}

func TestWhatEndedATurnIsSaidInTheLanguageOfThePage(t *testing.T) {
	s := start(t)
	id := s.newSession(ann)
	s.script.Then(agenttest.Step{Err: &agent.ModelError{
		Code: models.CodeProviderRefused, Status: 400, Message: "The model's server refused the request (400): “no such <model>”.",
	}})
	s.says(ann, id, "hi")
	b := s.signedIn(ann)
	if got := b.get("/s/" + id).page(t).Find("[data-testid=turn-error] p").Text(); !strings.Contains(got, "refused the request (400): “no such <model>”.") {
		t.Errorf("in English: %q", got)
	}
	got := b.get("/s/"+id, "Accept-Language", "zh").page(t).Find("[data-testid=turn-error] p").Text()
	if !strings.Contains(got, "模型的服务器拒绝了请求") || !strings.Contains(got, "“no such <model>”") || strings.Contains(got, "refused") {
		t.Errorf("in Chinese: %q", got)
	}
}
