package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// allowing is a configuration that lets pages of the tests' own servers be
// fetched.
func allowing(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "offcut.yaml")
	if err := os.WriteFile(path, []byte("tools:\n  fetch_url:\n    allow: [127.0.0.1]\n    timeoutSeconds: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "OFFCUT_CONFIG=" + path
}

func TestAPageIsFetchedForTheModel(t *testing.T) {
	var asked atomic.Int64
	page := "<title>Menu</title><h1>Caf\xe9</h1>" + strings.Repeat("<p>a dish with a long name, and its price</p>", 3000) + "<p>the last dish"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://127.0.0.2:9/secret", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		fmt.Fprint(w, page)
	}))
	defer site.Close()
	p := newProvider(t)
	s := start(t, p, allowing(t))

	p.on("what is on the menu", calls(call("fetch_url", args{"url": site.URL + "/menu"})), says("Dishes."))
	session := s.ask("what is on the menu")
	meta, body := p.lastSent(t, "what is on the menu").results()[0].result(t)
	head := "200 OK\nURL: " + site.URL + "/menu\nContent-Type: text/html; charset=iso-8859-1\nTitle: Menu\n"
	if !strings.HasPrefix(body, head) || !strings.Contains(body, "# Café\n") || !strings.HasSuffix(body, "the last dish") || meta["truncated"] != true || meta["complete"] != true {
		t.Errorf("%v\n%.300s", meta, body)
	}
	if text := s.copyOf(session, s.output(session).ID); strings.Count(text, "a dish with a long name, and its price") != 3000 {
		t.Errorf("the kept copy has %d bytes: %.200s", len(text), text)
	}
	// The page as it came is there too.
	output := s.output(session).ID
	status, header, raw := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+session+"/outputs/"+output+"/raw", nil)
	if status != http.StatusOK || string(raw) != page || header.Get("Content-Type") != "application/octet-stream" || meta["encoding"] != "windows-1252" {
		t.Errorf("the download is %d %v, %d bytes of %d; %v", status, header, len(raw), len(page), meta)
	}
	if shown := s.signedIn("/s/" + session + "/out/" + output); !strings.Contains(shown, "text/html; charset=iso-8859-1; the download has these bytes") {
		t.Error("the output's page does not say what it was made of")
	}

	for _, address := range []string{site.URL + "/away", "http://127.0.0.2/", s.url + "/readyz?", strings.Replace(s.url, "127.0.0.1", "localhost", 1), "http://[::1]/"} {
		key := "fetch " + address
		p.on(key, calls(call("fetch_url", args{"url": address})), says("No."))
		s.ask(key)
		meta, body := p.lastSent(t, key).results()[0].result(t)
		if own := strings.HasPrefix(address, "http://127.0.0.1") && !strings.Contains(address, "away"); meta["is_error"] == own {
			t.Errorf("%s: %v\n%s", address, meta, body)
		}
		if strings.Contains(address, "away") && !strings.Contains(body, "redirects to an address that is not fetched") {
			t.Errorf("%s: %s", address, body)
		}
	}
}

func TestAFetchIsAskedAboutAndDenied(t *testing.T) {
	var asked atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer site.Close()
	p := newProvider(t)
	s := start(t, p, allowing(t), "OFFCUT_APPROVAL=ask")
	for _, decision := range []string{"deny", "once"} {
		key := "fetch it: " + decision
		p.on(key, calls(call("fetch_url", args{"url": site.URL})), says("Done."))
		turn := s.send(s.newSession(), key)
		waiting := s.awaits(turn)
		if asked.Load() != 0 || len(waiting.Pending) != 1 || waiting.Pending[0].Tool != "fetch_url" {
			t.Errorf("before the answer: %+v, %d requests", waiting.Pending, asked.Load())
		}
		s.answer(waiting, decision)
		s.settled(turn)
		meta, _ := p.lastSent(t, key).results()[0].result(t)
		if meta["approved"] != (decision == "once") || (asked.Load() == 1) != (decision == "once") {
			t.Errorf("%s: %v, %d requests", decision, meta, asked.Load())
		}
	}
}
