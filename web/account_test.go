package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"offcut/handlers"
	"offcut/models"
)

const another = "another long password"

func newPassword(old, secret string) url.Values {
	return url.Values{"old": {old}, "new": {secret}, "again": {secret}}
}

func TestAPasswordIsChangedWithTheOldOneAndEndsOtherSignIns(t *testing.T) {
	s := start(t)
	b, elsewhere := s.signedIn(ann), s.signedIn(ann)
	for name, form := range map[string]url.Values{
		"a wrong old one":      newPassword("wrong password", another),
		"two that differ":      {"old": {passphrase}, "new": {another}, "again": {another + "!"}},
		"one that is no good":  newPassword(passphrase, "short"),
		"without the old one":  newPassword("", another),
		"one that is too long": newPassword(passphrase, strings.Repeat("x", models.MaxPasswordLength+1)),
	} {
		a := b.post("/account/password", form)
		if problem := a.page(t).Find("[data-testid=form-problem]").Text(); a.status != 422 || problem == "" {
			t.Errorf("%s: %d %q", name, a.status, problem)
		}
	}
	before := b.cookie("offcut_session")
	a := b.post("/account/password", newPassword(passphrase, another))
	if a.status != 303 || b.cookie("offcut_session") == before {
		t.Fatalf("changing it: %d, the sign-in keeps its id: %v", a.status, b.cookie("offcut_session") == before)
	}
	if a := b.get(a.header.Get("Location")); a.status != 200 || a.page(t).Find("[data-testid=form-done]").Length() != 1 {
		t.Errorf("afterwards: %d", a.status)
	}
	for name, cookie := range map[string]string{"elsewhere": elsewhere.cookie("offcut_session"), "the old id": before} {
		if a := s.browser().get("/", "Cookie", "offcut_session="+cookie); a.status != 303 {
			t.Errorf("%s is still signed in: %d", name, a.status)
		}
	}
	s.wants(200, ann, "GET", "/sessions", nil) // the token stays
	for secret, want := range map[string]int{passphrase: 401, another: 303} {
		if a := s.browser().post("/login", url.Values{"name": {ann}, "password": {secret}}); a.status != want {
			t.Errorf("signing in with %q: %d", secret, a.status)
		}
	}
	if got := s.deeds(s.owner(ann)); got[1] != "user.password by ann" {
		t.Errorf("audited: %v", got)
	}
}

func TestWhoCameByALinkChoosesAPasswordForAnHour(t *testing.T) {
	now := time.Now()
	s := start(t, with(func(c *Config) { c.Handlers.Now = func() time.Time { return now } }))
	b := s.browser()
	b.get("/login?token=" + s.link(ann))
	if b.get("/account").page(t).Find("[name=old]").Length() != 0 {
		t.Error("the old password is asked for")
	}
	now = now.Add(2 * time.Hour)
	if b.get("/account").page(t).Find("[name=old]").Length() != 1 {
		t.Error("after two hours the old password is not asked for")
	}
	if a := b.post("/account/password", newPassword("", another)); a.status != 422 {
		t.Errorf("after two hours: %d", a.status)
	}
	now = now.Add(-2 * time.Hour)
	if a := b.post("/account/password", newPassword("", another)); a.status != 303 {
		t.Errorf("at once: %d", a.status)
	}
	if a := b.post("/account/password", newPassword("", passphrase)); a.status != 422 {
		t.Errorf("a second time without the old one: %d", a.status)
	}
}

func TestGuessingTheOldPasswordIsLimited(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	for range 5 {
		b.post("/account/password", newPassword("wrong password", another))
	}
	a := b.post("/account/password", newPassword(passphrase, another))
	if a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("the sixth: %d, wait %q", a.status, a.header.Get("Retry-After"))
	}
}

func TestTokensAreShownOnceListedAndRevoked(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	made := b.post("/account/tokens", url.Values{"name": {"nightly <job>"}})
	if a := b.send("HEAD", "/account", nil); a.status != 200 {
		t.Errorf("a look at the head of the page: %d", a.status)
	}
	if a := s.signedIn(ann).get("/account"); strings.Contains(string(a.body), "offcut_") {
		t.Error("another browser is shown the token")
	}
	token := b.follow(made).page(t).Find("[data-testid=new-token]").Text()
	if !strings.HasPrefix(token, "offcut_") {
		t.Fatalf("made: %q", token)
	}
	use := func() int {
		return s.browser().get("/api/v1/sessions", "Authorization", "Bearer "+token).status
	}
	if status := use(); status != 200 {
		t.Errorf("using it: %d", status)
	}
	page := b.get("/account")
	if strings.Contains(string(page.body), token) {
		t.Error("it is shown a second time")
	}
	if n := page.page(t).Find("[data-testid=token-row]").Length(); n != 2 {
		t.Errorf("a reload made another: %d tokens", n)
	}
	row := page.page(t).Find("[data-testid=token-row]").First()
	if !strings.Contains(row.Text(), "nightly <job>") || strings.Contains(row.Text(), "never") {
		t.Errorf("listed: %q", row.Text())
	}
	revoke := row.Find("form").AttrOr("action", "")
	if a := s.signedIn(bob).post(revoke, nil); a.status != 404 {
		t.Errorf("revoked by somebody else: %d", a.status)
	}
	if a := b.post(revoke, nil); a.status != 303 {
		t.Errorf("revoking: %d", a.status)
	}
	if status := use(); status != 401 {
		t.Errorf("using it afterwards: %d", status)
	}
	for _, name := range []string{"", "two\nlines", strings.Repeat("x", 101)} {
		if a := b.post("/account/tokens", url.Values{"name": {name}}); a.status != 422 || a.page(t).Find("[data-testid=form-problem]").Length() != 1 {
			t.Errorf("a token named %.20q: %d", name, a.status)
		}
	}
	if strings.Contains(s.log.String(), token) {
		t.Error("the log holds the token")
	}
}

