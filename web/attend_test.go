package web

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"offcut/agent"
	"offcut/agent/agenttest"
	"offcut/models"
)

// What takes long does not outlive the right to it.
func TestWaitsAndDownloadsOfWhoIsShutOutAreCut(t *testing.T) {
	s := start(t)
	release := make(chan struct{})
	defer close(release)
	session, output := s.withLargeOutput()
	s.script.Then(agenttest.Blocks("Thinking", release))
	turn := s.wants(202, ann, "POST", "/sessions/"+session+"/messages", `{"content":"go"}`)["turn_id"].(string)

	waits := make(chan answer, 1)
	go func() { waits <- s.api(ann, "GET", "/turns/"+turn+"?wait=60", nil) }()
	downloads := []io.Reader{
		s.slowly(t, "/api/v1/sessions/"+session+"/outputs/"+output+"/raw", "Authorization", "Bearer "+ann+"-token"),
		s.slowly(t, "/s/"+session+"/out/"+output+"/raw", "Cookie", "offcut_session="+s.signedIn(ann).cookie("offcut_session")),
		s.slowly(t, "/s/"+session+"/out/"+output+"/raw", "Cookie", "offcut_session="+s.signedIn(ann).cookie("offcut_session"), "Upgrade", "websocket"),
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
	eventually(t, "the downloads are cut", func() bool { return strings.Count(s.log.String(), "request cut") == len(downloads) })
	for _, download := range downloads {
		if n, err := io.Copy(io.Discard, download); err == nil {
			t.Errorf("a download ended well, after %d bytes", n)
		}
	}
}

func TestADownloadOfAnAdministratorWhoIsNoneAnyMoreIsCut(t *testing.T) {
	s := start(t)
	session, output := s.withLargeOutput()
	must(t, s.store.SetRole(t.Context(), s.owner(bob), models.RoleAdmin))
	download := s.slowly(t, "/api/v1/sessions/"+session+"/outputs/"+output+"/raw", "Authorization", "Bearer "+bob+"-token")
	must(t, s.store.SetRole(t.Context(), s.owner(bob), models.RoleUser))
	eventually(t, "the download is cut", func() bool { return strings.Contains(s.log.String(), "request cut") })
	if n, err := io.Copy(io.Discard, download); err == nil {
		t.Errorf("it ended well, after %d bytes", n)
	}
}

// withLargeOutput is a session of ann's with an output of 32 MiB, more than
// connections buffer.
func (s *server) withLargeOutput() (session, output string) {
	s.t.Helper()
	session, _ = s.withOutput(lines(20))
	first := s.wants(200, ann, "GET", "/sessions/"+session+"/messages", nil)["items"].([]any)[0].(map[string]any)
	kept, err := s.keep(s.t.Context(), agent.Call{
		SessionID: session, TurnID: first["turn_id"].(string), ID: "large", Tool: "print",
	}, strings.Repeat("0123456789abcdef", 2<<20))
	s.must(err)
	return session, kept.Metadata.OutputID
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
