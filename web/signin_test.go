package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"offcut/models"
)

func (s *server) link(name string) (secret string) {
	s.t.Helper()
	secret = models.NewID("link")
	sum := sha256.Sum256([]byte(secret))
	s.must(s.store.CreateSignInLink(s.t.Context(), models.SignInLink{
		Hash: hex.EncodeToString(sum[:]), UserID: s.owner(name), ExpiresAt: time.Now().Add(time.Hour),
	}))
	return secret
}

func setCookie(t *testing.T, a answer, name string) *http.Cookie {
	t.Helper()
	for _, line := range a.header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		must(t, err)
		if cookie.Name == name {
			return cookie
		}
	}
	return nil
}

func TestWrongTokensAreLimitedByAddress(t *testing.T) {
	now := time.Now()
	s := start(t, with(func(c *Config) { c.Handlers.Now = func() time.Time { return now } }))
	s.wants(200, ann, "GET", "/sessions", nil)
	for i := range 100 {
		if a := s.api("nobody", "GET", "/sessions", nil); a.status != 401 {
			t.Fatalf("wrong token %d: status %d", i+1, a.status)
		}
	}
	a := s.api("nobody", "GET", "/sessions", nil)
	if wait := a.header.Get("Retry-After"); a.status != 429 || wait != "9" {
		t.Errorf("after 100 wrong tokens: status %d, wait %q", a.status, wait)
	}
	// Behind a proxy an address is everybody's.
	s.wants(200, ann, "GET", "/sessions", nil)
	s.wants(200, root, "GET", "/sessions", nil)
	if a := s.api("", "GET", "/sessions", nil); a.status != 401 {
		t.Errorf("without a token: status %d", a.status)
	}
	now = now.Add(10 * time.Second)
	if a := s.api("nobody", "GET", "/sessions", nil); a.status != 401 {
		t.Errorf("a wrong token after the wait: status %d", a.status)
	}
}

// One who guesses is not told when they are right.
func TestAShortTokenIsNotGuessed(t *testing.T) {
	const short = "hunter2"
	s := start(t, with(func(c *Config) { c.Handlers.AdminToken = short }))
	asks := func(token string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url("/api/v1/sessions"), nil)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		return do(t, s.Client(), request).status
	}
	if status := asks(short); status != 200 {
		t.Fatalf("the right token: status %d", status)
	}
	for range 100 {
		asks("hunter3")
	}
	if status := asks(short); status != 429 {
		t.Errorf("the right one after 100 wrong ones: status %d", status)
	}
}

func TestSigningInWithNameAndPassword(t *testing.T) {
	s := start(t)
	b := s.browser()
	a := b.get("/s/ses_x?a=b")
	if a.status != 303 || a.header.Get("Location") != "/login?next="+url.QueryEscape("/s/ses_x?a=b") {
		t.Fatalf("a stranger is sent to %d %q", a.status, a.header.Get("Location"))
	}
	b.get("/login")
	before := b.cookie("offcut_session")
	a = b.post("/login", url.Values{"name": {ann}, "password": {passphrase}, "next": {"/s/ses_x?a=b"}})
	if a.status != 303 || a.header.Get("Location") != "/s/ses_x?a=b" {
		t.Fatalf("signed in and sent to %d %q", a.status, a.header.Get("Location"))
	}
	cookie := setCookie(t, a, "offcut_session")
	if cookie == nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure || cookie.MaxAge != 0 || cookie.Value == before {
		t.Errorf("the cookie is %v", cookie)
	}
	if a := b.get("/"); a.status != 200 || !strings.Contains(string(a.body), ann) {
		t.Errorf("home: %d", a.status)
	}
	if a := b.get("/login"); a.status != 303 || a.header.Get("Location") != "/" {
		t.Errorf("the sign-in page of somebody who is signed in: %d", a.status)
	}
	a = b.post("/logout", nil)
	if a.status != 303 || setCookie(t, a, "offcut_session").MaxAge >= 0 {
		t.Errorf("signing out: %d", a.status)
	}
	if a := b.get("/"); a.status != 303 {
		t.Errorf("home after signing out: %d", a.status)
	}
	// The cookie is worth nothing, not only forgotten by this browser.
	if a := s.browser().get("/", "Cookie", "offcut_session="+cookie.Value); a.status != 303 {
		t.Errorf("the cookie of a sign-in that was ended still works: %d", a.status)
	}
}

