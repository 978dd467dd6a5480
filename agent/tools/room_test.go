package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// quota is the Room of an owner whose workspace is all that they store.
func quota(b **bench, bytes int64) func(*Options) {
	return func(o *Options) {
		o.Room = func(_ context.Context, owner string) (int64, error) {
			if owner != "ann" {
				return 0, errors.New("not the owner")
			}
			left := bytes
			err := filepath.Walk((*b).workspace, func(_ string, info os.FileInfo, err error) error {
				if err == nil && info.Mode().IsRegular() {
					left -= info.Size()
				}
				return nil
			})
			return left, err
		}
	}
}

func TestFilesAreNotWrittenOverTheOwnersRoom(t *testing.T) {
	var b *bench
	added := t.TempDir()
	b = newBench(t, quota(&b, 1000), func(o *Options) { o.Folders = []string{added} })
	b.ok("write_file", arguments{"path": "a", "content": strings.Repeat("a", 900)})
	b.refused("write_file", arguments{"path": "b", "content": strings.Repeat("b", 101)}, "b was not written", "room for 100 bytes more", "it takes 101")
	if _, err := os.Stat(b.path("b")); err == nil {
		t.Error("it was written all the same")
	}
	b.refused("edit_file", arguments{"path": "a", "old_string": "a", "new_string": "bb", "replace_all": true}, "a was not written")
	if got := b.read("a"); got != strings.Repeat("a", 900) {
		t.Errorf("a has %d bytes", len(got))
	}
	b.ok("edit_file", arguments{"path": "a", "old_string": "a", "new_string": "b", "replace_all": true})
	b.ok("write_file", arguments{"path": "b", "content": strings.Repeat("b", 100)})
	b.ok("write_file", arguments{"path": filepath.Join(added, "c"), "content": strings.Repeat("c", 2000)})

	b.write("much", strings.Repeat("m", 5000)) // as a command may
	b.ok("write_file", arguments{"path": "a", "content": "less"})
	b.refused("write_file", arguments{"path": "d", "content": "d"}, "room for 0 bytes more")
}

func TestCommandsAreHeldToTheOwnersRoom(t *testing.T) {
	var b *bench
	b = newBench(t, quota(&b, 1_000_000))
	b.ok("run_command", arguments{"command": "head -c 900000 /dev/zero >a"})
	begun := time.Now()
	result := b.ok("run_command", arguments{"command": "echo begun; while :; do head -c 100000 /dev/zero >>b; sleep 0.05; done"})
	if took := time.Since(begun); took > 10*time.Second || result.Metadata.Signal != "SIGKILL" || !strings.HasPrefix(result.Content, "begun\n") || !strings.Contains(result.Content, "storage of this user is full") {
		t.Errorf("after %v: %s\n%s", took, result.Metadata.Line(), result.Content)
	}
	b.refused("run_command", arguments{"command": "echo again"}, "The command was not run", "storage of this user is full")
	if err := os.Truncate(b.path("b"), maxWriteBytes+1); err != nil { // too large to be edited
		t.Fatal(err)
	}
	if emptied := b.ok("write_file", arguments{"path": "b", "content": ""}); emptied.Content != "Replaced b, 0 bytes. It had 8388609 bytes, too many to show what changed." {
		t.Errorf("to empty it says %q", emptied.Content)
	}
	if again := b.ok("run_command", arguments{"command": "echo again"}); again.Content != "again\n" {
		t.Errorf("then %q", again.Content)
	}
}
