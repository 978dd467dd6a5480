package web

import (
	"encoding/csv"
	"strings"
	"testing"

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
