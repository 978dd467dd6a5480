package main_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The shapes of the API's answers, as far as tests look at them.
type (
	apiTurn struct {
		ID            string `json:"id"`
		State         string `json:"state"`
		Error         string `json:"error"`
		ErrorCode     string `json:"error_code"`
		Continuations int    `json:"continuations"`
		Retries       int    `json:"retries"`
		Pending       []struct {
			CallID    string `json:"call_id"`
			Tool      string `json:"tool"`
			Arguments string `json:"arguments"`
		} `json:"pending"`
		NextTry *struct {
			At     time.Time `json:"at"`
			Try    int       `json:"try"`
			Of     int       `json:"of"`
			Reason string    `json:"reason"`
		} `json:"next_try"`
	}
	apiMessage struct {
		ID        string `json:"id"`
		TurnID    string `json:"turn_id"`
		Role      string `json:"role"`
		Content   string `json:"content"`
		Reasoning string `json:"reasoning"`
		IsMeta    bool   `json:"is_meta"`
		ToolCalls []struct {
			ID        string `json:"id"`
			Name      string `json:"name"`
			Arguments any    `json:"arguments"`
		} `json:"tool_calls"`
		ToolCallID string         `json:"tool_call_id"`
		Metadata   map[string]any `json:"metadata"`
		State      string         `json:"state"`
	}
	apiOutput struct {
		ID            string     `json:"id"`
		Tool          string     `json:"tool"`
		CallID        string     `json:"call_id"`
		Running       bool       `json:"running"`
		TotalBytes    int64      `json:"total_bytes"`
		Complete      bool       `json:"complete"`
		ReplacedBytes int64      `json:"replaced_bytes"`
		Coverage      [][2]int64 `json:"coverage"`
		Background    string     `json:"background"`
		ExitCode      *int       `json:"exit_code"`
	}
	apiPage struct {
		Text       string `json:"text"`
		NextOffset int64  `json:"nextOffset"`
		TotalBytes int64  `json:"totalBytes"`
		HasMore    bool   `json:"hasMore"`
		Complete   bool   `json:"complete"`
	}
	apiMatches struct {
		Matches []struct {
			Offset int64  `json:"offset"`
			Line   int64  `json:"line"`
			Text   string `json:"text"`
		} `json:"matches"`
	}
)

func (s *server) newSession() string {
	s.t.Helper()
	var session struct {
		ID string `json:"id"`
	}
	s.must(http.MethodPost, "/sessions", map[string]any{}, &session)
	return session.ID
}

// send sends a message and returns its turn's id at once.
func (s *server) send(session, content string) string {
	s.t.Helper()
	var sent struct {
		TurnID string `json:"turn_id"`
	}
	s.must(http.MethodPost, "/sessions/"+session+"/messages", map[string]any{"content": content}, &sent)
	return sent.TurnID
}

// say sends a message and returns its turn once that has come to its end.
func (s *server) say(session, content string) apiTurn {
	s.t.Helper()
	return s.settled(s.send(session, content))
}

// ask is a message in a new session, whose turn must end well.
func (s *server) ask(content string) (session string) {
	s.t.Helper()
	session = s.newSession()
	if turn := s.say(session, content); turn.State != "done" {
		s.t.Fatalf("the turn of %q is %s: %s", content, turn.State, turn.Error)
	}
	return session
}

// settled waits, for at most two minutes, until a turn has come to its end.
func (s *server) settled(turnID string) apiTurn {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		turn := s.turn(turnID, "?wait=5")
		switch turn.State {
		case "queued", "running":
		case "awaiting_approval": // until it is stopped: nothing waits for that
			time.Sleep(20 * time.Millisecond)
		default:
			return turn
		}
	}
	s.t.Fatalf("turn %s does not come to its end", turnID)
	return apiTurn{}
}

func (s *server) turn(id, query string) apiTurn {
	s.t.Helper()
	var turn apiTurn
	s.must(http.MethodGet, "/turns/"+id+query, nil, &turn)
	return turn
}

func (s *server) stop(turnID string) {
	s.t.Helper()
	s.must(http.MethodPost, "/turns/"+turnID+"/stop", nil, nil)
}

func (s *server) messages(session string, hidden bool) []apiMessage {
	s.t.Helper()
	query := "?limit=200"
	if hidden {
		query += "&include=hidden"
	}
	var list struct {
		Items []apiMessage `json:"items"`
	}
	s.must(http.MethodGet, "/sessions/"+session+"/messages"+query, nil, &list)
	return list.Items
}

func (s *server) outputs(session string) []apiOutput {
	s.t.Helper()
	var list struct {
		Items []apiOutput `json:"items"`
	}
	s.must(http.MethodGet, "/sessions/"+session+"/outputs", nil, &list)
	return list.Items
}

// output is the only kept output of a session.
func (s *server) output(session string) apiOutput {
	s.t.Helper()
	outputs := s.outputs(session)
	if len(outputs) != 1 {
		s.t.Fatalf("the session has %d kept outputs, not one", len(outputs))
	}
	return outputs[0]
}

func (s *server) page(session, output string, offset int64) apiPage {
	s.t.Helper()
	var page apiPage
	s.must(http.MethodGet, fmt.Sprintf("/sessions/%s/outputs/%s?offset=%d&limit=4096", session, output, offset), nil, &page)
	return page
}

// copyOf is a whole kept copy, read page by page.
func (s *server) copyOf(session, output string) string {
	s.t.Helper()
	var text strings.Builder
	for offset, more := int64(0), true; more; {
		page := s.page(session, output, offset)
		if page.NextOffset != offset+int64(len(page.Text)) || len(page.Text) > 4096 {
			s.t.Fatalf("the page at %d has %d bytes and leads to %d", offset, len(page.Text), page.NextOffset)
		}
		text.WriteString(page.Text)
		offset, more = page.NextOffset, page.HasMore
	}
	return text.String()
}

func (s *server) rawOf(session, output string) string {
	s.t.Helper()
	status, _, data := s.raw(adminToken, http.MethodGet, "/api/v1/sessions/"+session+"/outputs/"+output+"/raw", nil)
	if status != http.StatusOK {
		s.t.Fatalf("raw: status %d", status)
	}
	return string(data)
}

func (s *server) search(session, output, pattern string) apiMatches {
	s.t.Helper()
	var found apiMatches
	s.must(http.MethodGet, "/sessions/"+session+"/outputs/"+output+"/search?q="+url.QueryEscape(pattern), nil, &found)
	return found
}

// waitFor asks again until something holds, for at most 15 seconds.
func (s *server) waitFor(what string, holds func() bool) {
	s.t.Helper()
	for range 300 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("never happened: %s", what)
}
