package views

import "testing"

func TestTheListOfAllSessions(t *testing.T) {
	doc := parse(t, AdminSessionsPage(sampleSessions()))
	want(t, doc, "[data-testid=admin-session-row]", 2)
	want(t, doc, "th[aria-sort=descending] a[href='/admin/sessions?archived=false&ascending=true&q=a%26b&sort=bytes']", 1, "Their size")
	want(t, doc, "th a[href='/admin/sessions?archived=false&q=a%26b&sort=messages']", 1, "Messages")
	want(t, doc, "[data-testid=admin-session-row] label", 2)
	want(t, doc, "[data-testid=admin-session-row] a[href='/s/ses_2']", 1, "Untitled")
	want(t, doc, "[data-testid=admin-deleted]", 1, "1 session was deleted.")
	want(t, doc, ".note.bad", 1, "2 sessions could not be deleted")
}

func TestADeletionSaysInNumbersWhatGoes(t *testing.T) {
	g := AdminGoes{Back: "q=a%26b"}
	for range 7 {
		g.Sessions = append(g.Sessions, AdminSession{ID: "ses_x", Title: "T", Owner: "mara", Messages: 100, Outputs: 2, OutputBytes: 1_000_000, Files: 500_000, Running: true})
	}
	doc := parse(t, AdminGoesFragment(g))
	want(t, doc, "h2", 1, "Delete 7 sessions for good?")
	want(t, doc, ".named", 1, "“T” of mara", "and 2 more")
	want(t, doc, ".goes", 1, "700", "14", "3.50 MB", "10.5 MB")
	want(t, doc, "input[name=id]", 7)
	want(t, doc, "a[data-close][href='/admin/sessions?q=a%26b']", 1)
	want(t, doc, "[data-testid=admin-delete]", 1, "Delete 7 sessions")
}

func TestTheStoragePageSaysWhatGoesByItself(t *testing.T) {
	doc := parse(t, AdminStoragePage(sampleStorage()))
	want(t, doc, "[data-testid=retention]", 1, "not used for 90 days", "more than 1.00 GB", "3 sessions were deleted, 12.3 kB", "1 session could not be deleted")
	want(t, doc, "[data-testid=storage-row] a[href='/admin/sessions?owner=mara&sort=bytes']", 1, "mara")
	want(t, doc, "[data-testid=storage-row] rect.v[width='100.0%']", 1)
	off := sampleStorage()
	off.Policy = Retention{}
	want(t, parse(t, AdminStoragePage(off)), "[data-testid=retention]", 1, "off", "Nothing is deleted by itself")
}

func TestThePageOfTheServersShowsWhatTheySaidAsText(t *testing.T) {
	doc := parse(t, AdminServersPage(sampleServers()))
	want(t, doc, "[data-testid=mcp-server]", 5)
	want(t, doc, "[data-server=files][data-state=ready]", 1, "ready", "Reads <script>alert(1)</script>", "<em>odd</em>: its schema", "secure-filesystem 0.2 <b>")
	want(t, doc, "[data-server=files] script, [data-server=files] em", 0)
	want(t, doc, "[data-server=files] [data-testid=mcp-stderr]", 1, "listening <on>")
	want(t, doc, "[data-server=tickets] [data-testid=mcp-error]", 1, "it did not answer in time")
	want(t, doc, "[data-testid=mcp-restart]", 4)
	want(t, doc, "#servers[hx-get='/admin/mcp']", 1)
	quiet := sampleServers()
	quiet.Servers = quiet.Servers[:2]
	want(t, parse(t, AdminServersPage(quiet)), "#servers[hx-get]", 0)
	want(t, parse(t, AdminServersPage(AdminServers{})), ".empty", 1, "mcpServers")
}

func TestEverybodySeesTheServersAndTheirTools(t *testing.T) {
	doc := parse(t, SettingsPage(sampleSettings()))
	want(t, doc, "[data-testid=settings-mcp] li:first-child", 1, "files", "ready", "files__read, files__write")
	want(t, doc, "[data-testid=settings-mcp] li:last-child", 1, "<i>", "not running")
	want(t, doc, "[data-testid=settings-mcp] i", 0)
}
