package main_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// A fork and an import have what a script returned and which calls it made, but
// none of the copies: those are the original's.
func TestASessionWithAScriptIsForkedExportedAndImported(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	r := runScript(t, s, p, `
const r = await tools.run_command({command: "seq 20000"});
try { await tools.read_file({path: "none"}) } catch {}
return r.total_bytes`)
	id := r.nested()[0]["output_id"].(string)
	original := s.resultsOf(r.session)[0]

	var fork struct{ ID string }
	s.must("POST", "/sessions/"+r.session+"/fork", args{}, &fork)
	status, _, exported := s.raw(adminToken, "GET", "/api/v1/sessions/"+r.session+"/export?format=json", nil)
	if status != http.StatusOK || !bytes.Contains(exported, []byte(id)) {
		t.Fatalf("export: %d\n%s", status, exported)
	}
	_, _, markdown := s.raw(adminToken, "GET", "/api/v1/sessions/"+r.session+"/export?format=md", nil)
	for _, want := range []string{"seq 20000", "108894"} {
		if !strings.Contains(string(markdown), want) {
			t.Errorf("the Markdown lacks %q", want)
		}
	}
	var imported struct{ ID string }
	s.must("POST", "/import", json.RawMessage(exported), &imported)

	for name, session := range map[string]string{"fork": fork.ID, "import": imported.ID} {
		t.Run(name, func(t *testing.T) {
			result := s.resultsOf(session)[0]
			if result.Content != "108894" || !reflect.DeepEqual(result.Metadata, original.Metadata) {
				t.Errorf("%q %v, want %v", result.Content, result.Metadata, original.Metadata)
			}
			if outputs := s.outputs(session); len(outputs) != 0 {
				t.Errorf("it has the copies %+v", outputs)
			}
			for _, page := range []string{"/s/" + session, "/s/" + session + "/calls/" + result.ToolCallID, "/s/" + session + "/calls/" + result.ToolCallID + "_s1"} {
				if status, _, body := s.raw(adminToken, "GET", page, nil); status != http.StatusOK || bytes.Contains(body, []byte("/out/"+id)) {
					t.Errorf("%s: %d", page, status)
				}
			}
			key := "read it in the " + name
			p.on(key, calls(call("read_tool_output", args{"output_id": id})), says("Gone."))
			if turn := s.say(session, key); turn.State != "done" {
				t.Fatalf("%+v", turn)
			}
			request := p.lastSent(t, key)
			wellFormed(t, request)
			results := request.results()
			if meta, body := results[1].result(t); meta["is_error"] != true || !strings.Contains(body, "no such output in this session") {
				t.Errorf("the model is told %v %q", meta, body)
			}
			again := runScriptIn(t, s, p, session, `return (await tools.run_command({command: "seq 20000"})).output_id`)
			if len(s.copyOf(session, again)) != 108894 {
				t.Error("a script of its own keeps nothing")
			}
		})
	}
	if len(s.copyOf(r.session, id)) != 108894 {
		t.Error("the original has lost its copy")
	}
}

// runScriptIn lets the model run a script in a session, and returns its body.
func runScriptIn(t *testing.T, s *server, p *provider, session, code string) string {
	t.Helper()
	key := "and run this in " + session
	p.on(key, scripted(code), says("Done."))
	s.say(session, key)
	results := p.lastSent(t, key).results()
	_, body := results[len(results)-1].result(t)
	return body
}
