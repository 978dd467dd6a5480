package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"offcut/agent/agenttest"
)

func TestMain(m *testing.M) {
	Reexec()
	os.Exit(m.Run())
}

// kinds are all the ways of running a command. Each test that does not speak
// of confinement holds for all of them.
var kinds = []string{KindBubblewrap, KindNamespaces, KindNone}

// confined are the ways that promise confinement.
var confined = kinds[:2]

// sandboxOf makes a sandbox of one kind.
func sandboxOf(t *testing.T, kind string, limits Limits, hide ...Hidden) *Sandbox {
	t.Helper()
	mode := Auto
	if kind == KindNone {
		mode = Off
	}
	s, err := New(Options{Mode: mode, Limits: limits, Hide: hide, Kinds: []string{kind}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test for the given kinds. Where this machine lacks what a kind
// needs, the sandbox must say that it confines nothing, and the test is done.
func each(t *testing.T, kinds []string, limits Limits, test func(t *testing.T, s *Sandbox)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := sandboxOf(t, kind, limits)
			if s.Kind() != kind {
				if s.Kind() != KindNone || s.Confined() {
					t.Fatalf("without %s the sandbox is %s and says confined: %v", kind, s.Kind(), s.Confined())
				}
				return
			}
			test(t, s)
		})
	}
}

type ran struct {
	Exit
	stdout, stderr string
	workspace      string
}

// run runs a command in a new workspace, or in the one of spec.
func run(t *testing.T, s *Sandbox, spec Spec) ran {
	t.Helper()
	if spec.Workspace == "" {
		spec.Workspace = workspace(t)
	}
	if spec.Timeout == 0 {
		spec.Timeout = time.Minute
	}
	var stdout, stderr agenttest.Buffer
	spec.Stdout, spec.Stderr = &stdout, &stderr
	exit, err := s.Run(context.Background(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", spec.Command, err)
	}
	return ran{exit, stdout.String(), stderr.String(), spec.Workspace}
}

func workspace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
