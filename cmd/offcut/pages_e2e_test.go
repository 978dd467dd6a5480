package main_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// readAll answers by reading the copy of the first result page after page, as
// a model does, and then says that it is done.
func readAll(t *testing.T) answerer {
	t.Helper()
	return func(r request) reply {
		results := r.results()
		first, _ := results[0].result(t)
		id := first["output_id"]
		if len(results) == 1 {
			return calls(call("read_tool_output", args{"output_id": id}))
		}
		meta, _ := results[len(results)-1].result(t)
		if meta["hasMore"] != true {
			return says("Read.")
		}
		return calls(call("read_tool_output", args{"output_id": id, "offset": meta["nextOffset"]}))
	}
}

func TestPagesThatTheModelReadsAreTheCopy(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	command := `python3 -c "print('\n'.join('line %d \"quoted\" \t é漢😀' % i for i in range(3000)), end='')"`
	p.onFunc("read it all", func(request) reply { return runs(command) }, readAll(t))
	session := s.ask("read it all")
	output := s.output(session)
	text := s.copyOf(session, output.ID)

	var joined strings.Builder
	results := p.lastSent(t, "read it all").results()
	for i, result := range results[1:] {
		meta, body := result.result(t)
		if len(body) > 4096 || meta["offset"] != float64(joined.Len()) || meta["totalBytes"] != float64(len(text)) {
			t.Fatalf("page %d of %d bytes: %v", i, len(body), meta)
		}
		joined.WriteString(body)
		last := i == len(results)-2
		if meta["nextOffset"] != float64(joined.Len()) || meta["hasMore"] != !last || meta["complete"] != true || meta["is_error"] != false || last && meta["truncated"] != false {
			t.Fatalf("page %d: %v", i, meta)
		}
	}
	if joined.String() != text {
		t.Fatalf("the pages joined have %d bytes, the copy has %d", joined.Len(), len(text))
	}
	if got := s.output(session).Coverage; len(got) != 1 || got[0] != [2]int64{0, int64(len(text))} {
		t.Errorf("after all was read the coverage is %v", got)
	}
}

func TestTheModelHasReadWhatItWasSent(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("read on after it", says("Read on."))
	for name, end := range map[string]func(turn string){
		"stopped by the user":       s.stop,
		"cut off by an orderly end": func(string) { s.terminate(); s.launch() },
	} {
		t.Run(name, func(t *testing.T) {
			p.on(name, runs("seq 1 20000; sleep 60"))
			session := s.newSession()
			turn := s.send(session, name)
			s.waitFor("the output is kept", func() bool {
				kept := s.outputs(session)
				return len(kept) == 1 && kept[0].TotalBytes > 24576
			})
			end(turn)
			s.settled(turn)
			if read := s.output(session).Coverage; len(read) != 0 {
				t.Errorf("nobody was sent it, and %v of it is read", read)
			}
			s.say(session, "read on after it")
			meta, _ := p.lastSent(t, "read on after it").results()[0].result(t)
			if shown := (run{meta: meta}).shown(t); !reflect.DeepEqual(s.output(session).Coverage, shown) || len(shown) == 0 {
				t.Errorf("%v was sent, and %v of it is read", shown, s.output(session).Coverage)
			}
		})
	}
}

func TestThePagerRefusesWhatIsNoPage(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("two-byte characters", runs("for i in $(seq 1 9000); do printf 'é%d' $i; done"), says("Done."))
	session := s.ask("two-byte characters")
	output := s.output(session)
	base := "/api/v1/sessions/" + session + "/outputs/" + output.ID

	var within struct {
		Code          string
		Before, After int64
	}
	status, _, data := s.raw(adminToken, http.MethodGet, base+"?offset=1", nil)
	decode(t, data, &within)
	if status != http.StatusBadRequest || within.Code == "" || within.Before != 0 || within.After != 2 {
		t.Errorf("inside a character: %d %s", status, data)
	}
	var past struct{ TotalBytes int64 }
	status, _, data = s.raw(adminToken, http.MethodGet, base+fmt.Sprintf("?offset=%d", output.TotalBytes+1), nil)
	decode(t, data, &past)
	if status != http.StatusBadRequest || past.TotalBytes != output.TotalBytes {
		t.Errorf("past the end: %d %s", status, data)
	}
	if page := s.page(session, output.ID, output.TotalBytes); page.Text != "" || page.HasMore || page.NextOffset != output.TotalBytes {
		t.Errorf("at the end: %+v", page)
	}
	if page := s.page(session, output.ID, output.TotalBytes-4); len(page.Text) != 4 || page.HasMore || page.NextOffset != output.TotalBytes {
		t.Errorf("just before the end: %+v", page)
	}
	for _, query := range []string{"?offset=-1", "?offset=abc", "?offset=1.5", "?offset=99999999999999999999999", "?limit=abc"} {
		if status, _, data := s.raw(adminToken, http.MethodGet, base+query, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, status, data)
		}
	}
	for query, most := range map[string]int{"?limit=0": 4, "?limit=1": 4, "?limit=1000000": 4096, "?limit=4": 4} {
		status, _, data := s.raw(adminToken, http.MethodGet, base+query, nil)
		var page apiPage
		decode(t, data, &page)
		if status != http.StatusOK || len(page.Text) > most || len(page.Text) == 0 {
			t.Errorf("%s: %d with %d bytes", query, status, len(page.Text))
		}
	}
}

