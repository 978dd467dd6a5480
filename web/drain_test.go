package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Most plain clients write all of a request before they read its answer.
func TestClientsThatWriteAllBeforeTheyReadSeeTheRefusal(t *testing.T) {
	s := start(t)
	for _, tt := range []struct {
		name, path, token string
		bytes, status     int
		want              string
	}{
		{"9 MiB", "/api/v1/sessions", adminToken, 9 << 20, 413, `"limit":8388608`},
		{"30 MiB", "/api/v1/sessions", adminToken, 30 << 20, 413, `"code":"body_too_large"`},
		{"2 MiB without a right token", "/api/v1/sessions", "wrong", 2 << 20, 401, `"code":"unauthorized"`},
		{"2 MiB to nowhere", "/api/v1/nothing", adminToken, 2 << 20, 404, `"code":"not_found"`},
		{"a form of 9 MiB", "/login", "", 9 << 20, 413, "4194304 bytes"},
	} {
		head := "POST " + tt.path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.URL, "http://") +
			"\r\nContent-Type: application/x-www-form-urlencoded\r\nAuthorization: Bearer " + tt.token + "\r\n"
		body := strings.Repeat("a", tt.bytes)
		for kind, request := range map[string]string{
			"announced": fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body),
			"in chunks": fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body),
		} {
			t.Run(tt.name+" "+kind, func(t *testing.T) {
				conn := s.dial()
				if _, err := io.WriteString(conn, request); err != nil {
					t.Fatal(err)
				}
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				must(t, err)
				defer func() { _ = answer.Body.Close() }()
				text, err := io.ReadAll(answer.Body)
				must(t, err)
				if answer.StatusCode != tt.status || !strings.Contains(string(text), tt.want) {
					t.Errorf("%d %.300s", answer.StatusCode, text)
				}
			})
		}
	}
}

// Whether its length was announced or not, what is too long for a file is refused as
// one.
func TestAnUploadOverItsBoundSaysWhatAFileMayHave(t *testing.T) {
	s := start(t, with(func(c *Config) { c.Handlers.UploadBytes = 1000 }))
	for name, body := range map[string]io.Reader{
		"announced": strings.NewReader(strings.Repeat("a", 2000)),
		"in chunks": io.MultiReader(strings.NewReader(strings.Repeat("a", 2000))),
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url("/api/v1/import"), body)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+ann+"-token")
		if p := do(t, s.Client(), r).json(t); p["status"] != 413.0 || p["code"] != "upload_too_large" || p["limit"] != 1000.0 {
			t.Errorf("%s: %v", name, p)
		}
	}
}

func TestABodyWithoutEndIsNotReadForEver(t *testing.T) {
	conn := start(t).dial()
	_, err := io.WriteString(conn, "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
	must(t, err)
	block := make([]byte, 1<<20)
	for sent := 0; sent < 2*maxDrain; sent += len(block) {
		if _, err := conn.Write(block); err != nil {
			return
		}
	}
	t.Errorf("all of %d bytes were taken in", 2*maxDrain)
}

// dial is a bare connection to the server.
func (s *server) dial() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	s.must(err)
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}
