package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func decode(t *testing.T, data []byte, out any) {
	t.Helper()
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatalf("%v: %.300s", err, data)
	}
}

func TestBadRequestsGetAClearAnswer(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("one output", runs("seq 1 20000"), says("Kept."))
	session := s.ask("one output")
	output := s.output(session).ID
	stranger := s.addUser("stranger")

	for _, test := range []struct {
		name, token, method, path, body string
		status                          []int
	}{
		{"no token", "", "GET", "/sessions", "", []int{401}},
		{"a wrong token", "nonsense", "GET", "/sessions", "", []int{401}},
		{"a session of nobody", adminToken, "GET", "/sessions/ses_nothing", "", []int{404}},
		{"another's session", stranger, "GET", "/sessions/" + session, "", []int{404}},
		{"another's session changed", stranger, "PATCH", "/sessions/" + session, `{"title":"mine"}`, []int{404}},
		{"another's session deleted", stranger, "DELETE", "/sessions/" + session, "", []int{404}},
		{"another's session written", stranger, "POST", "/sessions/" + session + "/messages", `{"content":"hi"}`, []int{404}},
		{"an admin's page by a user", stranger, "GET", "/admin/sessions", "", []int{403}},
		{"an admin's deletion by a user", stranger, "DELETE", "/admin/sessions/" + session, "", []int{403}},
		{"a path that is not there", adminToken, "GET", "/nothing", "", []int{404}},
		{"a method that is not there", adminToken, "PUT", "/sessions", `{}`, []int{404, 405}},
		{"no JSON", adminToken, "POST", "/sessions", `{"title":`, []int{400}},
		{"JSON of another shape", adminToken, "POST", "/sessions", `[1,2]`, []int{400, 422}},
		{"two documents", adminToken, "POST", "/sessions", `{} {}`, []int{400}},
		{"a wrong type", adminToken, "POST", "/sessions", `{"title":5}`, []int{422}},
		{"a title over its limit", adminToken, "POST", "/sessions", `{"title":"` + strings.Repeat("x", 300) + `"}`, []int{422}},
		{"an empty message", adminToken, "POST", "/sessions/" + session + "/messages", `{"content":""}`, []int{422}},
		{"a message of spaces", adminToken, "POST", "/sessions/" + session + "/messages", `{"content":" \n "}`, []int{422}},
		{"a message without content", adminToken, "POST", "/sessions/" + session + "/messages", `{}`, []int{422}},
		{"content of a wrong type", adminToken, "POST", "/sessions/" + session + "/messages", `{"content":["a"]}`, []int{422}},
		{"content null", adminToken, "POST", "/sessions/" + session + "/messages", `{"content":null}`, []int{422}},
		{"invalid UTF-8", adminToken, "POST", "/sessions/" + session + "/messages", "{\"content\":\"a\xff\"}", []int{422}},
		{"a message over 1 MiB", adminToken, "POST", "/sessions/" + session + "/messages", `{"content":"` + strings.Repeat("x", 1<<20+1) + `"}`, []int{413}},
		{"a body of 30 MB", adminToken, "POST", "/sessions/" + session + "/messages", `{"content":"` + strings.Repeat("x", 30_000_000) + `"}`, []int{413}},
		{"an unknown cursor", adminToken, "GET", "/sessions?cursor=nonsense", "", []int{400}},
		{"an absurd cursor", adminToken, "GET", "/sessions/" + session + "/messages?cursor=" + strings.Repeat("9", 3000), "", []int{400}},
		{"a limit that is no number", adminToken, "GET", "/sessions?limit=many", "", []int{400}},
		{"a flag that is none", adminToken, "GET", "/sessions?archived=maybe", "", []int{400}},
		{"a wait that is none", adminToken, "GET", "/turns/trn_nothing?wait=long", "", []int{400, 404}},
		{"a turn of nobody", adminToken, "GET", "/turns/trn_nothing", "", []int{404}},
		{"an absurd offset", adminToken, "GET", "/sessions/" + session + "/outputs/" + output + "?offset=9223372036854775807", "", []int{400}},
		{"an empty search", adminToken, "GET", "/sessions/" + session + "/outputs/" + output + "/search?q=", "", []int{400, 422}},
		{"a search of invalid UTF-8", adminToken, "GET", "/sessions/" + session + "/outputs/" + output + "/search?q=%ff", "", []int{400, 422}},
		{"a fork of a message of nobody", adminToken, "POST", "/sessions/" + session + "/fork", `{"message_id":"msg_nothing"}`, []int{404, 422}},
		{"a NUL in a path", adminToken, "GET", "/sessions/%00", "", []int{400, 404}},
		{"steps up in a path", adminToken, "GET", "/sessions/..%2f..%2fetc", "", []int{400, 404}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var body *bytes.Reader
			status, header, data := 0, http.Header(nil), []byte(nil)
			if test.body != "" {
				body = bytes.NewReader([]byte(test.body))
				status, header, data = s.raw(test.token, test.method, "/api/v1"+test.path, body)
			} else {
				status, header, data = s.raw(test.token, test.method, "/api/v1"+test.path, nil)
			}
			if !contains(test.status, status) {
				t.Fatalf("status %d, want %v: %.300s", status, test.status, data)
			}
			if kind := header.Get("Content-Type"); !strings.HasPrefix(kind, "application/problem+json") {
				t.Errorf("content type %q: %.200s", kind, data)
			}
			var problem struct {
				Status        int
				Title, Detail string
				Code          string
			}
			decode(t, data, &problem)
			if problem.Status != status || problem.Code == "" || problem.Title == "" {
				t.Errorf("problem %.300s", data)
			}
			if strings.Contains(string(data), s.dir) || strings.Contains(string(data), "sql") {
				t.Errorf("the answer shows the server's inside: %s", data)
			}
		})
	}
	if strings.Contains(s.log.String(), adminToken) {
		t.Error("the token is in the log")
	}
}

