package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

type apiUsage struct {
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
	Cost   float64 `json:"cost"`
}

type apiUsageSums struct {
	Items []struct {
		Period, User, Model string
		Turns               int64
		apiUsage
	}
}

// configured writes a configuration of the two models and returns its variable.
func configured(t *testing.T, p *provider, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "offcut.yaml")
	content := "models:\n"
	for _, name := range names {
		content += fmt.Sprintf("  - name: %s\n    baseURL: %s/v1\n    price: {input: 2, output: 10}\n", name, p.URL)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatProgramsUseIsCountedPricedAndOutlivesTheSession(t *testing.T) {
	p := newProvider(t)
	p.on("hello", reply{text: []string{"Hello."}, tokens: 1000})
	s := start(t, p, "OFFCUT_MODEL=", "OFFCUT_CONFIG="+configured(t, p, "small", "large"))
	token := s.addUser("ann")
	ask := func(model string) (used apiUsage) {
		var session struct{ ID string }
		if status := s.as(token, "POST", "/sessions", map[string]any{"model": model}, &session); status != http.StatusCreated {
			t.Fatalf("a session with %s: %d", model, status)
		}
		var sent struct {
			TurnID string `json:"turn_id"`
		}
		s.as(token, "POST", "/sessions/"+session.ID+"/messages", map[string]any{"content": "hello"}, &sent)
		s.settled(sent.TurnID)
		turn := struct{ Usage *apiUsage }{&used}
		s.must("GET", "/turns/"+sent.TurnID, nil, &turn)
		if status := s.as(token, "DELETE", "/sessions/"+session.ID, nil, nil); status != http.StatusNoContent {
			t.Fatalf("deleting: %d", status)
		}
		return used
	}
	first := ask("small")
	want := (2*float64(first.Input) + 10*float64(first.Output)) / 1e6
	if first.Input == 0 || first.Cost != want {
		t.Errorf("an answer of %d and %d tokens costs %g, want %g", first.Input, first.Output, first.Cost, want)
	}
	ask("small")
	ask("large")
	s.terminate()
	s.launch()

	var sums apiUsageSums
	s.must("GET", "/admin/usage?user=ann&by=day", nil, &sums)
	if len(sums.Items) != 2 || sums.Items[0].Model != "large" || sums.Items[1].Model != "small" {
		t.Fatalf("the sums are %+v", sums.Items)
	}
	if small := sums.Items[1]; small.Turns != 2 || small.Input != 2*first.Input || small.Cost != 2*want || small.User != "ann" {
		t.Errorf("of the small model: %+v", small)
	}
}

func TestASessionWhoseModelIsTakenAwayAsksForAnother(t *testing.T) {
	p := newProvider(t)
	p.on("hello", says("Hello."))
	p.on("go on", says("On."))
	path := configured(t, p, "kept", "taken-away")
	s := start(t, p, "OFFCUT_MODEL=", "OFFCUT_CONFIG="+path)
	var session struct{ ID, Model string }
	s.must("POST", "/sessions", map[string]any{"model": "taken-away"}, &session)
	s.say(session.ID, "hello")
	s.terminate()
	kept, err := os.ReadFile(configured(t, p, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	s.launch()
	if status := s.as(adminToken, "POST", "/sessions/"+session.ID+"/messages", map[string]any{"content": "go on"}, nil); status != http.StatusConflict {
		t.Errorf("a message to it: %d", status)
	}
	if status := s.as(adminToken, "PATCH", "/sessions/"+session.ID, map[string]any{"model": "taken-away"}, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("choosing it again: %d", status)
	}
	s.must("PATCH", "/sessions/"+session.ID, map[string]any{"model": "kept"}, &session)
	if turn := s.say(session.ID, "go on"); turn.State != "done" || session.Model != "kept" {
		t.Errorf("with another: %+v, %q", turn, session.Model)
	}
}
