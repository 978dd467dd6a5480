package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"offcut/agent/agenttest"
)

func TestASessionLivesThroughTheAPI(t *testing.T) {
	s := start(t)
	made := s.wants(201, ann, "POST", "/sessions", `{"title":"Builds","unknown":1}`)
	id := made["id"].(string)
	if made["title"] != "Builds" || made["owner"] != ann || made["model"] != "scripted" || made["forked_from"] != nil {
		t.Errorf("made %v", made)
	}
	if at, err := time.Parse(time.RFC3339, made["created_at"].(string)); err != nil || at.Location() != time.UTC {
		t.Errorf("created_at %q is not RFC 3339 in UTC", made["created_at"])
	}
	if read := s.wants(200, ann, "GET", "/sessions/"+id, nil); !reflect.DeepEqual(made, read) {
		t.Errorf("what was made is read as something else: %v, %v", made, read)
	}
	got := s.wants(200, ann, "PATCH", "/sessions/"+id, `{"pinned":true,"title":"Nightly builds","model":"other"}`)
	if got["title"] != "Nightly builds" || got["pinned"] != true || got["archived"] != false || got["model"] != "other" {
		t.Errorf("changed into %v", got)
	}
	other := s.newSession(ann)
	list := s.wants(200, ann, "GET", "/sessions", nil)["items"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["id"] != id || list[1].(map[string]any)["id"] != other {
		t.Errorf("pinned ones do not come first: %v", list)
	}
	if found := s.wants(200, ann, "GET", "/sessions?q=nightly", nil)["items"].([]any); len(found) != 1 {
		t.Errorf("found %d sessions, want 1", len(found))
	}
	s.wants(204, ann, "DELETE", "/sessions/"+id, nil)
	s.wants(404, ann, "GET", "/sessions/"+id, nil)
	if len(s.spaces.removed) != 1 || s.spaces.removed[0] != id {
		t.Errorf("removed the workspaces %v, want that of %s", s.spaces.removed, id)
	}
}

func TestADeletionIsDoneAlsoWhereFilesStay(t *testing.T) {
	s := start(t)
	id := s.newSession(ann)
	s.spaces.stuck = true
	s.wants(204, ann, "DELETE", "/sessions/"+id, nil)
	s.wants(404, ann, "GET", "/sessions/"+id, nil)
	if !strings.Contains(s.log.String(), "the files stay") {
		t.Error("the log does not say that the files are still there")
	}
}

func TestAListGoesOnAtItsCursor(t *testing.T) {
	s := start(t)
	want := map[string]bool{}
	for range 5 {
		want[s.newSession(ann)] = true
	}
	path, pages := "/sessions?limit=2", 0
	for path != "" {
		list := s.wants(200, ann, "GET", path, nil)
		for _, item := range list["items"].([]any) {
			delete(want, item.(map[string]any)["id"].(string))
		}
		path = ""
		if next, ok := list["next_cursor"].(string); ok {
			path = "/sessions?limit=2&cursor=" + next
		}
		pages++
	}
	if len(want) != 0 || pages != 3 {
		t.Errorf("%d pages left out %v", pages, want)
	}
	if items := s.wants(200, bob, "GET", "/sessions?limit=9999", nil)["items"].([]any); items == nil || len(items) != 0 {
		t.Errorf("an empty list is %v, want []", items)
	}
}

func TestAMessageIsSentOnceForEachClientID(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Says("Hello."))
	id := s.newSession(ann)
	first := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"hi","client_id":"c1"}`)
	again := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"hi","client_id":"c1"}`)
	if first["turn_id"] != again["turn_id"] {
		t.Errorf("sent twice: turns %v and %v", first, again)
	}
	if turn := s.rests(ann, first["turn_id"].(string)); turn["state"] != "done" || turn["error"] != nil || turn["session_id"] != id {
		t.Errorf("the turn is %v", turn)
	}
	items := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil)["items"].([]any)
	var said []string
	for _, item := range items {
		m := item.(map[string]any)
		said = append(said, fmt.Sprint(m["role"], ": ", m["content"]))
	}
	if got := strings.Join(said, "; "); got != "user: hi; assistant: Hello." {
		t.Errorf("the session holds %q", got)
	}
}

func TestHiddenMessagesAreShownToWhoAsks(t *testing.T) {
	s := start(t)
	s.script.Then(agenttest.Cut("One, "), agenttest.Says("two."))
	id := s.newSession(ann)
	s.says(ann, id, "count")
	plain := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil)["items"].([]any)
	all := s.wants(200, ann, "GET", "/sessions/"+id+"/messages?include=hidden", nil)["items"].([]any)
	if len(plain) != 3 || len(all) != 4 {
		t.Fatalf("%d messages, %d with the hidden one; want 3 and 4", len(plain), len(all))
	}
	if hidden := all[2].(map[string]any); hidden["is_meta"] != true || hidden["role"] != "user" {
		t.Errorf("the hidden message is %v", hidden)
	}
}

