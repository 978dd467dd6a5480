package main_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secretKey = "sk-e2e-secret-key"

// dumps are the files about refused requests.
func (s *server) dumps() []string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.temp, "offcut-*", "*.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func TestARefusedRequestIsWrittenDownWithoutTheKey(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("the key is", reply{status: 400, message: "cannot read “" + secretKey + "” or " + url.QueryEscape(adminToken)})
	session := s.newSession()
	turn := s.say(session, "the key is "+secretKey+", is it not?")
	if turn.State != "error" || turn.ErrorCode != "provider_refused" {
		t.Fatalf("the turn is %+v", turn)
	}

	files := s.dumps()
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	for path, want := range map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var dump struct {
		About struct {
			SessionID string `json:"session_id"`
			TurnID    string `json:"turn_id"`
			Status    int    `json:"status"`
		} `json:"about"`
		Answer   string         `json:"answer"`
		Model    map[string]any `json:"model"`
		Messages []sentMessage  `json:"messages"`
	}
	if err := json.Unmarshal(data, &dump); err != nil {
		t.Fatal(err)
	}
	if dump.About.SessionID != session || dump.About.TurnID != turn.ID || dump.About.Status != 400 {
		t.Errorf("it is about %+v", dump.About)
	}
	if last := dump.Messages[len(dump.Messages)-1]; last.Content != "the key is [redacted], is it not?" {
		t.Errorf("the message is %q", last.Content)
	}
	if !strings.Contains(dump.Answer, "cannot read “[redacted]” or [redacted]") || dump.Model["name"] != "scripted" || dump.Model["baseURL"] != p.URL+"/v1" {
		t.Errorf("answer %q of %v", dump.Answer, dump.Model)
	}

	log := s.log.String()
	if !strings.Contains(log, files[0]) {
		t.Error("the log does not name the file")
	}
	for _, secret := range []string{secretKey, adminToken} {
		if strings.Contains(log, secret) || strings.Contains(string(data), secret) {
			t.Errorf("%q is in the log or in the file", secret)
		}
	}
}

func TestTheRequestThatWasTooLongIsWrittenDown(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("too much", reply{status: 400, message: "This model's maximum context length is 10 tokens."})
	if turn := s.say(s.newSession(), "too much"); turn.ErrorCode != "context_overflow" {
		t.Fatalf("the turn is %+v", turn)
	}
	if files := s.dumps(); len(files) == 0 {
		t.Error("nothing was written")
	}
}

func TestATurnEndsAsItShouldWhereNothingCanBeWrittenDown(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, "TMPDIR=/nowhere/at/all")
	p.on("refuse me", reply{status: 400, message: "No."})
	if turn := s.say(s.newSession(), "refuse me"); turn.State != "error" || turn.ErrorCode != "provider_refused" {
		t.Errorf("the turn is %+v", turn)
	}
	s.waitFor("the log to say so", func() bool { return strings.Contains(s.log.String(), "could not be written down") })
}
