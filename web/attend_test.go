package web

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
)

// What takes long does not outlive the right to it.
func TestWaitsAndDownloadsOfWhoIsShutOutAreCut(t *testing.T) {
	s := start(t)
	release := make(chan struct{})
	defer close(release)
	session, _ := s.withOutput(lines(20))
	kept, err := s.keep(t.Context(), agent.Call{
		SessionID: session, TurnID: s.wants(200, ann, "GET", "/sessions/"+session+"/messages", nil)["items"].([]any)[0].(map[string]any)["turn_id"].(string),
		ID: "large", Tool: "print",
	}, strings.Repeat("0123456789abcdef", 2<<20)) // more than connections buffer
	must(t, err)
	output := kept.Metadata.OutputID
	s.script.Then(agenttest.Blocks("Thinking", release))
	turn := s.wants(202, ann, "POST", "/sessions/"+session+"/messages", `{"content":"go"}`)["turn_id"].(string)

	waits := make(chan answer, 1)
	go func() { waits <- s.api(ann, "GET", "/turns/"+turn+"?wait=60", nil) }()
	downloads := []io.Reader{
		s.slowly(t, "/api/v1/sessions/"+session+"/outputs/"+output+"/raw", "Authorization", "Bearer "+ann+"-token"),
		s.slowly(t, "/s/"+session+"/out/"+output+"/raw", "Cookie", "offcut_session="+s.signedIn(ann).cookie("offcut_session")),
	}
	must(t, s.store.SetDisabled(t.Context(), s.owner(ann), true))
	if a := <-waits; a.status != 401 {
		t.Errorf("the wait: %d %s", a.status, clip(a.body))
	}
	ends := make(chan struct{})
	s.script.Then(agenttest.Blocks("Thinking", ends))
	turn = s.wants(202, bob, "POST", "/sessions/"+s.newSession(bob)+"/messages", `{"content":"go"}`)["turn_id"].(string)
	go func() { waits <- s.api(bob, "GET", "/turns/"+turn+"?wait=60", nil) }()
	must(t, s.store.SetDisabled(t.Context(), s.owner(bob), true))
	close(ends) // before anybody looks
	if a := <-waits; a.status != 401 {
		t.Errorf("the wait for a turn that ended: %d %s", a.status, clip(a.body))
	}
	eventually(t, "both downloads are cut", func() bool { return strings.Count(s.log.String(), "request cut") == len(downloads) })
	for _, download := range downloads {
		if n, err := io.Copy(io.Discard, download); err == nil {
			t.Errorf("a download ended well, after %d bytes", n)
		}
	}
}

// slowly begins a download and reads nothing of it.
func (s *server) slowly(t *testing.T, path string, header ...string) io.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url(path), nil)
	must(t, err)
	r.Header.Set(header[0], header[1])
	res, err := s.Client().Do(r)
	must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 {
		t.Fatalf("%s: %d", path, res.StatusCode)
	}
	return res.Body
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