func TestSigningOutEverywhere(t *testing.T) {
	s := start(t)
	b, elsewhere, other := s.signedIn(ann), s.signedIn(ann), s.signedIn(bob)
	if a := b.post("/account/signout", nil); a.status != 303 || a.header.Get("Location") != "/login" {
		t.Fatalf("signing out: %d", a.status)
	}
	for name, who := range map[string]*browser{"here": b, "elsewhere": elsewhere} {
		if a := who.get("/"); a.status != 303 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if a := other.get("/"); a.status != 200 {
		t.Errorf("bob: %d", a.status)
	}
	s.wants(200, ann, "GET", "/sessions", nil)
}

func TestSettingsFollowTheUserFromBrowserToBrowser(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	form := url.Values{"language": {"en"}, "theme": {"dark"}, "preview_lines": {"10"}, "thoughts": {"on"}, "notify": {"on"}}
	if a := b.post("/settings", form); a.status != 303 {
		t.Fatalf("saving: %d %s", a.status, clip(a.body))
	}
	elsewhere := s.signedIn(ann)
	doc := elsewhere.get("/settings").page(t)
	for selector, what := range map[string]string{
		"html[data-theme=dark]":                                   "theme",
		"[name=preview_lines] option[value='10'][selected]":       "lines",
		"[name=language] option[value=en][selected]":              "language",
		"[name=thoughts][checked]":                                "reasoning",
		"[name=notify][checked]":                                  "notifications",
		"[data-testid=settings-link], [data-testid=account-link]": "way here",
	} {
		if doc.Find(selector).Length() == 0 {
			t.Errorf("the %s is not as it was chosen", what)
		}
	}
	if s.signedIn(bob).get("/settings").page(t).Find("html[data-theme]").Length() != 0 {
		t.Error("bob has ann's theme")
	}
	elsewhere.post("/settings/theme", url.Values{"theme": {"light"}})
	if got := b.get("/").page(t).Find("html").AttrOr("data-theme", ""); got != "light" {
		t.Errorf("the theme from the menu is %q elsewhere", got)
	}
	for name, value := range map[string]string{"language": "xx", "theme": "pink", "preview_lines": "11"} {
		wrong := url.Values{"preview_lines": {"0"}}
		wrong.Set(name, value)
		if a := b.post("/settings", wrong); a.status != 422 {
			t.Errorf("%s %s: %d", name, value, a.status)
		}
	}
}

func TestSettingsTellWhatTheServerHas(t *testing.T) {
	facts := handlers.ServerFacts{
		Models:   []handlers.ModelFacts{{Name: "scripted", ContextTokens: 128000, Price: &models.Price{Input: 3, Output: 15.5}}},
		Approval: "ask", Sandbox: "bubblewrap", StorageBytes: 2e9, TurnsPerUser: 8,
	}
	s := start(t, with(func(c *Config) { c.Handlers.Server = facts }))
	text := s.signedIn(ann).get("/settings").page(t).Find("[data-testid=server-facts]").Text()
	for _, want := range []string{"scripted", "128,000", "$3 in, $15.5 out", "before each command", "bubblewrap", "do not reach the network", "2.00 GB", "8 answers"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among %q", want, text)
		}
	}
}

func TestTheLanguageIsTheUsersOrTheBrowsers(t *testing.T) {
	s := start(t)
	for _, wish := range []string{"en-GB,en;q=0.9", "xx", ""} {
		if got := s.browser().get("/login", "Accept-Language", wish).page(t).Find("html").AttrOr("lang", ""); got != "en" {
			t.Errorf("%q is answered in %q", wish, got)
		}
	}
}

func TestEveryFormOfTheAccountIsGuarded(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	for _, path := range []string{"/account/password", "/account/tokens", "/account/tokens/tok_ann/revoke", "/account/signout", "/settings", "/settings/theme", "/settings/language"} {
		a := b.send("POST", path, strings.NewReader("name=x&theme=dark"), "Content-Type", "application/x-www-form-urlencoded")
		if a.status != 403 {
			t.Errorf("%s without the form's token: %d", path, a.status)
		}
		a = b.post(path, nil, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
		if a.status != 403 {
			t.Errorf("%s from another site: %d", path, a.status)
		}
	}
}
