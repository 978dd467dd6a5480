package main_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// composer is the first admin's browser with a message that is not sent yet.
type composer struct {
	*http.Client
	s    *server
	csrf string
}

func (s *server) composer() *composer {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &composer{s: s, Client: &http.Client{Jar: jar}}
	answer, err := c.Get(s.url + "/login?token=" + adminToken)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = answer.Body.Close()
	for _, cookie := range jar.Cookies(answer.Request.URL) {
		if cookie.Name == "offcut_csrf" {
			c.csrf = cookie.Value
		}
	}
	return c
}

func (c *composer) post(path, contentType string, body io.Reader) int {
	c.s.t.Helper()
	r, err := http.NewRequestWithContext(c.s.t.Context(), http.MethodPost, c.s.url+path, body)
	if err != nil {
		c.s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("X-CSRF-Token", c.csrf)
	answer, err := c.Do(r)
	if err != nil {
		c.s.t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func (c *composer) upload(id, name string) {
	c.s.t.Helper()
	if status := c.post("/uploads?client_id="+id+"&name="+name, "application/octet-stream", strings.NewReader("the file "+name)); status != 200 {
		c.s.t.Fatalf("%s: %d", name, status)
	}
}

func (c *composer) send(id, content string, files ...string) int {
	c.s.t.Helper()
	form := url.Values{"content": {content}, "client_id": {id}, "attachment": files}
	return c.post("/sessions", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// listed are the sessions that there are, and the files of the first.
func (s *server) listed() (sessions int, files []string) {
	s.t.Helper()
	var list, content struct {
		Items []struct{ ID, Path string }
	}
	s.must(http.MethodGet, "/sessions", nil, &list)
	if len(list.Items) > 0 {
		s.must(http.MethodGet, "/sessions/"+list.Items[0].ID+"/files", nil, &content)
	}
	for _, file := range content.Items {
		files = append(files, file.Path)
	}
	return len(list.Items), files
}

// A first message that is refused leaves no session behind, and what was uploaded
// for it and is not sent with it leaves no file.
func TestAFirstMessageThatIsRefusedLeavesNothingBehind(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("with both", says("Thanks."))
	p.on("without it", says("Fine."))
	c := s.composer()
	c.upload("first", "report.txt")
	c.upload("first", "notes.txt")
	if status := c.send("first", strings.Repeat("x", 1<<20+1), "report.txt", "notes.txt"); status != http.StatusRequestEntityTooLarge {
		t.Fatalf("a message that is too long: %d", status)
	}
	if n, _ := s.listed(); n != 0 || strings.Contains(s.signedIn("/history"), "/s/ses_") {
		t.Errorf("%d sessions are listed", n)
	}
	if status := c.send("first", "with both", "report.txt", "notes.txt"); status != 200 {
		t.Errorf("sent again: %d", status)
	}
	if n, files := s.listed(); n != 1 || strings.Join(files, " ") != "notes.txt report.txt" {
		t.Errorf("%d sessions, the files %q", n, files)
	}

	c.upload("second", "taken-away.txt")
	c.upload("second", "kept.txt")
	if status := c.send("second", "without it", "kept.txt"); status != 200 {
		t.Errorf("sent without one of the files: %d", status)
	}
	if n, files := s.listed(); n != 2 || strings.Join(files, " ") != "kept.txt" {
		t.Errorf("%d sessions, the files %q", n, files)
	}
}

// What was uploaded for a message that was given up makes room for what is uploaded
// for another. Who sends it after all is told what is missing, and can upload it again.
func TestAnotherFirstUploadDropsWhatWasGivenUp(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("after all", says("Welcome back."))
	c := s.composer()
	c.upload("given-up", "old.txt")
	if _, err := s.database().Exec("UPDATE sessions SET created_at = created_at - 2 * 3600 * 1000000"); err != nil {
		t.Fatal(err)
	}
	c.upload("given-up", "older.txt")
	if n := s.folders(); n != 1 {
		t.Errorf("%d folders after a second file of the same message", n)
	}
	c.upload("another", "new.txt")
	c.upload("a-third", "newer.txt")
	if n := s.folders(); n != 2 {
		t.Errorf("%d folders, of two messages that are not an hour old", n)
	}
	if status := c.send("given-up", "after all", "old.txt"); status != http.StatusNotFound {
		t.Errorf("sent with a file that is gone: %d", status)
	}
	c.upload("given-up", "old.txt")
	if status := c.send("given-up", "after all", "old.txt"); status != 200 {
		t.Errorf("sent with the file uploaded again: %d", status)
	}
	if n, files := s.listed(); n != 1 || strings.Join(files, " ") != "old.txt" {
		t.Errorf("%d sessions, the files %q", n, files)
	}
}

// folders is how many workspaces there are.
func (s *server) folders() int {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "workspaces", "*", "ses_*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found)
}
