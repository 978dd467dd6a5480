package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestBadBodiesAreRefusedWithTheRightStatus(t *testing.T) {
	s := start(t)
	id := s.newSession(ann)
	sessions, session, messages, fork := "/sessions", "/sessions/"+id, "/sessions/"+id+"/messages", "/sessions/"+id+"/fork"
	deep := strings.Repeat("[", 20_000)
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"not JSON", "POST", messages, `{"content":`, 400},
		{"nothing", "POST", messages, ``, 400},
		{"two values", "POST", messages, `{"content":"a"} {}`, 400},
		{"nested without end", "POST", messages, deep, 400},
		{"single quotes", "POST", sessions, `{'title':'a'}`, 400},
		{"a number", "POST", messages, `12`, 422},
		{"a list", "POST", messages, `[{"content":"a"}]`, 422},
		{"a string", "POST", messages, `"content"`, 422},
		{"null", "POST", messages, `null`, 422},
		{"no content", "POST", messages, `{}`, 422},
		{"null content", "POST", messages, `{"content":null}`, 422},
		{"empty content", "POST", messages, `{"content":""}`, 422},
		{"blank content", "POST", messages, `{"content":" \n\t "}`, 422},
		{"a number for content", "POST", messages, `{"content":1}`, 422},
		{"an object for content", "POST", messages, `{"content":{"a":1}}`, 422},
		{"a number for client_id", "POST", messages, `{"content":"a","client_id":7}`, 422},
		{"a long client_id", "POST", messages, `{"content":"a","client_id":"` + strings.Repeat("x", 129) + `"}`, 422},
		{"bytes that are no UTF-8", "POST", messages, "{\"content\":\"a\xff\"}", 422},
		{"a character cut short", "POST", messages, "{\"content\":\"a\xe4\xb8\"}", 422},
		{"a lone high surrogate", "POST", messages, `{"content":"a\ud800"}`, 422},
		{"a lone low surrogate", "POST", messages, `{"content":"\udc00 a"}`, 422},
		{"two high surrogates", "POST", messages, `{"content":"\uD83D\uD83D"}`, 422},
		{"a lone surrogate in a name", "POST", messages, `{"content":"a","\ud800":1}`, 422},
		{"over a mebibyte", "POST", messages, `{"content":"` + strings.Repeat("a", 1<<20+1) + `"}`, 413},
		{"over eight mebibytes", "POST", messages, `{"content":"` + strings.Repeat("a", 8<<20) + `"}`, 413},
		{"a list for a session", "POST", sessions, `[]`, 422},
		{"a number for a title", "POST", sessions, `{"title":5}`, 422},
		{"a long title", "POST", sessions, `{"title":"` + strings.Repeat("é", 201) + `"}`, 422},
		{"a title of two lines", "POST", sessions, `{"title":"a\nb"}`, 422},
		{"a model that is not there", "POST", sessions, `{"model":"none"}`, 422},
		{"text for a boolean", "PATCH", session, `{"pinned":"yes"}`, 422},
		{"null for a title", "PATCH", session, `{"title":null}`, 422},
		{"a model that is not there", "PATCH", session, `{"model":"none"}`, 422},
		{"nothing to change with", "PATCH", session, ``, 400},
		{"a number for a message", "POST", fork, `{"message_id":3}`, 422},
		{"a message that is not there", "POST", fork, `{"message_id":"msg_never"}`, 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.api(ann, tt.method, tt.path, tt.body)
			if a.status != tt.want {
				t.Errorf("status %d, want %d\n%s", a.status, tt.want, clip(a.body))
			}
		})
	}
	for _, fine := range []string{`{"content":"a😀b"}`, `{"content":"\ud83d\ude00"}`, `{"content":"\\ud800"}`, `{"content":"a\u0000b","client_id":null}`} {
		s.wants(202, ann, "POST", messages, fine)
	}
	list := s.wants(200, ann, "GET", messages+"?limit=200", nil)["items"].([]any)
	for _, item := range list {
		m := item.(map[string]any)
		if m["role"] == "user" && strings.ContainsRune(m["content"].(string), '\uFFFD') {
			t.Errorf("a message was repaired: %q", m["content"])
		}
	}
}

