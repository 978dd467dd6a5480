package web

import (
	"strings"
	"testing"

	"offcut/agent/agenttest"
)

// The answer is checked against its description as every other is.
func TestATurnTellsOnWhatItsAnswerRests(t *testing.T) {
	s := start(t)
	id, output := s.withOutput(lines(1000))
	turn := s.wants(200, ann, "GET", "/sessions/"+id+"/messages", nil)["items"].([]any)[0].(map[string]any)["turn_id"].(string)
	rests := func(turn string) map[string]any {
		t.Helper()
		list := s.wants(200, ann, "GET", "/turns/"+turn, nil)["rests_on"].([]any)
		if len(list) != 1 {
			t.Fatalf("the answer rests on %v", list)
		}
		return list[0].(map[string]any)
	}
	first := rests(turn)
	if first["output_id"] != output || first["earlier"] != false || first["seen_bytes"].(float64) >= first["total_bytes"].(float64) {
		t.Errorf("it rests on %v", first)
	}
	s.wants(404, bob, "GET", "/turns/"+turn, nil)

	// Another version of the turn stands on what it was sent itself.
	s.script.Then(agenttest.Says("Without a look."))
	again := s.wants(202, ann, "POST", "/turns/"+turn+"/retry", nil)["turn_id"].(string)
	if list := s.wants(200, ann, "GET", "/turns/"+again+"?wait=20", nil)["rests_on"].([]any); len(list) != 0 {
		t.Errorf("a version that ran nothing rests on %v", list)
	}
	rests(turn)
	if page := s.signedIn(ann).get("/s/" + id); strings.Contains(string(page.body), "answer-coverage") {
		t.Error("the version on the page rests on nothing, and has a line")
	}
}
