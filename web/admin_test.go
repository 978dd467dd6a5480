package web

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/dump"
	"offcut/models"
)

// adminPaths are the admin's pages, each below the base path.
var adminPaths = []string{"/admin", "/admin/audit", "/admin/audit.csv", "/admin/users", "/admin/users/usr_ann", "/admin/usage", "/admin/usage.csv"}

func TestAdminPagesAreForAdmins(t *testing.T) {
	s := start(t)
	b, stranger := s.signedIn(bob), s.browser()
	for _, path := range adminPaths {
		if a := b.get(path); a.status != 403 || strings.Contains(string(a.body), "audit-row") {
			t.Errorf("%s of a user: %d", path, a.status)
		}
		if a := stranger.get(path); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/login") {
			t.Errorf("%s of a stranger: %d to %q", path, a.status, a.header.Get("Location"))
		}
	}
	if b.get("/").page(t).Find("[data-testid=admin-link]").Length() != 0 {
		t.Error("a user is shown the way to the admin's pages")
	}
	admin := s.signedIn(root)
	if link := admin.get("/").page(t).Find("[data-testid=admin-link]"); link.AttrOr("href", "") != "/admin" {
		t.Error("an admin is not shown the way")
	}
	if a := admin.get("/admin"); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/admin/") {
		t.Errorf("/admin: %d to %q", a.status, a.header.Get("Location"))
	}
}

func TestTheAuditLogIsFilteredAndExported(t *testing.T) {
	s := start(t)
	for _, e := range []models.AuditEntry{
		{ActorName: ann, Action: models.AuditSessionDelete, Target: "ses_1", Detail: "=HYPERLINK(\"http://x\")"},
		{ActorName: bob, Action: models.AuditSessionView, Target: "ses_2", Detail: "<b>read</b>"},
	} {
		s.must(s.store.AddAudit(t.Context(), e))
	}
	b := s.signedIn(root)
	doc := b.get("/admin/audit?action=session.view").page(t)
	rows := doc.Find("[data-testid=audit-row]")
	if rows.Length() != 1 || !strings.Contains(rows.Text(), "<b>read</b>") || rows.Find("b").Length() != 0 {
		t.Errorf("filtered: %d rows, %q", rows.Length(), rows.Text())
	}
	if doc.Find("select[name=action] option[selected]").AttrOr("value", "") != "session.view" {
		t.Error("the filter forgets what it was asked for")
	}
	a := b.get("/admin/audit.csv?actor=" + ann)
	if a.status != 200 || !strings.Contains(a.header.Get("Content-Disposition"), "offcut-audit.csv") {
		t.Fatalf("export: %d %v", a.status, a.header)
	}
	lines, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	s.must(err)
	if len(lines) != 2 || lines[1][3] != "ses_1" || lines[1][4] != `'=HYPERLINK("http://x")` {
		t.Errorf("exported %q", lines)
	}
	if a := b.get("/admin/audit?from=yesterday"); a.status != 400 {
		t.Errorf("a day that is none: %d", a.status)
	}
}

func TestTheAuditLogIsReadPageByPage(t *testing.T) {
	s := start(t)
	for range 7 {
		s.must(s.store.AddAudit(t.Context(), models.AuditEntry{ActorName: ann, Action: "test.deed"}))
	}
	b := s.signedIn(root)
	rows, path := 0, "/admin/audit?action=test.deed&limit=3"
	for pages := 0; path != "" && pages < 5; pages++ {
		doc := b.get(path).page(t)
		rows += doc.Find("[data-testid=audit-row]").Length()
		path = doc.Find("[data-testid=admin-next]").AttrOr("href", "")
	}
	if rows != 7 {
		t.Errorf("the pages have %d lines of 7", rows)
	}
}

func TestRefusedRequestsAreListedAndShown(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dumps := dump.New("data", nil)
	s := start(t, with(func(c *Config) { c.Handlers.Dumps = dumps }))
	s.script.Then(agenttest.Step{Err: &agent.ModelError{Code: models.CodeProviderRefused, Status: 400, Message: "Refused."}})
	session := s.newSession(ann)
	turn := s.says(ann, session, "hello <b>")["id"].(string)
	path, err := dumps.Save(agent.Refusal{
		At: time.Now(), SessionID: session, TurnID: turn,
		Request: agent.Request{Model: "scripted", Messages: []models.Message{{Role: models.RolePerson, Content: "<script>alert(1)</script>" + strings.Repeat("x", 200<<10)}}},
		Err:     &agent.ModelError{Status: 400, Message: "Refused <i>."},
	})
	s.must(err)
	name := filepath.Base(path)

	admin := s.signedIn(root)
	row := admin.get("/admin/dumps").page(t).Find("[data-testid=dump-row]")
	if row.Length() != 1 || !strings.Contains(row.Text(), "Refused <i>.") || !strings.Contains(row.Text(), session) {
		t.Errorf("listed: %q", row.Text())
	}
	one := admin.get("/admin/dumps/" + name)
	text := one.page(t).Find("[data-testid=dump-text]").Text()
	if !strings.Contains(text, "<script>alert(1)</script>") || len(text) > 130<<10 {
		t.Errorf("shown: %d bytes", len(text))
	}
	raw := admin.get("/admin/dumps/" + name + "/raw")
	if file, _ := os.ReadFile(path); string(raw.body) != string(file) || !strings.HasPrefix(raw.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("downloaded: %d bytes, %v", len(raw.body), raw.header)
	}
	if a := admin.get("/admin/dumps/..%2f..%2fetc%2fpasswd"); a.status != 404 {
		t.Errorf("another name: %d", a.status)
	}
	if link := admin.get("/s/" + session).page(t).Find("[data-testid=turn-dump]"); link.AttrOr("href", "") != "/admin/dumps/"+name || link.Text() != path {
		t.Errorf("under the answer, for an admin: %q", link.Text())
	}
	owner := s.signedIn(ann)
	if a := owner.get("/s/" + session); strings.Contains(string(a.body), name) {
		t.Error("the owner is told of the server's file")
	}
	for _, path := range []string{"/admin/dumps", "/admin/dumps/" + name, "/admin/dumps/" + name + "/raw"} {
		if a := owner.get(path); a.status != 403 {
			t.Errorf("%s of a user: %d", path, a.status)
		}
	}
	entries, _, err := s.store.Audit(t.Context(), models.AuditQuery{Action: models.AuditDumpView})
	if s.must(err); len(entries) != 1 || entries[0].Target != name {
		t.Errorf("audited: %+v", entries)
	}
}