func TestStayingSignedInIsForThirtyDays(t *testing.T) {
	s := start(t)
	a := s.browser().post("/login", url.Values{"name": {ann}, "password": {passphrase}, "stay": {"on"}})
	if cookie := setCookie(t, a, "offcut_session"); cookie.MaxAge < 29*24*3600 || cookie.MaxAge > 30*24*3600 {
		t.Errorf("the cookie lives for %d s", cookie.MaxAge)
	}
}

func TestASignInGetsATokenOfItsOwn(t *testing.T) {
	s := start(t)
	planted := s.signedIn(bob).cookie("offcut_session")
	b := s.browser()
	b.get("/login")
	a := b.post("/login", url.Values{"name": {ann}, "password": {passphrase}}, "Cookie", "offcut_session="+planted)
	cookie := setCookie(t, a, "offcut_session")
	if a.status != 303 || cookie == nil || cookie.Value == planted {
		t.Fatalf("signing in over a planted token: %d, %v", a.status, cookie)
	}
	if a := s.browser().get("/", "Cookie", "offcut_session="+planted); strings.Contains(string(a.body), ann) {
		t.Error("the planted token is ann's now")
	}
}

func TestASignInGetsAFormTokenOfItsOwn(t *testing.T) {
	s := start(t)
	const planted = "plantedplantedplantedplantedplan"
	b := s.browser()
	form := url.Values{"name": {ann}, "password": {passphrase}, "_csrf": {planted}}
	a := b.send("POST", "/login", strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Cookie", "offcut_csrf="+planted)
	if a.status != 303 {
		t.Fatalf("signing in: %d", a.status)
	}
	if cookie := setCookie(t, a, "offcut_csrf"); cookie == nil || len(cookie.Value) < 20 || cookie.Value == planted || !cookie.HttpOnly {
		t.Fatalf("after signing in the token is %v", cookie)
	}
	if n := strings.Count(strings.Join(a.header.Values("Set-Cookie"), "\n"), "offcut_csrf="); n != 1 {
		t.Errorf("the answer sets the token %d times", n)
	}
	if a := b.post("/logout", url.Values{"_csrf": {planted}}); a.status != 403 {
		t.Errorf("the planted token is still good: %d", a.status)
	}
	if a := b.post("/logout", nil); a.status != 303 {
		t.Errorf("the new token is refused: %d", a.status)
	}
}

func TestManyPeopleBehindOneAddressSignIn(t *testing.T) {
	s := start(t)
	for i := range 34 {
		if a := s.browser().post("/login", url.Values{"name": {ann}, "password": {passphrase}}); a.status != 303 {
			t.Fatalf("the sign-in of person %d: %d", i+1, a.status)
		}
	}
}

func TestASignInLinkWorksOnceAndLeavesTheAddress(t *testing.T) {
	s := start(t)
	secret := s.link(ann)
	if a := s.browser().send("HEAD", "/login?token="+secret, nil); a.status != 200 {
		t.Errorf("HEAD: %d", a.status)
	}
	b := s.browser()
	a := b.get("/login?token=" + secret + "&next=/s/x")
	if a.status != 303 || a.header.Get("Location") != "/s/x" || a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Cache-Control") == "" {
		t.Errorf("the link: %d to %q, %v", a.status, a.header.Get("Location"), a.header)
	}
	if a := b.get("/"); a.status != 200 {
		t.Errorf("home: %d", a.status)
	}
	again := s.browser()
	a = again.get("/login?token=" + secret + "&next=/s/x")
	if a.status != 303 || a.header.Get("Location") != "/login?next=%2Fs%2Fx&problem=link" {
		t.Errorf("the link once more: %d to %q", a.status, a.header.Get("Location"))
	}
	doc := again.get(a.header.Get("Location")).page(t)
	if doc.Find("[role=alert]").Length() == 0 || doc.Find("[name=next]").AttrOr("value", "") != "/s/x" {
		t.Error("the page does not say that the link was refused, or forgets where one was going")
	}
	admin := s.browser()
	if a := admin.get("/login?token=" + adminToken); a.status != 303 || a.header.Get("Location") != "/" {
		t.Errorf("the admin's token: %d", a.status)
	}
	if a := admin.get("/"); a.status != 200 || !strings.Contains(string(a.body), root) {
		t.Errorf("home of the admin: %d", a.status)
	}
	for _, secret := range []string{secret, adminToken} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log holds the secret: %s", s.log.String())
		}
	}
	if !strings.Contains(s.log.String(), "path=/login") {
		t.Error("the sign-ins are not in the log")
	}
}

