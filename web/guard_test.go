package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

func TestFormsNeedTheirToken(t *testing.T) {
	s := start(t)
	id := s.newSession(ann)
	b := s.signedIn(ann)
	rename := "/s/" + id + "/rename"
	form := url.Values{"title": {"Mine"}}.Encode()
	for _, r := range []struct{ name, body string }{
		{"none", form}, {"a wrong one", form + "&_csrf=wrong"}, {"an empty one", form + "&_csrf="},
	} {
		a := b.send("POST", rename, strings.NewReader(r.body), "Content-Type", "application/x-www-form-urlencoded")
		if a.status != 403 {
			t.Errorf("%s: %d", r.name, a.status)
		}
	}
	a := b.send("POST", rename, strings.NewReader(form), "Content-Type", "application/x-www-form-urlencoded",
		"X-CSRF-Token", b.cookie("offcut_csrf"), "HX-Request", "true")
	if a.status != 204 {
		t.Errorf("with the header: %d", a.status)
	}
	if got := s.wants(200, ann, "GET", "/sessions/"+id, nil)["title"]; got != "Mine" {
		t.Errorf("the title is %q", got)
	}
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	s := start(t, with(func(c *Config) { c.PublicURL = &url.URL{Scheme: "https", Host: "chat.example.org"} }))
	id := s.newSession(ann)
	host := strings.TrimPrefix(s.URL, "http://")
	for _, tt := range []struct {
		name   string
		header []string
		want   int
	}{
		{"of this page", []string{"Origin", "http://" + host}, 303},
		{"of the public address", []string{"Origin", "https://chat.example.org"}, 303},
		{"of the public address without TLS", []string{"Origin", "http://chat.example.org"}, 403},
		{"of another host", []string{"Origin", "http://evil.example"}, 403},
		{"of a host that begins alike", []string{"Origin", "http://" + host + ".evil.example"}, 403},
		{"of a sandbox", []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, 403},
		{"of a page that does not tell", []string{"Origin", "null"}, 303},
		{"of this page as the browser says", []string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}, 303},
		{"of a neighbour", []string{"Origin", "http://other.example.org", "Sec-Fetch-Site", "same-site"}, 403},
		{"typed", []string{"Sec-Fetch-Site", "none"}, 303},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := s.browser()
			b.get("/login?token=" + s.link(ann))
			// The cookies are for TLS alone, so the jar does not send them here.
			cookies := "offcut_csrf=token; offcut_session=" + s.cookieOf(ann)
			a := b.send("POST", "/s/"+id+"/rename", strings.NewReader("title=x&_csrf=token"),
				append(tt.header, "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookies)...)
			if a.status != tt.want {
				t.Errorf("status %d, want %d", a.status, tt.want)
			}
		})
	}
}

// cookieOf is the value of a fresh sign-in.
func (s *server) cookieOf(name string) string {
	s.t.Helper()
	a := s.browser().get("/login?token=" + s.link(name))
	cookie := setCookie(s.t, a, "offcut_session")
	if cookie == nil {
		s.t.Fatalf("no cookie: %d", a.status)
	}
	return cookie.Value
}

func TestEveryAnswerHasTheHeadersThatBindABrowser(t *testing.T) {
	s := start(t)
	b := s.signedIn(ann)
	for _, path := range []string{"/", "/login", "/s/never", "/api/v1/sessions", "/healthz", "/static/x/base.css", "/nothing"} {
		a := b.get(path)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := a.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "data:") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		if a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", path)
		}
	}
}

func TestCookiesAreForTLSAloneBehindIt(t *testing.T) {
	s := start(t)
	b := s.browser()
	a := b.get("/login?token="+s.link(ann), "X-Forwarded-Proto", "https")
	if cookie := setCookie(t, a, "offcut_session"); cookie == nil || !cookie.Secure {
		t.Errorf("behind a proxy with TLS the cookie is %v", cookie)
	}
	a = b.get("/login", "X-Forwarded-Proto", "https")
	if cookie := setCookie(t, a, "offcut_csrf"); cookie == nil || !cookie.Secure || !cookie.HttpOnly {
		t.Errorf("behind a proxy with TLS the form's cookie is %v", cookie)
	}
	if a.header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestAPanicIsAnAnswerAndALineOfTheLog(t *testing.T) {
	s := start(t)
	s.newSession(ann)
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) { _ = c.String(http.StatusInternalServerError, err.Error()) }
	e.Use(recoverPanic)
	e.GET("/", func(echo.Context) error { panic("oh") })
	s.Config.Handler = e
	a := s.browser().get("/")
	if a.status != 500 || !strings.Contains(string(a.body), "panic: oh") {
		t.Errorf("a panic: %d %s", a.status, clip(a.body))
	}
}

func TestTheLogHoldsNoContents(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(100))
	s.wants(200, ann, "GET", "/sessions?q=whatisearched", nil)
	s.wants(200, ann, "GET", "/sessions/"+id+"/outputs/"+output+"/search?q=whatisearched", nil)
	s.api(ann, "POST", "/sessions/"+id+"/messages", `{"content":7,"x":"whatiwrote"}`)
	for _, secret := range []string{"whatisearched", "whatiwrote", "print it", "line 1 of", "ann-token"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(s.log.String(), "status=422") || !strings.Contains(s.log.String(), "user="+s.owner(ann)) {
		t.Errorf("the log says too little:\n%s", s.log.String())
	}
}

func TestOnlyTrustedProxiesSayWhereSomebodyIs(t *testing.T) {
	s := start(t)
	s.browser().get("/healthz", "X-Forwarded-For", "203.0.113.9", "X-Real-Ip", "203.0.113.9")
	if strings.Contains(s.log.String(), "203.0.113.9") {
		t.Error("an address that a client made up is believed")
	}
}
