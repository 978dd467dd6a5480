package replies_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"offcut/agent/replies"
)

// taken are the replies that a recovery handed on, as "content|reasoning".
type taken map[string]string

func (t taken) LengthenReply(_ context.Context, id, content, reasoning string) error {
	t[id] = content + "|" + reasoning
	return nil
}

func open(t *testing.T, dir string, log *strings.Builder) *replies.Folder {
	t.Helper()
	f, err := replies.Open(dir, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func recovered(t *testing.T, f *replies.Folder) taken {
	t.Helper()
	got := taken{}
	if err := f.Recover(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	return got
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "replies"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWhatWasAddedIsThereAfterAKill(t *testing.T) {
	dir, log := t.TempDir(), &strings.Builder{}
	before := open(t, dir, log) // never closed: it was killed
	before.Add("msg_a", "", "let me see")
	before.Add("msg_a", "two\nlines \x00\U0001F600", "")
	before.Add("msg_b", "other", "")
	before.Add("msg_a", " and more", " again")
	before.Add("msg_done", "whole", "")
	before.Remove("msg_done")
	for _, name := range names(t, dir) {
		if info, err := os.Stat(filepath.Join(dir, "replies", name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}

	after := open(t, dir, log)
	got := recovered(t, after)
	if len(got) != 2 || got["msg_a"] != "two\nlines \x00\U0001F600 and more|let me see again" || got["msg_b"] != "other|" {
		t.Errorf("recovered %q", got)
	}
	if left := names(t, dir); len(left) > 0 || len(recovered(t, after)) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if log.Len() > 0 {
		t.Error(log)
	}
}

func TestHalfALineWasNotShown(t *testing.T) {
	dir, log := t.TempDir(), &strings.Builder{}
	open(t, dir, log)
	path := filepath.Join(dir, "replies", "msg_a")
	if err := os.WriteFile(path, []byte(`{"text":"shown"}`+"\n"+`{"text":"not sh`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := recovered(t, open(t, dir, log)); got["msg_a"] != "shown|" {
		t.Errorf("recovered %q", got)
	}
}

func TestADiskThatFailsIsToldOnceForEachReply(t *testing.T) {
	dir, log := t.TempDir(), &strings.Builder{}
	f := open(t, dir, log)
	if err := os.RemoveAll(filepath.Join(dir, "replies")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.Add("msg_a", "text", "")
	}
	f.Remove("msg_a")
	if n := strings.Count(log.String(), "not written down"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log)
	}
}
