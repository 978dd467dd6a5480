package main_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// picture is a PNG of that size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// attach uploads files and sends a message with them.
func (s *server) attach(session, content string, files map[string][]byte, order ...string) string {
	s.t.Helper()
	for name, data := range files {
		if status, code := s.put(adminToken, session, name, bytes.NewReader(data)); status != http.StatusNoContent {
			s.t.Fatalf("%s: %d %s", name, status, code)
		}
	}
	var sent struct {
		TurnID string `json:"turn_id"`
	}
	s.must("POST", "/sessions/"+session+"/messages", args{"content": content, "attachments": order}, &sent)
	s.settled(sent.TurnID)
	return sent.TurnID
}

func seeing(t *testing.T, p *provider) string {
	return withSettings(t, fmt.Sprintf("models:\n  - name: sees\n    baseURL: %s/v1\n    images: true\n", p.URL))
}

// asked are the user's messages of the last request.
func asked(p *provider, t *testing.T, key string) []sentMessage {
	t.Helper()
	var said []sentMessage
	for _, m := range p.lastSent(t, key).Messages {
		if m.Role == "user" {
			said = append(said, m)
		}
	}
	return said
}

func TestAModelThatTakesImagesIsShownThem(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, seeing(t, p), "OFFCUT_MODEL=sees", "OPENAI_BASE_URL=")
	p.on("what is on it", says("A picture."))
	p.on("and now", says("Still there."))
	p.on("once more", says("Gone."))
	session := s.newSession()
	small := picture(t, 20, 10)
	files := map[string][]byte{
		"shot.png": small, "not a picture.png": []byte("<svg onload=alert(1)>"), "wide.png": picture(t, 8001, 1),
		"notes.txt": []byte("plain"), "cut.png": small[:40],
	}
	s.attach(session, "what is on it", files, "shot.png", "not a picture.png", "wide.png", "notes.txt", "cut.png")
	said := asked(p, t, "what is on it")[0]
	if want := "data:image/png;base64," + base64.StdEncoding.EncodeToString(small); len(said.Images) != 1 || said.Images[0] != want {
		t.Errorf("%d pictures were sent: %.60q", len(said.Images), said.Images)
	}
	for _, line := range []string{
		"what is on it\n\n[Files that the user sent with this message. They lie in the workspace:",
		`- "shot.png" (image/png, ` + fmt.Sprint(len(small)) + ` bytes): shown to you with this message`,
		`- "notes.txt" (text/plain, 5 bytes)` + "\n",
		`- "wide.png" (image/png, `, "8000 pixels a side",
	} {
		if !strings.Contains(said.Content, line) {
			t.Errorf("the model is not told %q:\n%s", line, said.Content)
		}
	}
	if strings.Contains(said.Content, "image/svg") {
		t.Errorf("a document with scripts is told to be a picture:\n%s", said.Content)
	}

	s.say(session, "and now")
	if said := asked(p, t, "and now"); len(said[0].Images) != 1 {
		t.Errorf("on the next turn %d pictures are sent", len(said[0].Images))
	}
	if err := os.WriteFile(filepath.Join(s.workspace(session), "shot.png"), picture(t, 30, 30), 0o600); err != nil {
		t.Fatal(err)
	}
	s.say(session, "once more")
	if said := asked(p, t, "once more"); len(said[0].Images) != 0 || !strings.Contains(said[0].Content, "changed since") {
		t.Errorf("after it was changed: %d pictures, %s", len(said[0].Images), said[0].Content)
	}
}

func TestAMessageKeepsItsAttachments(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("only.txt", says("A file alone."))
	p.on("in other words", says("I have it still."))
	session := s.newSession()
	turn := s.attach(session, "", map[string][]byte{"only.txt": []byte("x")}, "only.txt")
	if said := asked(p, t, "only.txt")[0]; !strings.HasPrefix(said.Content, "[Files that the user sent") {
		t.Errorf("the model is told %q", said.Content)
	}
	var list struct {
		Items []struct {
			ID, Role    string
			Attachments []struct {
				Path, Type string
				Size       int64
			}
		}
	}
	s.must("GET", "/sessions/"+session+"/messages", nil, &list)
	first := list.Items[0]
	if len(first.Attachments) != 1 || first.Attachments[0].Path != "only.txt" || first.Attachments[0].Size != 1 || list.Items[1].Attachments == nil {
		t.Errorf("the messages are %+v", list.Items)
	}
	var titled struct{ Title string }
	s.must("GET", "/sessions/"+session, nil, &titled)
	if titled.Title != "only.txt" {
		t.Errorf("the title is %q", titled.Title)
	}

	var edited struct {
		TurnID string `json:"turn_id"`
	}
	s.must("POST", "/sessions/"+session+"/messages/"+first.ID+"/edit", args{"content": "in other words"}, &edited)
	s.settled(edited.TurnID)
	if said := asked(p, t, "in other words")[0]; !strings.Contains(said.Content, `"only.txt"`) {
		t.Errorf("after an edit the model is told %q", said.Content)
	}
	s.must("POST", "/turns/"+turn+"/retry", nil, &edited)
	s.settled(edited.TurnID)
	var fork struct{ ID string }
	s.must("POST", "/sessions/"+session+"/fork", args{}, &fork)
	s.say(fork.ID, "in other words")
	if said := asked(p, t, "in other words"); !strings.Contains(said[0].Content, `"only.txt"`) {
		t.Errorf("in a fork the model is told %q", said[0].Content)
	}
	if _, err := os.Stat(filepath.Join(s.workspace(fork.ID), "only.txt")); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeAttachedIsRefused(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	session := s.newSession()
	s.put(adminToken, session, "folder/x", strings.NewReader("x"))
	many := make([]string, 21)
	for name, test := range map[string]struct {
		files  []string
		status int
	}{
		"not there": {[]string{"none"}, http.StatusNotFound}, "a folder": {[]string{"folder"}, http.StatusUnprocessableEntity},
		"outside": {[]string{"../../offcut.db"}, http.StatusBadRequest}, "too many": {many, http.StatusUnprocessableEntity},
		"neither text nor files": {nil, http.StatusUnprocessableEntity},
	} {
		if status := s.as(adminToken, "POST", "/sessions/"+session+"/messages", args{"content": " ", "attachments": test.files}, nil); status != test.status {
			t.Errorf("%s: %d, want %d", name, status, test.status)
		}
	}
}