func contains(list []int, n int) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

func TestTheSameClientIDIsTheSameTurn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("send once", says("Once."))
	session := s.newSession()
	var turns [3]struct {
		TurnID string `json:"turn_id"`
	}
	for i := range turns {
		if status := s.as(adminToken, "POST", "/sessions/"+session+"/messages", args{"content": "send once", "client_id": "c-1"}, &turns[i]); status != http.StatusAccepted {
			t.Fatalf("status %d", status)
		}
	}
	if turns[0] != turns[1] || turns[1] != turns[2] || turns[0].TurnID == "" {
		t.Errorf("turns %v", turns)
	}
	s.settled(turns[0].TurnID)
	if all := s.messages(session, true); len(all) != 2 {
		t.Errorf("%d messages", len(all))
	}
}

func TestTheSameClientIDAtTheSameTimeIsOneTurn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("send at once", says("Once."))
	session := s.newSession()
	turns := make(chan string, 8)
	for range cap(turns) {
		go func() {
			body := strings.NewReader(`{"content":"send at once","client_id":"c-1"}`)
			request, _ := http.NewRequest(http.MethodPost, s.url+"/api/v1/sessions/"+session+"/messages", body)
			request.Header.Set("Authorization", "Bearer "+adminToken)
			request.Header.Set("Content-Type", "application/json")
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				turns <- err.Error()
				return
			}
			defer func() { _ = answer.Body.Close() }()
			var sent struct {
				TurnID string `json:"turn_id"`
			}
			_ = json.NewDecoder(answer.Body).Decode(&sent)
			turns <- fmt.Sprint(answer.StatusCode, " ", sent.TurnID)
		}()
	}
	first := <-turns
	for range cap(turns) - 1 {
		if turn := <-turns; turn != first {
			t.Errorf("%q and %q", first, turn)
		}
	}
	s.waitFor("the turn ends", func() bool { return len(s.messages(session, true)) == 2 })
}

