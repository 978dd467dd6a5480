package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withSettings is the variable that names a file of these settings.
func withSettings(t *testing.T, yaml string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "offcut.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return "OFFCUT_CONFIG=" + file
}

func TestBudgetsOfTheFileAreHeldOnBothSides(t *testing.T) {
	for _, test := range []struct {
		name, yaml string
		budget     int
	}{
		{"fewer bytes", "tools:\n  run_command:\n    previewBytes: 1000\n", 1000},
		{"more bytes", "tools:\n  run_command:\n    previewBytes: 60000\n", 60000},
		{"more tokens for every tool", "tools:\n  maxToolResultTokens: 10000\n", 40000},
		{"tokens of every tool", "tools:\n  maxToolResultTokens: 500\n", 2000},
		{"tokens of one tool", "tools:\n  maxToolResultTokens: 500\n  run_command:\n    maxResultTokens: 2000\n", 8000},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProvider(t)
			s := start(t, p, withSettings(t, test.yaml))
			within := runCommand(t, s, p, args{"command": fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", test.budget)})
			if within.body != strings.Repeat("x", test.budget) || within.meta["truncated"] != false {
				t.Errorf("what fits is cut: %v", within.meta)
			}
			over := runCommand(t, s, p, args{"command": fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", test.budget+1)})
			seen := int64(0)
			for _, span := range over.shown(t) {
				seen += span[1] - span[0]
			}
			if over.meta["truncated"] != true || over.meta["retention"] != "kept" || seen > int64(test.budget) || seen < int64(test.budget)*9/10 {
				t.Errorf("%d bytes of a budget of %d are shown: %v", seen, test.budget, over.meta)
			}
		})
	}
}

func TestTheMarkerIsTheTemplateOfTheFile(t *testing.T) {
	p := newProvider(t)
	s := start(t, p, withSettings(t, "tools:\n  truncationMessage: \"<{kept} of {original}; the rest is {output_id}>\"\n  run_command:\n    keep: head\n"))
	r := runCommand(t, s, p, args{"command": "seq 1 20000"})
	if want := fmt.Sprintf("of 108894 bytes; the rest is %s>", r.meta["output_id"]); !strings.HasPrefix(r.body, "1\n2\n") || !strings.Contains(r.body[len(r.body)-100:], want) {
		t.Errorf("the body ends with %q, without %q", r.body[len(r.body)-100:], want)
	}
}

// What is kept is read without asking anybody, also where commands and changes
// would have to be allowed first.
func TestWhatIsKeptIsReadWithoutApproval(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("keep it now", runs("seq 1 20000"), says("Kept."))
	session := s.ask("keep it now")
	id := s.output(session).ID
	s.terminate()
	s.env = append(s.env, "OFFCUT_APPROVAL=ask")
	s.launch()

	p.on("read it then", calls(
		call("read_tool_output", args{"output_id": id, "offset": 100_000}),
		call("search_tool_output", args{"output_id": id, "pattern": "19999"}),
		call("run_command", args{"command": "echo asked"}),
	), says("Read."))
	turn := s.awaits(s.send(session, "read it then"))
	s.answer(turn, "deny") // the command alone waits
	if done := s.settled(turn.ID); done.State != "done" {
		t.Fatalf("%+v", done)
	}
	results := p.lastSent(t, "read it then").results()[1:]
	for i, wrong := range []bool{false, false, true} {
		meta, body := results[i].result(t)
		if _, asked := meta["approved"]; meta["is_error"] != wrong || asked != wrong {
			t.Errorf("result %d: %v %.200q", i, meta, body)
		}
	}
}
