package web

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/agent/dump"
	"offcut/agent/mcp"
	"offcut/models"

	"github.com/PuerkitoBio/goquery"
)

// adminPaths are the admin's pages, each below the base path.
var adminPaths = []string{"/admin", "/admin/sessions", "/admin/storage", "/admin/sessions/goes?id=ses_1", "/admin/sessions/export?id=ses_1", "/admin/audit", "/admin/audit.csv", "/admin/users", "/admin/users/usr_ann", "/admin/usage", "/admin/usage.csv", "/admin/truncation", "/admin/truncation.csv", "/admin/mcp"}

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

// rowsOf are the ids of the sessions that the admin's list shows at path.
func rowsOf(t *testing.T, b *browser, path string) (ids []string) {
	t.Helper()
	b.get(path).page(t).Find("[data-testid=admin-session-row]").Each(func(_ int, row *goquery.Selection) {
		ids = append(ids, row.AttrOr("data-session", ""))
	})
	return ids
}

func TestAnAdminFindsEverybodysSessions(t *testing.T) {
	s := start(t)
	one, two, three := s.newSession(ann), s.newSession(bob), s.newSession(ann)
	s.wants(200, ann, "PATCH", "/sessions/"+one, map[string]any{"archived": true, "title": "The oldest"})
	s.script.Then(agenttest.Says("Hello."))
	s.says(bob, two, "a question")
	b := s.signedIn(root)
	for path, want := range map[string][]string{
		"/admin/sessions?sort=use&ascending=true": {three, one, two},
		"/admin/sessions?archived=true":           {one},
		"/admin/sessions?archived=false&sort=use": {two, three},
		"/admin/sessions?owner=" + bob:            {two},
		"/admin/sessions?owner=nobody":            nil,
		"/admin/sessions?q=oldest":                {one},
		"/admin/sessions?q=" + bob:                {two},
		"/admin/sessions?unused=30":               nil,
		"/admin/sessions?sort=messages&limit=1":   {two},
	} {
		if got := rowsOf(t, b, path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		var listed []string
		for _, item := range s.wants(200, root, "GET", path, nil)["items"].([]any) {
			listed = append(listed, item.(map[string]any)["id"].(string))
		}
		if !slices.Equal(listed, want) {
			t.Errorf("the API's %s: %v, want %v", path, listed, want)
		}
	}
	s.wants(200, bob, "PATCH", "/sessions/"+two, `{"pinned":true}`)
	if first := s.wants(200, root, "GET", "/admin/sessions?limit=1", nil)["items"].([]any)[0].(map[string]any); first["id"] != two || first["messages"] != 2.0 {
		t.Errorf("the API's list does not begin with the pinned one: %v", first)
	}
	var all []string
	for path := "/admin/sessions?limit=1&sort=use"; path != "" && len(all) < 9; {
		all = append(all, rowsOf(t, b, path)...)
		path = b.get(path).page(t).Find("[data-testid=admin-next]").AttrOr("href", "")
	}
	if !slices.Equal(all, []string{two, one, three}) {
		t.Errorf("page by page: %v", all)
	}
	for _, path := range []string{
		"/admin/sessions?sort=title", "/admin/sessions?cursor=x", "/admin/sessions?archived=perhaps", "/admin/sessions?unused=often",
		"/admin/audit?action=session.made", "/admin/audit?action=sess", "/admin/audit?from=today",
	} {
		if a := s.api(root, "GET", path, nil); a.status != 400 {
			t.Errorf("the API's %s: %d", path, a.status)
		}
		if a := b.get(path); a.status != 400 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestAnAdminDeletesSessions(t *testing.T) {
	s := start(t)
	hold := make(chan struct{})
	defer close(hold)
	s.script.Then(agenttest.Says("One."), agenttest.Step{Chunks: []string{"begun"}, Hold: hold})
	kept, idle, busy := s.newSession(ann), s.newSession(ann), s.newSession(bob)
	s.says(ann, idle, "first")
	running := s.wants(202, bob, "POST", "/sessions/"+busy+"/messages", map[string]any{"content": "keep busy"})["turn_id"].(string)
	if !s.script.Await(t.Context(), 2) {
		t.Fatal("the model was not asked")
	}
	b := s.signedIn(root)
	asked := b.get("/admin/sessions/goes?" + url.Values{"id": {idle, busy, "ses_gone"}, "back": {"q=x&sort=bytes&evil=1"}}.Encode()).page(t)
	if text := asked.Find("[data-testid=admin-goes]").Text(); !strings.Contains(text, "Messages4") && !strings.Contains(text, "4") {
		t.Errorf("asked: %q", text)
	}
	if n := asked.Find("input[name=id]").Length(); n != 2 {
		t.Errorf("%d sessions are to go", n)
	}
	a := b.post("/admin/sessions/delete", url.Values{"id": {idle, busy}, "back": {"q=x&sort=bytes&evil=1"}})
	if at := a.header.Get("Location"); a.status != 303 || at != "/admin/sessions?deleted=2&q=x&sort=bytes" {
		t.Errorf("after it: %d to %q", a.status, at)
	}
	for _, id := range []string{idle, busy} {
		s.wants(404, root, "GET", "/sessions/"+id, nil)
	}
	s.wants(404, bob, "GET", "/turns/"+running, nil)
	s.wants(200, ann, "GET", "/sessions/"+kept, nil)
	if removed := s.spaces.removed; len(removed) != 2 {
		t.Errorf("the workspaces of %v were removed", removed)
	}
	entries, _, err := s.store.Audit(t.Context(), models.AuditQuery{Action: models.AuditSessionDelete})
	if s.must(err); len(entries) != 2 || entries[0].ActorName != root {
		t.Errorf("audited: %+v", entries)
	}
	for name, form := range map[string]url.Values{"nothing": {}, "too much": {"id": make([]string, 201)}} {
		if a := b.post("/admin/sessions/delete", form); a.status != 422 {
			t.Errorf("%s is chosen: %d", name, a.status)
		}
	}
	if a := s.signedIn(ann).post("/admin/sessions/delete", url.Values{"id": {kept}}); a.status != 403 {
		t.Errorf("of a user: %d", a.status)
	}
	s.wants(200, ann, "GET", "/sessions/"+kept, nil)
}

func TestTheStoragePageSaysWhatIsStored(t *testing.T) {
	s := start(t)
	s.withOutput(strings.Repeat("line\n", 20000))
	doc := s.signedIn(root).get("/admin/storage").page(t)
	if text := doc.Find("[data-testid=storage-database]").Text(); !strings.HasSuffix(text, "kB") && !strings.HasSuffix(text, "MB") {
		t.Errorf("the database: %q", text)
	}
	user, err := s.store.UserByName(t.Context(), ann)
	s.must(err)
	used, err := s.store.StorageUsed(t.Context(), user.ID)
	s.must(err)
	want := fmt.Sprintf("%.0f kB", float64(used)/1000)
	if text := doc.Find("[data-testid=storage-row]").Text(); used <= 100_000 || !strings.Contains(text, ann) || !strings.Contains(text, want) {
		t.Errorf("by user: %q, want %s of an output and of messages", text, want)
	}
}

func TestAdminsSeeAndRestartTheServersOfTools(t *testing.T) {
	servers := mcp.New(mcp.Options{Servers: []mcp.Server{{Name: "odd <name>", Command: "/nowhere/server"}}})
	t.Cleanup(func() { _ = servers.Close() })
	s := start(t, with(func(cfg *Config) { cfg.Handlers.Servers = servers }))
	servers.Tools(t.Context())
	doc := s.signedIn(root).get("/admin/mcp").page(t)
	if text := doc.Find("[data-server='odd <name>'][data-state=failed]").Text(); !strings.Contains(text, "cannot be started") || strings.Contains(text, "/nowhere") {
		t.Errorf("the page says %q", text)
	}
	if a := s.signedIn(root).post("/admin/mcp/restart", url.Values{"server": {"odd <name>"}}); a.status != http.StatusSeeOther {
		t.Errorf("a restart is answered with %d", a.status)
	}
	if a := s.signedIn(root).post("/admin/mcp/restart", url.Values{"server": {"other"}}); a.status != http.StatusNotFound {
		t.Errorf("of a server that is not there: %d", a.status)
	}
	if text := s.signedIn(root).get("/admin/audit").page(t).Text(); !strings.Contains(text, "server.restart") || !strings.Contains(text, "restarted the MCP server odd <name>") {
		t.Error("the restart is not in the audit log")
	}

	b := s.signedIn(ann)
	if a := b.post("/admin/mcp/restart", url.Values{"server": {"odd <name>"}}); a.status != http.StatusForbidden {
		t.Errorf("a user's restart is answered with %d", a.status)
	}
	line := b.get("/settings").page(t).Find("[data-testid=settings-mcp]").Text()
	if !strings.Contains(line, "odd <name>") || strings.Contains(line, "cannot be started") {
		t.Errorf("a user reads %q", line)
	}
}

func TestTheAuditLogIsReadInTheLanguageOfThePage(t *testing.T) {
	s := start(t)
	s.must(s.store.AddAudit(t.Context(), models.AuditEntry{ActorName: ann, Action: "test.deed", Detail: "a line from before"}))
	session := s.newSession(ann)
	b := s.signedIn(root)
	b.get("/s/" + session)
	b.post("/admin/users/"+s.owner(bob)+"/role", url.Values{"role": {"admin"}})
	for language, want := range map[string][]string{
		"en": {"read a session of " + ann, "made " + bob + " admin", "signed in", "a line from before"},
		"zh": {"查看了 " + ann + " 的会话", "将 " + bob + " 设为管理员", "登录", "a line from before"},
	} {
		text := b.get("/admin/audit", "Accept-Language", language).page(t).Find("[data-testid=audit-row]").Text()
		for _, sentence := range want {
			if !strings.Contains(text, sentence) {
				t.Errorf("%s: there is no %q in %q", language, sentence, text)
			}
		}
	}
	if csv := string(b.get("/admin/audit.csv", "Accept-Language", "zh").body); !strings.Contains(csv, "read a session of "+ann) {
		t.Errorf("the export is %q", csv)
	}
}

func TestSessionsAreCountedAndExportedBeforeTheyGo(t *testing.T) {
	s := start(t)
	one, _ := s.withOutput(lines(20))
	two := s.newSession(bob)
	b := s.signedIn(root)
	if total := b.get("/admin/sessions").page(t).Find("[data-testid=admin-total]").Text(); !strings.Contains(total, "2 sessions · ") || strings.Contains(total, " 0 B") {
		t.Errorf("in all: %q", total)
	}
	if total := b.get("/admin/sessions?owner=" + bob).page(t).Find("[data-testid=admin-total]").Text(); !strings.Contains(total, "1 session · 0 B") {
		t.Errorf("of bob: %q", total)
	}
	link := b.get("/admin/sessions/goes?id="+one+"&id="+two).page(t).Find("[data-testid=admin-export]").AttrOr("href", "")
	a := b.get(link)
	archive, err := zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil || a.status != 200 || len(archive.File) != 2 {
		t.Fatalf("the export: %d, %v", a.status, err)
	}
	for _, file := range archive.File {
		in, err := file.Open()
		must(t, err)
		data, err := io.ReadAll(in)
		must(t, err)
		switch file.Name {
		case one + ".json":
			if back := s.wants(201, ann, "POST", "/import", string(data)); back["owner"] != ann {
				t.Errorf("imported as %v", back)
			}
		case two + ".json":
		default:
			t.Errorf("there is a file %q", file.Name)
		}
	}
	for _, id := range []string{one, two} {
		entries, _, err := s.store.Audit(t.Context(), models.AuditQuery{Action: models.AuditSessionView, Target: id})
		must(t, err)
		if len(entries) != 1 || entries[0].ActorName != root {
			t.Errorf("reading %s is audited as %+v", id, entries)
		}
	}
	if a := s.signedIn(ann).get(link); a.status == 200 {
		t.Errorf("ann exports sessions of others: %d", a.status)
	}
}

func TestWhereOnlyAdminsDeleteUsersArchive(t *testing.T) {
	s := start(t, with(func(c *Config) { c.Handlers.OnlyAdminsDelete = true }))
	session, output := s.withOutput(lines(20))
	b := s.signedIn(ann)
	for path, form := range map[string]url.Values{
		"/s/" + session + "/delete":                    nil,
		"/history/delete":                              {"id": {session}, "sure": {"true"}},
		"/s/" + session + "/out/" + output + "/delete": nil,
	} {
		if a := b.post(path, form); a.status != 403 || !strings.Contains(string(a.body), "only administrators delete") {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	s.wants(403, ann, "DELETE", "/sessions/"+session, nil)
	s.wants(403, ann, "DELETE", "/sessions/"+session+"/outputs/"+output, nil)
	for _, path := range []string{"/s/" + session, "/history", "/s/" + session + "/out/" + output} {
		if n := b.get(path).page(t).Find("[data-dialog=dlg-delete], [data-deed=delete], [data-testid=bulk-delete], [data-testid=output-delete]").Length(); n != 0 {
			t.Errorf("%s offers %d ways to delete", path, n)
		}
	}
	if a := b.post("/history/archive", url.Values{"id": {session}}); a.status != 303 {
		t.Errorf("archiving: %d", a.status)
	}
	s.wants(200, ann, "GET", "/sessions/"+session, nil)
	s.wants(204, root, "DELETE", "/admin/sessions/"+session, nil)
}