func TestBadAddressesAreRefusedWithTheRightStatus(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(100))
	turn := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil)["items"].([]any)[0].(map[string]any)["turn_id"].(string)
	out := "/sessions/" + id + "/outputs/" + output
	for path, want := range map[string]int{
		"/sessions?limit=abc":                        400,
		"/sessions?limit=1.5":                        400,
		"/sessions?limit=0":                          200,
		"/sessions?limit=-5":                         200,
		"/sessions?limit=1000000000000000":           200,
		"/sessions?limit=99999999999999999999999":    200,
		"/sessions?cursor=nonsense":                  400,
		"/sessions?cursor=%00":                       400,
		"/sessions?archived=perhaps":                 400,
		"/sessions?q=%ff":                            422,
		"/sessions?q=%zz":                            400,
		"/sessions?q=%25_%27%22":                     200,
		"/sessions?q=" + strings.Repeat("x", 55_000): 422,
		"/sessions?q=" + strings.Repeat("é", 1000):   200,
		"/sessions/" + id + "/messages?cursor=x":     400,
		"/sessions/" + id + "/messages?include=all":  400,
		"/sessions/" + id + "/outputs?cursor=-1":     400,
		"/sessions/ses_never":                        404,
		"/sessions/" + strings.Repeat("x", 5000):     404,
		"/sessions/%00":                              404,
		"/sessions/..%2f..":                          404,
		"/turns/trn_never":                           404,
		"/turns/" + turn + "?wait=abc":               400,
		"/turns/" + turn + "?wait=-1":                400,
		"/turns/" + turn + "?wait=NaN":               400,
		"/turns/" + turn + "?wait=1e30":              200,
		out + "?offset=-1":                           400,
		out + "?offset=abc":                          400,
		out + "?offset=1e30":                         400,
		out + "?offset=1.5":                          400,
		out + "?offset=9223372036854775807":          400,
		out + "?offset=99999999999999999999999":      400,
		out + "?limit=abc":                           400,
		out + "?limit=-1":                            200,
		out + "?limit=99999999999999999999999":       200,
		out + "/search":                              400,
		out + "/search?q=":                           400,
		out + "/search?q=a&regexp=maybe":             400,
		out + "/search?q=a&max=x":                    400,
		out + "/search?q=(&regexp=true":              422,
		out + "/search?q=(&max=-3":                   200,
		out + "/query":                               400,
		out + "/query?filter=":                       400,
		out + "/query?filter=%7C":                    422,
		out + "/query?filter=.&filter=":              422,
		"/sessions/" + id + "/outputs/out_never":     404,
		"/admin/nothing":                             404,
		"/nothing":                                   404,
		"":                                           404,
	} {
		t.Run(path, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.url("/api/v1"+path), nil)
			must(t, err)
			r.Header.Set("Authorization", "Bearer "+ann+"-token")
			a := do(t, s.Client(), r)
			if a.status != want {
				t.Errorf("status %d, want %d\n%s", a.status, want, clip(a.body))
			}
			if strings.Contains(string(a.body), "stored") {
				t.Errorf("it speaks of storing, which nobody asked for: %s", a.body)
			}
			if a.status >= 400 && a.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("an error of the API is %s", a.header.Get("Content-Type"))
			}
		})
	}
	for _, call := range [][2]string{{"PUT", "/sessions"}, {"DELETE", "/sessions"}, {"POST", "/sessions/" + id}, {"DELETE", "/turns/" + turn}} {
		a := s.api(ann, call[0], call[1], nil)
		if a.status != 405 || a.header.Get("Allow") == "" {
			t.Errorf("%s %s: status %d, Allow %q; want 405", call[0], call[1], a.status, a.header.Get("Allow"))
		}
	}
}

func TestWhatPeopleTypeIntoPagesIsNeverAFaultOfTheServer(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(strings.Repeat("é", 5000))
	b := s.signedIn(ann)
	for _, query := range []string{
		"offset=1", "offset=10001", "offset=-4", "offset=abc", "offset=1e30", "offset=99999999999999999999", "offset=4,096",
		"offset=%E2%80%93", "q=(&regexp=true", "q=%C3%A9", "q=%C3%A9&from=77", "q=" + strings.Repeat("a", 5000), "limit=0",
	} {
		for _, page := range []string{"", "/pager", "/pages"} {
			a := b.get("/s/" + id + "/out/" + output + page + "?" + query)
			if a.status != 200 || a.page(t).Find("[data-testid=output-text]").Length() != 1 {
				t.Errorf("%s?%s: status %d\n%s", page, query, a.status, clip(a.body))
			}
		}
	}
	for _, script := range []string{"false", "true"} {
		if a := b.get("/sessions?q="+strings.Repeat("x", 55_000), "HX-Request", script); a.status != 422 {
			t.Errorf("a search of 55,000 characters: status %d\n%s", a.status, clip(a.body))
		}
	}
	if a := s.api(root, "GET", "/admin/sessions?q="+strings.Repeat("x", 55_000), nil); a.status != 422 {
		t.Errorf("the same of an administrator: status %d\n%s", a.status, clip(a.body))
	}
	if a := b.post("/s/"+id+"/calls/never/stop", nil); a.status != 404 {
		t.Errorf("the stop of a call that never was: status %d", a.status)
	}
	for path, form := range map[string]url.Values{
		"/s/" + id + "/rename":   {"title": {"a\xff\xfeb"}},
		"/s/" + id + "/messages": {"content": {"a"}, "client_id": {"\xff\x00x"}},
		"/s/" + id + "/fork":     {"message_id": {"\xc3"}},
		"/sessions":              {"content": {"a"}, "client_id": {"\xff"}},
		"/settings/theme":        {"theme": {"\xff"}},
		"/login":                 {"name": {"\xff"}, "password": {"x"}},
		"/logout":                {"any": {"\xff"}},
	} {
		if a := b.post(path, form); a.status != 422 {
			t.Errorf("%s with bytes that are no UTF-8: status %d\n%s", path, a.status, clip(a.body))
		}
	}
	if a := b.send("POST", "/s/"+id+"/rename", strings.NewReader("title=%zz"), "Content-Type", "application/x-www-form-urlencoded",
		"X-CSRF-Token", b.cookie("offcut_csrf")); a.status != 400 {
		t.Errorf("a form that cannot be read: status %d", a.status)
	}
	for _, form := range []url.Values{
		{"content": {""}},
		{"content": {"\xff\xfe"}},
		{"content": {strings.Repeat("a", 1<<20+1)}},
		{},
		{"content": {"a"}, "client_id": {strings.Repeat("x", 999)}},
	} {
		for _, path := range []string{"/sessions", "/s/" + id + "/messages"} {
			for _, script := range []string{"false", "true"} {
				if a := b.post(path, form, "HX-Request", script); a.status != 422 && a.status != 413 {
					t.Errorf("%s with %d bytes: status %d\n%s", path, len(form.Encode()), a.status, clip(a.body))
				}
			}
		}
	}
}
