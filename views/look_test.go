package views

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
)

func sampleContext() context.Context {
	return With(context.Background(), Layout{User: User{Name: "billing-dev"}, CSRF: "token", Demo: true, Zone: time.UTC})
}

func markup(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(sampleContext(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parse(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(markup(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// pages are all pages in all their states.
func pages() map[string]templ.Component {
	all := map[string]templ.Component{
		"empty":    ChatPage(Chat{Sidebar: sampleSidebar(), Picker: Picker{Chosen: "a", Names: []string{"a", "b"}}}),
		"details":  DetailsFragment(sampleDetails()),
		"chat":     ChatPage(sampleChat()),
		"states":   ChatPage(statesChat()),
		"output":   OutputPage(sampleOutput()),
		"login":    LoginPage(Login{Name: "mara", Wrong: true, TriesLeft: 3, Window: 15 * time.Minute}),
		"notfound": ErrorPage(Failure{Status: 404, Code: "output_not_found", SessionID: "s2", Original: "s1"}),
		"audit":    AdminAuditPage(sampleAudit()),
		"account":  AccountPage(sampleOwnAccount()),
		"settings": SettingsPage(sampleSettings()),
		"users":    AdminUsersPage(sampleUsers()),
		"user":     AdminUserPage(sampleUser()),
		"usage":    AdminUsagePage(sampleUsage()),
		"sessions": AdminSessionsPage(sampleSessions()),
		"storage":  AdminStoragePage(sampleStorage()),
		"cut":      AdminTruncationPage(sampleTruncation()),
		"uncut":    AdminTruncationPage(AdminTruncation{}),
		"mcp":      AdminServersPage(sampleServers()),
		"goes":     AdminGoesPage(AdminGoes{Sessions: sampleSessions().Rows}),
		"dumps":    AdminDumpsPage(AdminDumps{Kept: 20, Dumps: []Dump{sampleDump()}}),
		"dump":     AdminDumpPage(DumpPage{Dump: sampleDump(), Text: "{\"about\": \"<b>\"}"}),
		"folder":   FolderPage(sampleFolder()),
		"file":     FilePage(sampleFile()),
		"picture":  FilePage(FileView{FilesPlace: samplePlace("shot.png"), Type: "image/png", Picture: true}),
		"delete":   FileGoesPage(FileGoes{FilesPlace: samplePlace("docs"), Kind: FileKindFolder}),
		"sent":     UserArticle(sampleSent()),
		"error":    ErrorPage(Failure{Status: 500, Message: "The page could not be made.", Reference: "req_1"}),
	}
	for name, f := range map[string]Filter{
		"fresh": {}, "values": {Filter: ".<b>", Text: "\"<script>\"\n", Values: 3, Bytes: 70_000}, "refused": {Filter: "|", Problem: "It <b> is."},
	} {
		filtered := sampleOutput()
		filtered.Pager.Filter = &f
		all["filter-"+name] = OutputPage(filtered)
	}
	for name, p := range pagerStates() {
		all["output-"+name] = OutputPage(Output{Pager: p, CreatedAt: morning, Sidebar: sampleSidebar()})
	}
	return all
}

// Every page renders under a strict content policy: nothing inline, every id
// once, every control with a name. With OFFCUT_LOOK the pages are left in that
// folder to be looked at.
func TestPagesHoldUnderAStrictPolicy(t *testing.T) {
	dir := os.Getenv("OFFCUT_LOOK")
	if dir == "" {
		dir = t.TempDir()
	}
	for name, page := range pages() {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, name+".html"), []byte(markup(t, page)), 0o600); err != nil {
				t.Fatal(err)
			}
			doc := parse(t, page)
			checkStrict(t, doc)
			checkIDs(t, doc)
			checkNames(t, doc)
		})
	}
}

func checkStrict(t *testing.T, doc *goquery.Document) {
	t.Helper()
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") {
				t.Errorf("<%s %s=%q>", goquery.NodeName(s), a.Key, a.Val)
			}
			if strings.Contains(a.Val, "javascript:") {
				t.Errorf("a script in %s", a.Key)
			}
		}
	})
	if n := doc.Find("style").Length(); n > 0 {
		t.Errorf("%d <style>", n)
	}
	doc.Find("script").Each(func(_ int, s *goquery.Selection) {
		if s.Text() != "" || s.AttrOr("src", "") == "" {
			t.Error("an inline script")
		}
	})
}

func checkIDs(t *testing.T, doc *goquery.Document) {
	t.Helper()
	seen := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		id := s.AttrOr("id", "")
		if seen[id] {
			t.Errorf("the id %q twice", id)
		}
		seen[id] = true
	})
	for _, attr := range []string{"aria-controls", "aria-labelledby", "aria-describedby", "data-wrap", "data-copy-text", "data-dialog"} {
		doc.Find("[" + attr + "]").Each(func(_ int, s *goquery.Selection) {
			for _, id := range strings.Fields(s.AttrOr(attr, "")) {
				if !seen[id] {
					t.Errorf("%s=%q leads nowhere", attr, id)
				}
			}
		})
	}
}

func checkNames(t *testing.T, doc *goquery.Document) {
	t.Helper()
	doc.Find("button:not([hidden]),a[href],[role=region],dialog").Each(func(_ int, s *goquery.Selection) {
		name := s.AttrOr("aria-label", "") + s.AttrOr("aria-labelledby", "") + strings.TrimSpace(s.Text())
		if name == "" {
			outer, _ := goquery.OuterHtml(s)
			t.Errorf("no name: %s", outer)
		}
	})
	doc.Find("input:not([type=hidden]),textarea").Each(func(_ int, s *goquery.Selection) {
		id := s.AttrOr("id", "-")
		if s.Closest("label").Length() == 0 && doc.Find(`label[for="`+id+`"]`).Length() == 0 {
			t.Errorf("no label: %s", id)
		}
	})
}
