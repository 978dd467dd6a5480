package main_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// printsRows prints a JSON array of 3,000 rows, of which the preview shows the
// ends, and one of which has a field that no other has.
const printsRows = `awk 'BEGIN { printf "["; for (i = 1; i <= 3000; i++) printf "%s{\"id\": %d, \"name\": \"row number %d\", \"price\": 1.10%s}", (i > 1 ? "," : ""), i, i, (i == 1500 ? ", \"owner\": \"zoe\", \"serial\": 12345678901234567890" : ""); print "]" }'`

func TestAModelQueriesAKeptResult(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, "OFFCUT_APPROVAL=ask", "OFFCUT_SANDBOX=auto")
	p.on("who owns it", runs(printsRows), says("Kept."))
	session := s.newSession()
	turn := s.send(session, "who owns it")
	s.answer(s.awaits(turn), "once")
	s.settled(turn)
	kept := s.output(session)

	query := func(filter string) (map[string]any, string) {
		key := "query " + filter
		p.on(key, calls(call("query_tool_output", args{"output_id": kept.ID, "filter": filter})), says("Seen."))
		if turn := s.say(session, key); turn.State != "done" {
			t.Fatalf("%s: the turn is %s", filter, turn.State)
		}
		results := p.lastSent(t, key).results()
		return results[len(results)-1].result(t)
	}
	meta, body := query(".[] | select(.owner) | .serial, .owner, .price")
	if body != "12345678901234567890\n\"zoe\"\n1.10" || meta["truncated"] != false || meta["retention"] != "not_needed" {
		t.Errorf("%v\n%s", meta, body)
	}
	meta, body = query(".[].owner |")
	if meta["is_error"] != true || !strings.Contains(body, "at its byte") {
		t.Errorf("a wrong filter: %v %s", meta, body)
	}

	// What a query gives is shown and kept like any other result, and can be
	// queried again.
	if meta, _ = query(".[] | {id, name}"); meta["truncated"] != true || meta["output_id"] == nil || meta["output_id"] == kept.ID {
		t.Errorf("a long answer: %v", meta)
	}
	second := s.outputs(session)[1]
	if second.Tool != "query_tool_output" || !second.Complete {
		t.Errorf("the kept answer: %+v", second)
	}

	// Values made out of a copy are no bytes of it that were seen.
	if now := s.outputNamed(session, kept.ID); len(now.Coverage) != len(kept.Coverage) {
		t.Errorf("coverage was %v and is %v", kept.Coverage, now.Coverage)
	}
	page := s.signedIn("/s/" + session + "/out/" + kept.ID)
	if !strings.Contains(page, "values made from it") {
		t.Error("the page of the output does not tell of the query")
	}
}

// outputNamed is one of several outputs.
func (s *server) outputNamed(session, id string) apiOutput {
	s.t.Helper()
	for _, o := range s.outputs(session) {
		if o.ID == id {
			return o
		}
	}
	s.t.Fatalf("there is no output %s", id)
	return apiOutput{}
}

func TestAPersonQueriesAKeptResult(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("rows", runs(printsRows), says("Kept."))
	p.on("noise", runs(`for i in $(seq 3000); do echo "{\"id\": $i, \"text\": \"some text\"}"; done; echo "WARN late"`), says("Kept."))
	session := s.ask("rows")
	base := "/api/v1/sessions/" + session + "/outputs/" + s.output(session).ID + "/query?filter="
	status, _, data := s.raw(adminToken, "GET", base+url.QueryEscape(".[1499] | .serial, .price, {id}"), nil)
	if status != 200 || strings.TrimSpace(string(data)) != `{"values":[12345678901234567890,1.10,{"id":1500}]}` {
		t.Errorf("status %d: %s", status, data)
	}
	if status, _, data = s.raw(adminToken, "GET", base+url.QueryEscape("empty"), nil); status != 200 || strings.TrimSpace(string(data)) != `{"values":[]}` {
		t.Errorf("no values: status %d: %s", status, data)
	}
	var problem struct {
		Code         string
		Offset, Line int64
		FilterOffset *int64 `json:"filter_offset"`
	}
	status, _, data = s.raw(adminToken, "GET", base+url.QueryEscape(".a | | .b"), nil)
	if err := json.Unmarshal(data, &problem); err != nil || status != 422 || problem.Code != "invalid_filter" || problem.FilterOffset == nil {
		t.Errorf("a wrong filter: status %d: %s", status, data)
	}
	noisy := s.ask("noise")
	status, _, data = s.raw(adminToken, "GET", "/api/v1/sessions/"+noisy+"/outputs/"+s.output(noisy).ID+"/query?filter=.id", nil)
	if err := json.Unmarshal(data, &problem); err != nil || status != 422 || problem.Code != "not_json" || problem.Line != 3001 || problem.Offset != 100893 {
		t.Errorf("text behind the JSON: status %d: %s", status, data)
	}
	stranger := s.addUser("stranger")
	if status, _, _ = s.raw(stranger, "GET", base+".", nil); status != 404 {
		t.Errorf("another's output: status %d", status)
	}
	if status, _, _ = s.raw(adminToken, "GET", "/api/v1/sessions/"+noisy+"/outputs/"+s.output(session).ID+"/query?filter=.", nil); status != 404 {
		t.Errorf("another session's output: status %d", status)
	}
}
