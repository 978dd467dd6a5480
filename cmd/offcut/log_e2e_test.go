package main_test

import (
	"strings"
	"testing"
)

func TestTheLogFollowsARequestIntoItsTurn(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("a secret wish", says("A secret answer."))
	session := s.newSession()
	turn := s.say(session, "a secret wish")
	log := s.log.String()
	line := func(words ...string) string {
		t.Helper()
		for line := range strings.Lines(log) {
			if !holdsAll(line, words) {
				continue
			}
			return line
		}
		t.Fatalf("no line of the log has %q:\n%s", words, log)
		return ""
	}
	began := line(`msg="turn began"`, turn.ID, session)
	_, rest, _ := strings.Cut(began, "request=")
	request, _, _ := strings.Cut(rest, " ")
	line("msg=request", "request="+request, "method=POST", "/messages")
	line(`msg="turn ended"`, "request="+request, turn.ID, "state=done", "model=scripted")
	if strings.Contains(log, "secret wish") || strings.Contains(log, "secret answer") {
		t.Error("the log holds what was said")
	}
}

func holdsAll(line string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return true
}
