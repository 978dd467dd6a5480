package web

import (
	"encoding/csv"
	"net/url"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

func row(doc *goquery.Document, name string) *goquery.Selection {
	return doc.Find("[data-testid=user-row][data-user='" + name + "']")
}

// oneUse is the path of the sign-in link that a page shows.
func oneUse(t *testing.T, s *server, doc *goquery.Document) string {
	t.Helper()
	path, ok := strings.CutPrefix(doc.Find("[data-testid=sign-in-link]").Text(), s.URL)
	if !ok || !strings.HasPrefix(path, "/login?token=") {
		t.Fatalf("the page shows no link to this server: %q", path)
	}
	return path
}

// deeds are the actions of the audit log about somebody, the newest first.
func (s *server) deeds(target string) (actions []string) {
	s.t.Helper()
	list, _, err := s.store.Audit(s.t.Context(), models.AuditQuery{Target: target})
	s.must(err)
	for _, e := range list {
		actions = append(actions, e.Action+" by "+e.ActorName)
	}
	return actions
}

func TestAnAdminAddsUsersWithAPasswordOrALink(t *testing.T) {
	s := start(t)
	b := s.signedIn(root)
	if a := b.post("/admin/users", url.Values{"name": {"mara"}, "role": {"user"}, "password": {"a long password"}}); a.status != 303 {
		t.Fatalf("with a password: %d %s", a.status, clip(a.body))
	}
	if a := s.browser().post("/login", url.Values{"name": {"mara"}, "password": {"a long password"}}); a.status != 303 {
		t.Errorf("signing in: %d", a.status)
	}
	made := b.post("/admin/users", url.Values{"name": {"nils"}, "role": {"admin"}})
	a := b.follow(made)
	if a.status != 200 || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("without one: %d", a.status)
	}
	link, nils := oneUse(t, s, a.page(t)), s.browser()
	if again := b.follow(made).page(t); again.Find("[data-testid=sign-in-link]").Length() != 0 {
		t.Error("the link is shown a second time")
	}
	if a := nils.get(link); a.status != 303 {
		t.Errorf("the link: %d", a.status)
	}
	if a := nils.get("/admin/users"); a.status != 200 || row(a.page(t), "nils").Length() != 1 || !strings.Contains(row(a.page(t), "nils").Text(), "Administrator") {
		t.Errorf("the new admin's own list: %d", a.status)
	}
	nilsUser, err := s.store.UserByName(t.Context(), "nils")
	s.must(err)
	if got := strings.Join(s.deeds(nilsUser.ID), ", "); got != "user.sign_in by nils, user.add by admin" {
		t.Errorf("audited: %s", got)
	}
	for name, form := range map[string]url.Values{
		"taken, in other case": {"name": {"ANN"}, "role": {"user"}},
		"no name":              {"name": {"a b"}, "role": {"user"}},
		"no role":              {"name": {"olga"}, "role": {"root"}},
		"a short password":     {"name": {"olga"}, "role": {"user"}, "password": {"short"}},
	} {
		a := b.post("/admin/users", form)
		doc := a.page(t)
		if a.status != 422 && a.status != 409 || doc.Find("[data-testid=form-problem]").Length() != 1 || doc.Find("[name=name]").AttrOr("value", "") != form.Get("name") {
			t.Errorf("%s: %d, without what is wrong or what was written", name, a.status)
		}
	}
}

func TestWhoIsDisabledIsShutOutAndComesBackToEverything(t *testing.T) {
	s := start(t)
	session := s.newSession(bob)
	open, admin := s.signedIn(bob), s.signedIn(root)
	conn := open.watching(session, open.seqOf(session))
	began := time.Now()
	if a := admin.post("/admin/users/"+s.owner(bob)+"/state", url.Values{"state": {"disabled"}}); a.status != 303 {
		t.Fatalf("disabling: %d", a.status)
	}
	if a := s.api(bob, "GET", "/sessions", nil); a.status != 401 {
		t.Errorf("the token: %d", a.status)
	}
	if a := open.get("/"); a.status != 303 {
		t.Errorf("the page: %d", a.status)
	}
	if f, _ := next(t, conn); f.Type != "gone" || time.Since(began) > 10*time.Second {
		t.Errorf("the live connection was told %+v after %s", f, time.Since(began))
	}
	if text := admin.get("/admin/users/" + s.owner(bob)).page(t).Find("[data-testid=user-state]").Text(); !strings.Contains(text, "disabled") {
		t.Errorf("the page says %q", text)
	}
	admin.post("/admin/users/"+s.owner(bob)+"/state", url.Values{"state": {"enabled"}})
	if a := open.get("/"); a.status != 303 {
		t.Errorf("the sign-in of before works again: %d", a.status)
	}
	s.wants(200, bob, "GET", "/sessions/"+session, nil)
	if got := strings.Join(s.deeds(s.owner(bob)), ", "); !strings.HasPrefix(got, "user.enable by admin, user.disable by admin") {
		t.Errorf("audited: %s", got)
	}
}

