package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestACommandReachesNothingOfTheServer(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("leave a file behind", runs("echo not-for-others > mine.txt"), says("Written."))
	other := s.ask("leave a file behind")
	others := filepath.Join(s.workspace(other), "mine.txt")
	database := filepath.Join(s.dir, "offcut.db")
	port := s.url[strings.LastIndex(s.url, ":")+1:]

	for _, test := range []struct{ name, command, never string }{
		{"its environment", "env; cat /proc/1/environ /proc/self/environ /proc/$PPID/environ | tr '\\0' '\\n'", "secret"},
		{"its token", "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'", adminToken},
		{"its database", "head -c 15 " + database, "SQLite"},
		{"its database by a link", "ln -s " + database + " l; head -c 15 l", "SQLite"},
		{"another's workspace", "cat " + others + "; cat ../*/mine.txt; find / -name mine.txt -exec cat {} + 2>/dev/null", "not-for-others"},
		{"its port", "python3 -c \"import socket; s = socket.create_connection(('127.0.0.1', " + port + "), 2); print('con' + 'nected')\"", "connected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runCommand(t, s, p, args{"command": test.command})
			if strings.Contains(r.body, test.never) {
				t.Errorf("it does: %.500q", r.body)
			}
		})
	}

	for _, test := range []struct{ name, path string }{
		{"the database", database},
		{"another's file", others},
		{"the environment", "/proc/self/environ"},
		{"a key", ".ssh/id_ed25519"},
		{"an environment file", ".env"},
	} {
		t.Run("read_file refuses "+test.name, func(t *testing.T) {
			key := "read " + test.name
			p.on(key, runs("mkdir -p .ssh; echo KEY > .ssh/id_ed25519; echo KEY > .env"), calls(call("read_file", args{"path": test.path})), says("Refused."))
			s.ask(key)
			results := p.lastSent(t, key).results()
			if meta, body := results[1].result(t); meta["is_error"] != true || strings.Contains(body, "KEY") {
				t.Errorf("%v %q", meta, body)
			}
		})
	}
}

func TestADisabledUserIsOut(t *testing.T) {
	s := start(t, newProvider(t))
	token := s.addUser("leaving")
	if status := s.as(token, http.MethodGet, "/sessions", nil, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	s.command("user", "disable", "leaving")
	if status := s.as(token, http.MethodGet, "/sessions", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("status %d after the user was disabled", status)
	}
}

func TestWhatADisabledUserRunsEnds(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	token := s.addUser("leaving")
	p.on("keep busy", runs("echo begun; sleep 60"), says("Done."))
	var session struct {
		ID string `json:"id"`
	}
	s.as(token, http.MethodPost, "/sessions", args{}, &session)
	var turns [2]struct {
		ID string `json:"turn_id"`
	}
	for i := range turns {
		s.as(token, http.MethodPost, "/sessions/"+session.ID+"/messages", args{"content": "keep busy"}, &turns[i])
	}
	s.command("user", "disable", "leaving")
	ended := time.Now()
	for _, turn := range turns {
		var now struct{ State string }
		for now.State != "stopped" && time.Since(ended) < 10*time.Second {
			time.Sleep(100 * time.Millisecond)
			s.as(adminToken, http.MethodGet, "/turns/"+turn.ID, nil, &now)
		}
		if now.State != "stopped" {
			t.Errorf("%v after the user was disabled a turn is %s", time.Since(ended), now.State)
		}
	}
}

func TestAdminsSeeAndDeleteAnySession(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	token := s.addUser("worker")
	var session struct {
		ID string `json:"id"`
	}
	s.as(token, http.MethodPost, "/sessions", args{"title": "Work"}, &session)
	var list struct {
		Items []struct{ ID, Owner string } `json:"items"`
	}
	s.must(http.MethodGet, "/admin/sessions", nil, &list)
	if len(list.Items) != 1 || list.Items[0].ID != session.ID {
		t.Errorf("%+v", list)
	}
	if status := s.as(adminToken, http.MethodPost, "/sessions/"+session.ID+"/messages", args{"content": "hi"}, nil); status != http.StatusNotFound && status != http.StatusForbidden {
		t.Errorf("an admin writes in another's session: %d", status)
	}
	s.must(http.MethodDelete, "/admin/sessions/"+session.ID, nil, nil)
	if status := s.as(token, http.MethodGet, "/sessions/"+session.ID, nil, nil); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
	var audit struct {
		Items []struct{ Action, Target string } `json:"items"`
	}
	s.must(http.MethodGet, "/admin/audit", nil, &audit)
	var written bool
	for _, entry := range audit.Items {
		written = written || entry.Action == "session.delete" && entry.Target == session.ID
	}
	if !written {
		t.Errorf("the deletion is not audited: %+v", audit)
	}
}
