package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listing is a page of a folder as the API has it.
type listing struct {
	Items []struct {
		Name, Path, Kind string
		Size             *int64
	}
	Next *string `json:"next_cursor"`
}

// put uploads a file and returns the status and the code of a refusal.
func (s *server) put(token, session, path string, content io.Reader) (int, string) {
	s.t.Helper()
	status, _, body := s.raw(token, "PUT", "/api/v1/sessions/"+session+"/files/"+path, content)
	var problem struct{ Code string }
	_ = json.Unmarshal(body, &problem)
	return status, problem.Code
}

func (s *server) sessionOf(token string) string {
	s.t.Helper()
	var session struct{ ID string }
	if status := s.as(token, "POST", "/sessions", args{}, &session); status != http.StatusCreated {
		s.t.Fatalf("make a session: %d", status)
	}
	return session.ID
}

func TestAFileGoesIntoTheWorkspaceAndComesBack(t *testing.T) {
	s := start(t, newProvider(t))
	session := s.sessionOf(adminToken)
	content := bytes.Repeat([]byte("\x00\xff<script>"), 300_000)
	name := "new folder/naïve \"<b>\u4e2d.html"
	address := (&url.URL{Path: name}).EscapedPath()
	for range 2 { // the second takes the place of the first
		if status, code := s.put(adminToken, session, address, bytes.NewReader(content)); status != http.StatusNoContent {
			t.Fatalf("status %d %s", status, code)
		}
	}
	status, header, got := s.raw(adminToken, "GET", "/api/v1/sessions/"+session+"/files/"+address, nil)
	if status != http.StatusOK || !bytes.Equal(got, content) {
		t.Fatalf("status %d, %d bytes of %d", status, len(got), len(content))
	}
	for name, want := range map[string]string{
		"Content-Type":            "application/octet-stream",
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox",
		"Content-Disposition":     "attachment; filename=\"na_ve _<b>_.html\"; filename*=utf-8''na%C3%AFve%20%22%3Cb%3E%E4%B8%AD.html",
	} {
		if header.Get(name) != want {
			t.Errorf("%s: %s", name, header.Get(name))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.workspace(session), "*", ".offcut-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAPathLeadsNowhereButIntoTheWorkspace(t *testing.T) {
	s := start(t, newProvider(t))
	session := s.sessionOf(adminToken)
	if status, _ := s.put(adminToken, session, "plain.txt", strings.NewReader("plain")); status != http.StatusNoContent {
		t.Fatal(status)
	}
	folder := s.workspace(session)
	outside := filepath.Join(t.TempDir(), "outside.txt")
	for _, err := range []error{
		os.WriteFile(outside, []byte("SECRET"), 0o600),
		os.WriteFile(filepath.Join(folder, ".env"), []byte("SECRET"), 0o600),
		os.Symlink(".env", filepath.Join(folder, "notes.txt")),
		os.Symlink(outside, filepath.Join(folder, "out.txt")),
		os.Symlink(filepath.Dir(outside), filepath.Join(folder, "out")),
		os.Symlink("nothing", filepath.Join(folder, "dangling")),
		os.Symlink("loop", filepath.Join(folder, "loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"../../../offcut.db", "..%2f..%2foffcut.db", "%2e%2e/%2e%2e/offcut.db", "a/../../plain.txt", "a/%2e%2e/%2e%2e/x",
		"%2fetc%2fpasswd", "/etc/passwd", "//etc/passwd", "plain.txt%00.png", "%00", "./x", "a//b", "%c3%28", "%252e%252e/x",
		"out.txt", "out/outside.txt", "notes.txt", "dangling", "loop", ".env", "sub/.ssh/id_rsa", "x.pem", ".offcut-1",
		strings.Repeat("n", 300), strings.Repeat("d/", 3000) + "x", "plain.txt/below", "new%0aline.txt", "%e2%80%aetxt.exe",
	} {
		for _, method := range []string{"GET", "PUT"} {
			status, code := s.request(session, method, path)
			fine := method == "PUT" && path == "%252e%252e/x" // a folder named %2e%2e, within the workspace
			if !fine && (status < 400 || status > 499) {
				t.Errorf("%s %.60s: %d %s", method, path, status, code)
			}
		}
	}
	if raw, err := os.ReadFile(outside); string(raw) != "SECRET" {
		t.Errorf("the file outside: %q %v", raw, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(outside)); len(entries) != 1 {
		t.Errorf("made outside: %v", entries)
	}
}

// request sends a path as it stands, which a client would clean up.
func (s *server) request(session, method, path string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url, strings.NewReader("x"))
	if err != nil {
		s.t.Fatal(err)
	}
	r.URL.Opaque = strings.TrimPrefix(s.url, "http:") + "/api/v1/sessions/" + session + "/files/" + path
	r.Header.Set("Authorization", "Bearer "+adminToken)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %.60s: %v", method, path, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	if bytes.Contains(body, []byte("SECRET")) || bytes.Contains(body, []byte(s.dir)) {
		s.t.Errorf("%s %.60s tells: %.200s", method, path, body)
	}
	var problem struct{ Code string }
	_ = json.Unmarshal(body, &problem)
	return answer.StatusCode, problem.Code
}

func TestAnothersFilesAreNotThere(t *testing.T) {
	s := start(t, newProvider(t))
	ann, bob := s.addUser("ann"), s.addUser("bob")
	session := s.sessionOf(ann)
	if status, _ := s.put(ann, session, "hers.txt", strings.NewReader("hers")); status != http.StatusNoContent {
		t.Fatal(status)
	}
	for _, path := range []string{"", "/", "/hers.txt", "/none.txt"} {
		if status := s.as(bob, "GET", "/sessions/"+session+"/files"+path, nil, nil); status != http.StatusNotFound {
			t.Errorf("bob reads %q: %d", path, status)
		}
	}
	if status, code := s.put(bob, session, "hers.txt", strings.NewReader("his")); status != http.StatusNotFound {
		t.Errorf("bob writes: %d %s", status, code)
	}
	if status, _, body := s.raw(adminToken, "GET", "/api/v1/sessions/"+session+"/files/hers.txt", nil); status != http.StatusOK || string(body) != "hers" {
		t.Errorf("an admin reads: %d %s", status, body)
	}
	if status, code := s.put(adminToken, session, "hers.txt", strings.NewReader("theirs")); status != http.StatusForbidden || code != "read_only" {
		t.Errorf("an admin writes: %d %s", status, code)
	}
	if status, _, _ := s.raw(ann, "GET", "/api/v1/sessions/"+session+"/files/none.txt", nil); status != http.StatusNotFound {
		t.Errorf("a file that is not there: %d", status)
	}
}

func TestAFolderIsListedByPages(t *testing.T) {
	s := start(t, newProvider(t))
	session := s.sessionOf(adminToken)
	s.put(adminToken, session, "zz/deep.txt", strings.NewReader("deep"))
	folder := s.workspace(session)
	for i := range 450 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%03d", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	cursor := ""
	for {
		var page listing
		s.must("GET", "/sessions/"+session+"/files?limit=200&cursor="+cursor, nil, &page)
		for _, f := range page.Items {
			names = append(names, f.Name)
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	if len(names) != 451 || names[0] != "zz" || names[1] != "f000" || names[450] != "f449" {
		t.Errorf("%d names, from %q to %q", len(names), names[0], names[len(names)-1])
	}
	var deep listing
	s.must("GET", "/sessions/"+session+"/files/zz/", nil, &deep)
	if len(deep.Items) != 1 || deep.Items[0].Path != "zz/deep.txt" || *deep.Items[0].Size != 4 {
		t.Errorf("the folder holds %+v", deep.Items)
	}
	if status := s.as(adminToken, "GET", "/sessions/"+session+"/files?cursor=nonsense", nil, nil); status != http.StatusBadRequest {
		t.Errorf("an unknown cursor: %d", status)
	}
	if status := s.as(adminToken, "DELETE", "/sessions/"+session+"/files/zz", nil, nil); status != http.StatusNoContent {
		t.Errorf("delete a folder: %d", status)
	}
	if _, err := os.Stat(filepath.Join(folder, "zz")); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestUploadsAreBounded(t *testing.T) {
	s := start(t, newProvider(t), withSettings(t, "limits:\n  uploadBytes: 1000000\n  storagePerUserBytes: 3000000\n"))
	session := s.sessionOf(adminToken)
	huge := strings.Repeat("x", 1_000_001)
	for name, body := range map[string]io.Reader{"announced": strings.NewReader(huge), "not announced": io.MultiReader(strings.NewReader(huge))} {
		if status, code := s.put(adminToken, session, "huge", body); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
	most := huge[:1_000_000]
	for i := range 3 {
		if status, code := s.put(adminToken, session, fmt.Sprintf("f%d", i), strings.NewReader(most)); status != http.StatusNoContent {
			t.Fatalf("file %d: %d %s", i, status, code)
		}
	}
	for name, body := range map[string]io.Reader{"announced": strings.NewReader("one more"), "not announced": io.MultiReader(strings.NewReader("one more"))} {
		if status, code := s.put(adminToken, session, "over", body); status != http.StatusRequestEntityTooLarge || code != "storage_quota" {
			t.Errorf("over the quota, %s: %d %s", name, status, code)
		}
	}
	if status, code := s.put(adminToken, session, "f0", strings.NewReader(most)); status != http.StatusNoContent {
		t.Errorf("as large as before: %d %s", status, code)
	}
	if status := s.as(adminToken, "DELETE", "/sessions/"+session+"/files/f0", nil, nil); status != http.StatusNoContent {
		t.Fatal(status)
	}
	if status, code := s.put(adminToken, session, "over", strings.NewReader("one more")); status != http.StatusNoContent {
		t.Errorf("after room was made: %d %s", status, code)
	}
	entries, _ := os.ReadDir(s.workspace(session))
	if len(entries) != 3 {
		t.Errorf("the workspace holds %v", entries)
	}
}

// An upload that breaks off leaves what was there.
func TestABrokenUploadChangesNothing(t *testing.T) {
	s := start(t, newProvider(t))
	session := s.sessionOf(adminToken)
	s.put(adminToken, session, "kept.txt", strings.NewReader("as it was"))
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		_ = w.CloseWithError(io.ErrUnexpectedEOF)
	}()
	req, err := http.NewRequest("PUT", s.url+"/api/v1/sessions/"+session+"/files/kept.txt", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	if answer, err := http.DefaultClient.Do(req); err == nil {
		_ = answer.Body.Close()
		t.Fatal("the request came to its end")
	}
	folder := s.workspace(session)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		entries, _ := os.ReadDir(folder)
		if len(entries) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the workspace holds %v", entries)
		}
	}
	if raw, _ := os.ReadFile(filepath.Join(folder, "kept.txt")); string(raw) != "as it was" {
		t.Errorf("it is %.20q", raw)
	}
}