func TestStopEndsARunningTurn(t *testing.T) {
	s := start(t)
	release := make(chan struct{})
	defer close(release)
	s.script.Then(agenttest.Blocks("Thinking", release))
	id := s.newSession(ann)
	turn := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"go"}`)["turn_id"].(string)
	queued := s.wants(202, ann, "POST", "/sessions/"+id+"/messages", `{"content":"and then"}`)["turn_id"].(string)
	s.wants(202, ann, "POST", "/turns/"+queued+"/stop", nil)
	if got := s.rests(ann, queued); got["state"] != "stopped" {
		t.Errorf("the queued turn is %v", got["state"])
	}
	began := time.Now()
	s.wants(202, ann, "POST", "/turns/"+turn+"/stop", nil)
	if got := s.rests(ann, turn); got["state"] != "stopped" {
		t.Errorf("the stopped turn is %v", got["state"])
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("stopping took %s", took)
	}
	s.wants(202, ann, "POST", "/turns/"+turn+"/stop", nil) // once more changes nothing
}

func TestAForkHasTheMessagesAndNoOutput(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(500))
	fork := s.wants(201, ann, "POST", "/sessions/"+id+"/fork", nil)
	forked := fork["id"].(string)
	if fork["forked_from"] != id {
		t.Errorf("forked from %v, want %s", fork["forked_from"], id)
	}
	if len(s.spaces.copied) != 1 || s.spaces.copied[0] != id+" to "+forked {
		t.Errorf("copied the files %v", s.spaces.copied)
	}
	a, b := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil), s.wants(200, ann, "GET", "/sessions/"+forked+"/messages", nil)
	if len(a["items"].([]any)) != len(b["items"].([]any)) {
		t.Errorf("the fork has %d messages, want %d", len(b["items"].([]any)), len(a["items"].([]any)))
	}
	s.wants(404, ann, "GET", "/sessions/"+forked+"/outputs/"+output, nil)
	never := s.api(ann, "GET", "/sessions/"+forked+"/outputs/out_never", nil).json(t)
	there := s.api(ann, "GET", "/sessions/"+forked+"/outputs/"+output, nil).json(t)
	if never["detail"] != there["detail"] || never["code"] != there["code"] {
		t.Errorf("another session's output is told apart from none: %v and %v", there, never)
	}
	s.spaces.full = true
	s.wants(413, ann, "POST", "/sessions/"+id+"/fork", nil)
	if list := s.wants(200, ann, "GET", "/sessions", nil)["items"].([]any); len(list) != 2 {
		t.Errorf("a fork that was refused is there: %d sessions", len(list))
	}
}

func TestAnOutputIsReadByPagesSearchedAndDeleted(t *testing.T) {
	s := start(t)
	text := strings.Repeat("0123456789é\n", 1000)
	id, output := s.withOutput(text)
	base := "/sessions/" + id + "/outputs/" + output
	var joined strings.Builder
	for offset := 0; ; {
		page := s.wants(200, ann, "GET", fmt.Sprintf("%s?offset=%d&limit=1000", base, offset), nil)
		joined.WriteString(page["text"].(string))
		offset = int(page["nextOffset"].(float64))
		if page["hasMore"] == false {
			break
		}
	}
	if joined.String() != text {
		t.Errorf("the pages joined are not the output: %d bytes of %d", joined.Len(), len(text))
	}
	inside := s.wants(400, ann, "GET", base+"?offset=11", nil)
	if inside["before"] != 10.0 || inside["after"] != 12.0 {
		t.Errorf("an offset inside a character: %v", inside)
	}
	if past := s.wants(400, ann, "GET", fmt.Sprintf("%s?offset=%d", base, len(text)+1), nil); past["totalBytes"] != float64(len(text)) {
		t.Errorf("an offset past the end: %v", past)
	}
	if last := s.wants(200, ann, "GET", fmt.Sprintf("%s?offset=%d", base, len(text)), nil); last["text"] != "" || last["hasMore"] != false {
		t.Errorf("the page at the end: %v", last)
	}
	matches := s.wants(200, ann, "GET", base+"/search?q=9%C3%A9&max=3", nil)["matches"].([]any)
	if len(matches) != 3 || matches[1].(map[string]any)["offset"] != 22.0 {
		t.Errorf("the search found %v", matches)
	}
	if none := s.wants(200, ann, "GET", base+"/search?q=nothing", nil)["matches"].([]any); len(none) != 0 {
		t.Errorf("the search found %v", none)
	}
	raw := s.api(ann, "GET", base+"/raw", nil)
	if string(raw.body) != text || !strings.HasPrefix(raw.header.Get("Content-Disposition"), "attachment") ||
		raw.header.Get("Content-Length") != fmt.Sprint(len(text)) {
		t.Errorf("raw: %d bytes, %v", len(raw.body), raw.header)
	}
	s.wants(204, ann, "DELETE", base, nil)
	gone := s.wants(404, ann, "GET", base, nil)
	if !strings.Contains(gone["detail"].(string), "deleted on") {
		t.Errorf("a deleted output says %q", gone["detail"])
	}
	if items := s.wants(200, ann, "GET", "/sessions/"+id+"/outputs", nil)["items"].([]any); len(items) != 0 {
		t.Errorf("a deleted output is listed: %v", items)
	}
}

func TestAdminsReadEverySessionAndWriteInNone(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(300))
	for range 2 {
		s.wants(200, root, "GET", "/sessions/"+id, nil)
		s.wants(200, root, "GET", "/sessions/"+id+"/messages", nil)
		s.wants(200, root, "GET", "/sessions/"+id+"/outputs/"+output, nil)
	}
	views := 0
	for _, item := range s.wants(200, root, "GET", "/admin/audit", nil)["items"].([]any) {
		if e := item.(map[string]any); e["action"] == "session.view" && e["target"] == id && e["actor"] == root {
			views++
		}
	}
	if views != 1 {
		t.Errorf("%d views are audited, want the first alone", views)
	}
	s.wants(403, root, "POST", "/sessions/"+id+"/messages", `{"content":"x"}`)
	s.wants(403, root, "PATCH", "/sessions/"+id, `{"title":"x"}`)
	s.wants(403, root, "DELETE", "/sessions/"+id, nil)
	s.wants(403, root, "POST", "/sessions/"+id+"/fork", nil)
	s.wants(403, root, "DELETE", "/sessions/"+id+"/outputs/"+output, nil)

	stats := s.wants(200, root, "GET", "/admin/sessions?owner=ann", nil)["items"].([]any)
	if len(stats) != 1 || stats[0].(map[string]any)["outputs"] != 1.0 || stats[0].(map[string]any)["workspace_bytes"] != 42.0 {
		t.Errorf("the admin's list is %v", stats)
	}
	s.wants(204, root, "DELETE", "/admin/sessions/"+id, nil)
	s.wants(404, root, "DELETE", "/admin/sessions/"+id, nil)
	s.wants(404, ann, "GET", "/sessions/"+id, nil)
	for _, path := range []string{"/admin/sessions", "/admin/users", "/admin/audit"} {
		s.wants(403, ann, "GET", path, nil)
		s.wants(401, "", "GET", path, nil)
	}
	s.wants(403, ann, "DELETE", "/admin/sessions/"+id, nil)
}

func TestTokensOfTheAdminAndOfDisabledUsers(t *testing.T) {
	s := start(t)
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url("/api/v1/admin/users"), nil)
	must(t, err)
	r.Header.Set("Authorization", "bearer "+adminToken)
	if a := do(t, s.Client(), r); a.status != 200 {
		t.Errorf("the admin's token of the configuration: %d", a.status)
	}
	s.newSession(bob)
	must(t, s.store.SetDisabled(t.Context(), s.owner(bob), true))
	a := s.api(bob, "GET", "/sessions", nil)
	if a.status != 401 || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("a disabled user's token: %d %v", a.status, a.header)
	}
}

func TestHealth(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := s.browser().get(path); a.status != 200 || a.json(t)["status"] == "" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	must(t, s.store.Close())
	a := s.browser().get("/readyz")
	if a.status != 503 || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("without a database: %d %s", a.status, a.body)
	}
	if a := s.browser().get("/healthz"); a.status != 200 {
		t.Errorf("without a database the process is said to be dead: %d", a.status)
	}
}

func TestProblemsSayWhichKindInTheStandardForm(t *testing.T) {
	s := start(t)
	a := s.api(ann, "GET", "/sessions/ses_never", nil)
	var p struct {
		Type, Title, Code, Detail string
		Status                    int
	}
	must(t, json.Unmarshal(a.body, &p))
	if a.header.Get("Content-Type") != "application/problem+json" || p.Status != 404 || p.Code != "not_found" || p.Title != "Not Found" || p.Detail == "" || p.Type == "" {
		t.Errorf("the problem is %s", a.body)
	}
}
