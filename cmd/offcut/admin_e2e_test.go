package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// askAs sends a message to a new session of a user and waits for the end.
func (s *server) askAs(token, content string) (session string) {
	s.t.Helper()
	var created struct {
		ID string `json:"id"`
	}
	s.as(token, http.MethodPost, "/sessions", args{}, &created)
	var turn struct {
		ID string `json:"turn_id"`
	}
	s.as(token, http.MethodPost, "/sessions/"+created.ID+"/messages", args{"content": content}, &turn)
	s.settled(turn.ID)
	return created.ID
}

type apiAudit struct {
	Items []struct {
		Actor, Action, Target, Detail string
	}
}

func TestAnAdminSeesAndDeletesWhatOthersArchived(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	token, other := s.addUser("owner"), s.addUser("other")
	p.on("five megabytes", runs("echo left > file.txt; seq 1 100000000 | head -c 5000000"), says("Printed."))
	session := s.askAs(token, "five megabytes")
	if status := s.as(token, http.MethodPatch, "/sessions/"+session, args{"archived": true}, nil); status != http.StatusOK {
		t.Fatal(status)
	}
	var list struct {
		Items []struct {
			ID    string `json:"id"`
			Bytes int64  `json:"output_bytes"`
		} `json:"items"`
	}
	s.must(http.MethodGet, "/admin/sessions?archived=true&owner=owner", nil, &list)
	if len(list.Items) != 1 || list.Items[0].ID != session || list.Items[0].Bytes < 5_000_000 {
		t.Errorf("the admin sees %+v", list.Items)
	}
	for path, want := range map[string]int{
		"/admin/sessions": 403, "/admin/users": 403, "/admin/audit": 403, "/sessions/" + session: 404, "/sessions/" + session + "/outputs": 404,
	} {
		if status := s.as(other, http.MethodGet, path, nil, nil); status != want {
			t.Errorf("%s of another user: %d, want %d", path, status, want)
		}
	}
	for path, want := range map[string]int{"/admin/sessions/" + session: 403, "/sessions/" + session: 404} {
		if status := s.as(other, http.MethodDelete, path, nil, nil); status != want {
			t.Errorf("deletion of %s by another user: %d, want %d", path, status, want)
		}
	}

	big, workspace := s.databaseSize(), s.workspace(session)
	s.must(http.MethodDelete, "/admin/sessions/"+session, nil, nil)
	s.waitFor("the database shrinks", func() bool { return s.databaseSize() < big-4<<20 })
	if _, err := os.Stat(workspace); !os.IsNotExist(err) {
		t.Errorf("the workspace is still there: %v", err)
	}
	var log apiAudit
	s.must(http.MethodGet, "/admin/audit?action=session.delete&target="+session, nil, &log)
	if len(log.Items) != 1 || log.Items[0].Actor != "admin" || log.Items[0].Detail != "deleted a session of owner" {
		t.Errorf("audited %+v", log.Items)
	}
}

func TestThePolicyRemovesWhatIsTooMuch(t *testing.T) {
	p := newProvider(t)
	file := filepath.Join(t.TempDir(), "offcut.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, p, "OFFCUT_CONFIG="+file)
	p.on("print two megabytes", runs("seq 1 100000000 | head -c 2000000"), says("Printed."))
	older, newer := s.ask("print two megabytes"), s.newSession()
	s.say(newer, "nothing that takes room")
	s.terminate()
	if err := os.WriteFile(file, []byte("retention:\n  maxBytesPerUser: 1048576\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.launch()
	s.waitFor("the session goes at the start", func() bool {
		return s.as(adminToken, http.MethodGet, "/sessions/"+older, nil, nil) == http.StatusNotFound
	})
	s.must(http.MethodGet, "/sessions/"+newer, nil, nil)
	var log apiAudit
	s.must(http.MethodGet, "/admin/audit?actor=retention", nil, &log)
	if len(log.Items) != 1 || log.Items[0].Target != older || !strings.Contains(log.Items[0].Detail, "by the retention policy") {
		t.Errorf("audited %+v", log.Items)
	}
}