func TestListsOfSessions(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("touch", says("Touched."))
	var ids []string
	for i := range 7 {
		var session struct {
			ID string `json:"id"`
		}
		s.must("POST", "/sessions", args{"title": fmt.Sprintf("Session %d", i)}, &session)
		ids = append(ids, session.ID)
	}
	s.say(ids[2], "touch")
	s.must("PATCH", "/sessions/"+ids[4], args{"pinned": true}, nil)
	s.must("PATCH", "/sessions/"+ids[0], args{"archived": true}, nil)

	type list struct {
		Items []struct {
			ID, Title, Owner     string
			Archived, Pinned     bool
			CreatedAt, UpdatedAt string
		} `json:"items"`
		NextCursor string `json:"next_cursor"`
	}
	var got []string
	for cursor, first := "", true; first || cursor != ""; first = false {
		var page list
		s.must("GET", "/sessions?limit=2&archived=false&cursor="+cursor, nil, &page)
		if len(page.Items) > 2 {
			t.Fatalf("%d items on a page of 2", len(page.Items))
		}
		for _, item := range page.Items {
			got = append(got, item.ID)
			if item.Owner == "" || item.Archived {
				t.Errorf("%+v", item)
			}
		}
		cursor = page.NextCursor
	}
	want := []string{ids[4], ids[2], ids[6], ids[5], ids[3], ids[1]}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("order %v, want %v", got, want)
	}
	var archived, found list
	s.must("GET", "/sessions?archived=true", nil, &archived)
	if len(archived.Items) != 1 || archived.Items[0].ID != ids[0] {
		t.Errorf("archived: %+v", archived)
	}
	s.must("GET", "/sessions?q=Session+5", nil, &found)
	if len(found.Items) != 1 || found.Items[0].ID != ids[5] {
		t.Errorf("found: %+v", found)
	}
	for _, limit := range []string{"0", "1000000", "-5"} {
		var page list
		s.must("GET", "/sessions?limit="+limit, nil, &page)
		if len(page.Items) == 0 {
			t.Errorf("limit %s gives an empty page", limit)
		}
	}
}

// parameter is the place of an id in a described path, whatever its name.
var parameter = regexp.MustCompile(`\{\w+\}`)

func TestTheAPIDescribesItself(t *testing.T) {
	s := start(t, newProvider(t))
	status, _, data := s.raw(adminToken, "GET", "/api/v1/openapi.json", nil)
	var document struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	decode(t, data, &document)
	if status != http.StatusOK || !strings.HasPrefix(document.OpenAPI, "3.") {
		t.Fatalf("status %d, version %q", status, document.OpenAPI)
	}
	for _, described := range []string{
		"/sessions", "/sessions/{}", "/sessions/{}/fork", "/sessions/{}/messages", "/turns/{}", "/turns/{}/stop", "/sessions/{}/outputs",
		"/sessions/{}/outputs/{}", "/sessions/{}/outputs/{}/raw", "/sessions/{}/outputs/{}/search", "/admin/sessions", "/admin/sessions/{}", "/admin/users", "/admin/audit",
	} {
		var there bool
		for path := range document.Paths {
			there = there || strings.HasSuffix(parameter.ReplaceAllString(path, "{}"), described)
		}
		if !there {
			t.Errorf("%s is not described", described)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _, _ := s.raw("", "GET", path, nil); status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestTurnsAtATimeAreBounded(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("hold the line", reply{text: []string{"Holding."}, hold: make(chan struct{})})
	session := s.newSession()
	var refused http.Header
	for i := 0; i < 100 && refused == nil; i++ {
		if i%8 == 0 {
			session = s.newSession()
		}
		body := strings.NewReader(`{"content":"hold the line"}`)
		status, header, data := s.raw(adminToken, "POST", "/api/v1/sessions/"+session+"/messages", body)
		switch status {
		case http.StatusAccepted:
		case http.StatusTooManyRequests:
			refused = header
		default:
			t.Fatalf("status %d: %s", status, data)
		}
	}
	if refused == nil {
		t.Fatal("a hundred turns at a time are never refused")
	}
	if refused.Get("Retry-After") == "" {
		t.Error("the refusal does not say when to try again")
	}
}