func TestSearchLeadsToPages(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.onFunc("find it",
		func(request) reply { return runs("seq 1 100000") },
		func(r request) reply {
			meta, _ := r.results()[0].result(t)
			return calls(call("search_tool_output", args{"output_id": meta["output_id"], "pattern": "77777"}))
		},
		func(request) reply { return says("Found.") })
	session := s.ask("find it")
	output := s.output(session)
	text := s.copyOf(session, output.ID)

	_, body := p.lastSent(t, "find it").results()[1].result(t)
	if at := strings.Index(text, "77777\n"); !strings.Contains(body, "77777") || !strings.Contains(strings.ReplaceAll(body, ",", ""), fmt.Sprint(at)) {
		t.Errorf("the model was told %q; the hit is at %d", body, at)
	}
	found := s.search(session, output.ID, "777")
	if len(found.Matches) != 20 {
		t.Fatalf("%d matches, want the default of 20", len(found.Matches))
	}
	for _, match := range found.Matches {
		if !strings.HasPrefix(text[match.Offset:], "777") || !strings.Contains(match.Text, "777") {
			t.Errorf("%+v is no hit", match)
		}
		if line := int64(strings.Count(text[:match.Offset], "\n")) + 1; line != match.Line {
			t.Errorf("%+v stands in line %d", match, line)
		}
		if page := s.page(session, output.ID, match.Offset); !strings.HasPrefix(page.Text, "777") {
			t.Errorf("the page at %d begins with %.20q", match.Offset, page.Text)
		}
	}
	var byPattern apiMatches
	s.must(http.MethodGet, "/sessions/"+session+"/outputs/"+output.ID+"/search?q=^9999.$&regexp=true&max=5", nil, &byPattern)
	if len(byPattern.Matches) != 5 || byPattern.Matches[0].Text != "99990" {
		t.Errorf("%+v", byPattern)
	}
	if status, _, data := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+session+"/outputs/"+output.ID+"/search?q=(&regexp=true", nil); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		t.Errorf("a pattern that is none: %d %s", status, data)
	}
}

func TestReadingMakesNoCopy(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.onFunc("quotes and newlines",
		func(request) reply { return runs(`for i in $(seq 1 20000); do printf '"\n'; done`) },
		func(r request) reply {
			meta, _ := r.results()[0].result(t)
			id := meta["output_id"]
			return calls(call("read_tool_output", args{"output_id": id}), call("read_tool_output", args{"output_id": id, "offset": 4096}))
		},
		func(request) reply { return says("Read.") })
	session := s.ask("quotes and newlines")
	for _, result := range p.lastSent(t, "quotes and newlines").results()[1:] {
		if meta, body := result.result(t); meta["retention"] != "not_needed" || len(body) != 4096 {
			t.Errorf("a page of %d bytes: %v", len(body), meta)
		}
	}
	s.output(session) // exactly one
}

func TestAnOutputIsFoundOnlyInItsSession(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("keep something", runs("seq 1 20000"), says("Kept."))
	session := s.ask("keep something")
	id := s.output(session).ID
	other := s.newSession()
	var fork struct {
		ID         string `json:"id"`
		ForkedFrom string `json:"forked_from"`
	}
	s.must(http.MethodPost, "/sessions/"+session+"/fork", map[string]any{}, &fork)
	if fork.ForkedFrom != session {
		t.Errorf("forked_from %q", fork.ForkedFrom)
	}
	if copied := s.messages(fork.ID, false); len(copied) != len(s.messages(session, false)) {
		t.Errorf("the fork has %d messages", len(copied))
	}

	answers := map[string]bool{}
	for _, where := range []string{other, fork.ID} {
		for _, wanted := range []string{id, "out_neverwas"} {
			key := "read " + wanted + " in " + where
			p.on(key, calls(call("read_tool_output", args{"output_id": wanted})), says("Tried."))
			if turn := s.say(where, key); turn.State != "done" {
				t.Fatalf("%s: %s", turn.State, turn.Error)
			}
			results := p.lastSent(t, key).results()
			meta, body := results[len(results)-1].result(t)
			if meta["is_error"] != true || !strings.Contains(strings.ToLower(body), "no such output in this session") {
				t.Errorf("%s: %v %q", key, meta, body)
			}
			answers[strings.ReplaceAll(body, wanted, "ID")] = true
			for _, path := range []string{"", "/raw", "/search?q=1"} {
				if status, _, _ := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+where+"/outputs/"+wanted+path, nil); status != http.StatusNotFound {
					t.Errorf("%s%s: %d", wanted, path, status)
				}
			}
		}
	}
	if len(answers) != 1 {
		t.Errorf("foreign and unknown ids are told apart: %v", answers)
	}
	stranger := s.addUser("stranger")
	for _, path := range []string{"", "/messages", "/outputs", "/outputs/" + id, "/outputs/" + id + "/raw"} {
		if status, _, _ := s.raw(stranger, http.MethodGet, "/api/v1/sessions/"+session+path, nil); status != http.StatusNotFound {
			t.Errorf("a stranger gets %d for %s", status, path)
		}
	}
}