func TestOneComesBackToOwnPathsAlone(t *testing.T) {
	for _, base := range []string{"", "/offcut"} {
		s := start(t, under(base))
		for next, want := range map[string]string{
			"/s/a":                  base + "/s/a",
			base + "/s/a?q=1":       base + "/s/a?q=1",
			"https://evil.example":  base + "/",
			"//evil.example/x":      base + "/",
			"/\\evil.example":       base + "/",
			"/\t/evil.example":      base + "/",
			"javascript:alert(1)":   base + "/",
			"s/a":                   base + "/",
			"/login":                base + "/",
			base + "//evil.example": base + "/",
		} {
			token := s.link(ann)
			a := s.browser().get(base + "/login?token=" + token + "&next=" + url.QueryEscape(next))
			if got := a.header.Get("Location"); got != want {
				t.Errorf("base %q: next=%q leads to %q, want %q", base, next, got, want)
			}
		}
	}
}

func TestSignInsAreLimitedPerAccountAndSayHowManyAreLeft(t *testing.T) {
	s := start(t)
	b := s.browser()
	wrong := url.Values{"name": {ann}, "password": {"wrong password"}}
	for i, words := range []string{"Four more tries", "Three more tries", "Two more tries", "One more try", "No more tries"} {
		a := b.post("/login", wrong)
		if a.status != 401 || !strings.Contains(string(a.body), words) {
			t.Errorf("try %d: %d, without %q", i+1, a.status, words)
		}
	}
	a := b.post("/login", url.Values{"name": {"ANN"}, "password": {passphrase}})
	if a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("the sixth try: %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	if a := b.post("/login", url.Values{"name": {bob}, "password": {passphrase}}); a.status != 303 {
		t.Errorf("another account: %d", a.status)
	}
	nobody := s.browser()
	first := nobody.post("/login", url.Values{"name": {"nobody"}, "password": {"wrong password"}})
	if first.status != 401 || !strings.Contains(string(first.body), "Four more tries") {
		t.Errorf("a name that does not exist is told apart: %d", first.status)
	}
}

func TestSignInsAreLimitedPerAddress(t *testing.T) {
	s := start(t)
	b := s.browser()
	status := 0
	for i := range 40 {
		a := b.get("/login?token=guess" + fmt.Sprint(i))
		if status = a.status; status == 429 {
			break
		}
	}
	if status != 429 {
		t.Errorf("forty guesses at a link: %d", status)
	}
	if a := b.post("/login", url.Values{"name": {ann}, "password": {passphrase}}, "X-Forwarded-For", "203.0.113.9"); a.status != 429 {
		t.Errorf("a made-up address gets around the limit: %d", a.status)
	}
}

func TestADisabledUserIsOutAtOnce(t *testing.T) {
	s := start(t)
	b := s.signedIn(bob)
	must(t, s.store.SetDisabled(t.Context(), s.owner(bob), true))
	if a := b.get("/"); a.status != 303 {
		t.Errorf("home: %d", a.status)
	}
	a := b.get("/sessions", "HX-Request", "true", "HX-Current-URL", s.URL+"/s/x")
	if a.status != 401 || a.header.Get("HX-Redirect") != "/login?next=%2Fs%2Fx" || len(a.body) != 0 {
		t.Errorf("a fragment: %d, %q, %q", a.status, a.header.Get("HX-Redirect"), clip(a.body))
	}
	if a := b.post("/login", url.Values{"name": {bob}, "password": {passphrase}}); a.status != 401 {
		t.Errorf("signing in: %d", a.status)
	}
}
