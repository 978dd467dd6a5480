package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAShownFolderIsReadAndNotWritten(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "secret"), "secret")
	shown := filepath.Join(data, "skills")
	if err := os.MkdirAll(filepath.Join(shown, "count"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(shown, "count", "run.sh"), "echo counted $(wc -l < $1)")
	if err := os.Symlink(filepath.Join(data, "secret"), filepath.Join(shown, "link")); err != nil {
		t.Fatal(err)
	}
	for _, kind := range confined {
		t.Run(kind, func(t *testing.T) {
			s, err := New(Options{Mode: Auto, Kinds: []string{kind}, Hide: []Hidden{Hidden(data)}, Show: []Shown{{shown, "/skills"}, {filepath.Join(data, "gone"), "/gone"}}})
			if err != nil {
				t.Fatal(err)
			}
			if !s.Confined() {
				t.Logf("this machine has no %s", kind)
				return
			}
			workspace := t.TempDir()
			got := run(t, s, Spec{Command: "seq 3 > rows; sh /skills/count/run.sh rows", Workspace: workspace})
			if got.Code != 0 || got.stdout != "counted 3\n" {
				t.Errorf("%+v %q %q", got.Exit, got.stdout, got.stderr)
			}
			for _, command := range []string{"echo x > /skills/count/run.sh", "touch /skills/new", "rm /skills/count/run.sh", "cat /skills/link", "cat /skills/../secret", "ls /gone", "mount -o remount,rw /skills"} {
				if got := run(t, s, Spec{Command: command, Workspace: workspace}); got.Code == 0 || strings.Contains(got.stdout, "secret") {
					t.Errorf("%s: %+v %q", command, got.Exit, got.stdout)
				}
			}
		})
	}
}