func TestTheLastAdminCannotBeLost(t *testing.T) {
	s := start(t)
	b := s.signedIn(root)
	for path, form := range map[string]url.Values{
		"/state": {"state": {"disabled"}}, "/role": {"role": {"user"}},
	} {
		a := b.post("/admin/users/"+s.owner(root)+path, form)
		if problem := a.page(t).Find("[data-testid=form-problem]").Text(); a.status != 409 || !strings.Contains(problem, "last admin") {
			t.Errorf("%s: %d %q", path, a.status, problem)
		}
	}
	b.post("/admin/users/"+s.owner(ann)+"/role", url.Values{"role": {"admin"}})
	if a := b.post("/admin/users/"+s.owner(root)+"/role", url.Values{"role": {"user"}}); a.status != 303 {
		t.Errorf("with another admin: %d", a.status)
	}
	if a := b.get("/admin/users"); a.status != 403 {
		t.Errorf("who is no admin any more sees the users: %d", a.status)
	}
}

func TestAResetMakesALinkWithWhichOneChoosesAPassword(t *testing.T) {
	s := start(t)
	admin, before := s.signedIn(root), s.signedIn(ann)
	link := oneUse(t, s, admin.follow(admin.post("/admin/users/"+s.owner(ann)+"/reset", nil)).page(t))
	if a := before.get("/"); a.status != 303 {
		t.Errorf("a browser stays signed in: %d", a.status)
	}
	s.wants(200, ann, "GET", "/sessions", nil) // the token stays: nothing was said of it
	b := s.browser()
	if a := b.get(link); a.status != 303 {
		t.Fatalf("the link: %d", a.status)
	}
	admin.post("/admin/users/"+s.owner(bob)+"/reset", url.Values{"tokens": {"end"}, "password": {"end"}})
	if a := s.api(bob, "GET", "/sessions", nil); a.status != 401 {
		t.Errorf("the token that was to end: %d", a.status)
	}
	if a := s.browser().post("/login", url.Values{"name": {bob}, "password": {passphrase}}); a.status != 401 {
		t.Errorf("the password that was to end: %d", a.status)
	}
	// Who resets themselves is signed out by it, and has the link at once.
	own := oneUse(t, s, admin.post("/admin/users/"+s.owner(root)+"/reset", nil).page(t))
	if a := admin.get("/admin/users"); a.status != 303 {
		t.Errorf("the admin stays signed in: %d", a.status)
	}
	if a := admin.get(own); a.status != 303 {
		t.Errorf("the admin's own link: %d", a.status)
	}
}

func TestEveryFormOfTheUsersIsGuarded(t *testing.T) {
	s := start(t)
	admin, user := s.signedIn(root), s.signedIn(bob)
	for _, path := range []string{"", "/usr_ann/role", "/usr_ann/state", "/usr_ann/reset"} {
		a := admin.send("POST", "/admin/users"+path, strings.NewReader("role=user&state=disabled&name=eve"), "Content-Type", "application/x-www-form-urlencoded")
		if a.status != 403 {
			t.Errorf("%s without the form's token: %d", path, a.status)
		}
		if a := user.post("/admin/users"+path, url.Values{"role": {"admin"}, "name": {"eve"}}); a.status != 403 {
			t.Errorf("%s by a user: %d", path, a.status)
		}
	}
	if a := admin.post("/admin/users/usr_nobody/reset", nil); a.status != 404 {
		t.Errorf("of nobody: %d", a.status)
	}
}

func TestUsageIsShownFilteredAndExported(t *testing.T) {
	s := start(t)
	for range 2 {
		says := agenttest.Says("Hello.")
		says.Usage = models.Usage{InputTokens: 1200, OutputTokens: 30, CachedTokens: 200, Cost: 0.0125}
		s.script.Then(says)
	}
	session := s.newSession(ann)
	s.says(ann, session, "hello") // by the API, which counts like the page
	s.says(ann, session, "again")
	s.wants(204, ann, "DELETE", "/sessions/"+session, nil)

	items := s.wants(200, root, "GET", "/admin/usage", nil)["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("%d sums", len(items))
	}
	sum := items[0].(map[string]any)
	if sum["user"] != ann || sum["model"] != "scripted" || sum["turns"] != 2.0 || sum["input_tokens"] != 2400.0 || sum["cost"] != 0.025 {
		t.Errorf("the sum is %v", sum)
	}
	month := sum["period"].(string)[:7]
	for path, want := range map[string]int{
		"?user=" + ann: 1, "?user=" + bob: 0, "?user=nobody": 0, "?month=" + month + "&by=month": 1, "?month=2001-01": 0,
	} {
		if got := len(s.wants(200, root, "GET", "/admin/usage"+path, nil)["items"].([]any)); got != want {
			t.Errorf("%s: %d sums, want %d", path, got, want)
		}
	}
	for _, path := range []string{"?month=now", "?by=year", "?cursor=x"} {
		s.wants(400, root, "GET", "/admin/usage"+path, nil)
	}
	s.wants(403, ann, "GET", "/admin/usage", nil)

	b := s.signedIn(root)
	doc := b.get("/admin/usage?by=month&user=" + ann).page(t)
	if text := doc.Find("[data-testid=usage-row]").Text(); !strings.Contains(text, "2,400") || !strings.Contains(text, "$0.0250") {
		t.Errorf("the page says %q", text)
	}
	a := b.get(doc.Find("[data-testid=usage-csv]").AttrOr("href", ""))
	lines, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	s.must(err)
	want := month + " ann scripted 2 2400 400 60 0 0.025"
	if len(lines) != 2 || strings.Join(lines[1], " ") != want {
		t.Errorf("exported %q, want %q", lines, want)
	}
}
