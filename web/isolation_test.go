package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"offcut/handlers"
)

// named fills the parameters of a route with the ids of somebody's things.
func named(path string, ids map[string]string) string {
	for name, id := range ids {
		path = strings.ReplaceAll(path, ":"+name, id)
	}
	return path
}

// TestNobodySeesAnothersThings goes through the table of routes, so that a new
// route cannot be forgotten: with the ids of ann's session, bob gets the same
// as for ids that never were, and nobody at all is asked to sign in.
func TestNobodySeesAnothersThings(t *testing.T) {
	s := start(t)
	session, output := s.withOutput(lines(300))
	message := s.wants(200, ann, "GET", "/sessions/"+session+"/messages", nil)["items"].([]any)[1].(map[string]any)
	anns := map[string]string{
		"session": session, "output": output, "turn": message["turn_id"].(string), "message": message["id"].(string),
		"call": message["tool_calls"].([]any)[0].(map[string]any)["id"].(string),
		"user": s.owner(ann), "token": "tok_ann",
	}
	nobodys := map[string]string{"session": "ses_never", "output": "out_never", "turn": "trn_never", "message": "msg_never", "call": "call_never", "user": "usr_never", "token": "tok_never"}
	bobs := s.signedIn(bob)
	strangers := s.browser()

	before := s.wants(200, ann, "GET", "/sessions/"+session+"/messages", nil)
	for _, r := range routes(&handlers.Handlers{}) {
		if !strings.Contains(r.path, ":") {
			continue
		}
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			ask := func(as string, b *browser, ids map[string]string) answer {
				if path, ok := strings.CutPrefix(named(r.path, ids), "/api/v1"); ok {
					return s.api(as, r.method, path, bodyFor(r))
				}
				if r.method == http.MethodPost {
					return b.post(named(r.path, ids), url.Values{"content": {"mine"}, "title": {"mine"}})
				}
				return b.get(named(r.path, ids))
			}
			theirs, none := ask(bob, bobs, anns), ask(bob, bobs, nobodys)
			want := http.StatusNotFound
			if r.access == admin || r.access == adminPage {
				want = http.StatusForbidden
			}
			if theirs.status != want || none.status != want {
				t.Errorf("bob gets %d for ann's and %d for nobody's, want %d", theirs.status, none.status, want)
			}
			if a, b := without(theirs, anns), without(none, nobodys); a != b {
				t.Errorf("bob can tell ann's from nobody's:\n%s\n%s", a, b)
			}
			if a := ask("", strangers, anns); a.status != http.StatusUnauthorized && a.status != http.StatusSeeOther {
				t.Errorf("a stranger gets %d", a.status)
			}
		})
	}
	after := s.wants(200, ann, "GET", "/sessions/"+session+"/messages", nil)
	if len(before["items"].([]any)) != len(after["items"].([]any)) {
		t.Error("somebody wrote into ann's session")
	}
	s.wants(200, ann, "GET", "/sessions/"+session+"/outputs/"+output, nil)
}

// TestAnAdministratorChangesNothingOfAnothers goes through the table too: who may
// look at everybody's sessions writes into none, by a page or a program.
func TestAnAdministratorChangesNothingOfAnothers(t *testing.T) {
	s := start(t)
	session, output := s.withOutput(lines(300))
	message := s.wants(200, ann, "GET", "/sessions/"+session+"/messages", nil)["items"].([]any)[1].(map[string]any)
	anns := map[string]string{
		"session": session, "output": output, "turn": message["turn_id"].(string), "message": message["id"].(string),
		"call": message["tool_calls"].([]any)[0].(map[string]any)["id"].(string),
	}
	roots, asked := s.signedIn(root), 0
	for _, r := range routes(&handlers.Handlers{}) {
		changes := r.method != http.MethodGet && r.access != admin && r.access != adminPage && !strings.HasSuffix(r.path, "/query")
		if !changes || !strings.Contains(r.path, ":session") && !strings.Contains(r.path, ":turn") {
			continue
		}
		asked++
		path, ofProgram := strings.CutPrefix(named(r.path, anns), "/api/v1")
		var a answer
		if ofProgram {
			a = s.api(root, r.method, path, bodyFor(r))
		} else {
			a = roots.post(path, url.Values{"content": {"mine"}, "title": {"mine"}})
		}
		if a.status != http.StatusForbidden {
			t.Errorf("%s %s: an administrator gets %d", r.method, r.path, a.status)
		}
	}
	if asked < 10 {
		t.Errorf("only %d routes were asked", asked)
	}
}

func bodyFor(r route) any {
	switch r.method {
	case http.MethodPost, http.MethodPatch:
		return `{"content":"mine","title":"mine"}`
	}
	return nil
}

// without is an answer without what differs in any two: ids and the token of
// the form.
func without(a answer, ids map[string]string) string {
	body := string(a.body)
	for _, id := range ids {
		body = strings.ReplaceAll(body, id, "ID")
	}
	for _, mark := range []string{`"request_id":"`, `name="_csrf" value="`, `name="csrf-token" content="`} {
		for {
			at := strings.Index(body, mark)
			if at < 0 {
				break
			}
			end := strings.IndexByte(body[at+len(mark):], '"')
			body = body[:at] + body[at+len(mark)+end:]
		}
	}
	return body
}

// TestEveryRouteSaysWhoMayUseIt keeps a route from being open by mistake.
func TestEveryRouteSaysWhoMayUseIt(t *testing.T) {
	open := map[string]bool{
		"GET /healthz": true, "GET /readyz": true, "GET /static/*": true, "GET /api/v1/openapi.json": true,
		"GET /login": true, "POST /login": true, "POST /logout": true, "POST /settings/theme": true, "POST /settings/language": true,
	}
	for _, r := range routes(&handlers.Handlers{}) {
		if free := r.access == public || r.access == visitor; free != open[r.method+" "+r.path] {
			t.Errorf("%s %s is for %s", r.method, r.path, r.access)
		}
		if strings.HasPrefix(r.path, "/api/v1/admin/") != (r.access == admin) {
			t.Errorf("%s %s is for %s", r.method, r.path, r.access)
		}
	}
}
