package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"offcut/agent/agenttest"
)

// adminToken is the first admin's API token in every test.
const adminToken = "e2e-admin-token-0123456789abcdef"

// binary is the program, OFFCUT_BIN or built once in a test run: only a process
// of its own can be killed in the middle of its work.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("OFFCUT_BIN"); path != "" {
		return path, nil
	}
	path, err := filepath.Abs("../../bin/offcut-test")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// server is the running program with a fresh data folder.
type server struct {
	t    *testing.T
	url  string
	dir  string
	temp string // the temporary folder
	env  []string
	cmd  *exec.Cmd
	done chan struct{}
	log  *agenttest.Buffer
}

// start runs the program against the scripted model, with the variables env
// added. It ends with the test.
func start(t *testing.T, p *provider, env ...string) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()

	s := &server{t: t, url: "http://" + address, dir: filepath.Join(t.TempDir(), "data"), temp: t.TempDir(), log: &agenttest.Buffer{}}
	s.env = append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"TMPDIR=" + s.temp,
		"OFFCUT_ADDR=" + address,
		"OFFCUT_DATA_DIR=" + s.dir,
		"OFFCUT_ADMIN_TOKEN=" + adminToken,
		"OFFCUT_MODEL=scripted",
		"OPENAI_API_KEY=sk-e2e-secret-key",
		"OPENAI_BASE_URL=" + p.URL + "/v1",
	}, env...)
	if sandbox, set := os.LookupEnv("OFFCUT_SANDBOX"); set {
		s.env = append(s.env, "OFFCUT_SANDBOX="+sandbox)
	}
	s.launch()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("end of the server's log:\n%s", end(s.log.String(), 3000))
		}
	})
	return s
}

// launch starts the process and waits until it is ready.
func (s *server) launch() {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(path, "serve")
	s.cmd.Env, s.cmd.Dir = s.env, filepath.Dir(s.dir)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(s.cmd, s.done)
	for range 400 {
		if answer, err := http.Get(s.url + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-s.done:
			s.t.Fatalf("the program ended:\n%s", end(s.log.String(), 3000))
		case <-time.After(25 * time.Millisecond):
		}
	}
	s.t.Fatalf("the program did not become ready:\n%s", end(s.log.String(), 3000))
}

// kill is kill -9.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// terminate asks for an orderly end and waits for it.
func (s *server) terminate() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.done
}

// command runs a subcommand on the same data folder.
func (s *server) command(arguments ...string) string {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(path, arguments...)
	cmd.Env, cmd.Dir = s.env, filepath.Dir(s.dir)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("offcut %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// addUser makes a user and returns an API token of theirs.
func (s *server) addUser(name string) string {
	s.t.Helper()
	s.command("user", "add", name, "--role", "user", "--password", "correct horse battery")
	words := strings.Fields(s.command("token", "create", "--user", name))
	return words[len(words)-1]
}

// raw makes a request with any body and returns the status and the answer.
func (s *server) raw(token, method, path string, body io.Reader) (int, http.Header, []byte) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, answer.Header, data
}

// as makes a call of the API as a user and decodes its answer into out.
func (s *server) as(token, method, path string, body, out any) int {
	s.t.Helper()
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	status, _, data := s.raw(token, method, "/api/v1"+path, reader)
	if out != nil && status < 300 {
		if err := json.Unmarshal(data, out); err != nil {
			s.t.Fatalf("%s %s: %v: %.300s", method, path, err, data)
		}
	}
	return status
}

// must makes a call as the admin and fails the test where it does not succeed.
func (s *server) must(method, path string, body, out any) {
	s.t.Helper()
	if status := s.as(adminToken, method, path, body, out); status >= 300 {
		s.t.Fatalf("%s %s: status %d", method, path, status)
	}
}

// end is the last n bytes of a text.
func end(text string, n int) string { return text[max(0, len(text)-n):] }
