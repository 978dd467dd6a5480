package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"offcut/models"
)

// open makes folders in which every session is ann's.
func open(t *testing.T, quota int64) *Folders {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "odd [name]*", "workspaces"), Config{
		Owner:      func(context.Context, string) (string, error) { return "ann", nil },
		Used:       func(context.Context, string) (int64, error) { return 0, nil },
		QuotaBytes: quota,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func folder(t *testing.T, f *Folders, id string) string {
	t.Helper()
	path, err := f.Folder(id)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestASessionHasOneFolderForItsOwnerAlone(t *testing.T) {
	f := open(t, 1000)
	path := folder(t, f, "ses_1")
	if again := folder(t, f, "ses_1"); again != path {
		t.Errorf("first %s, then %s", path, again)
	}
	for _, p := range []string{path, filepath.Dir(path), f.dir} {
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

func TestWhatIsNoIDHasNoFolder(t *testing.T) {
	f := open(t, 1000)
	for _, id := range []string{"", ".", "..", "../x", "a/b", "*", "a b"} {
		if path, err := f.Folder(id); err == nil {
			t.Errorf("%q is at %s", id, path)
		}
		if err := f.Remove(t.Context(), id); err == nil {
			t.Errorf("%q was removed", id)
		}
	}
}

func TestAForkGetsTheFilesAsTheyAre(t *testing.T) {
	f := open(t, 1000)
	from := folder(t, f, "ses_1")
	outside := filepath.Join(t.TempDir(), "secret")
	put(t, outside, "secret")
	put(t, filepath.Join(from, "a", "b.txt"), "text")
	if err := os.Symlink(outside, filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(from, "dir")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(from, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Copy(t.Context(), "ann", "ses_1", "ses_2"); err != nil {
		t.Fatal(err)
	}
	to := folder(t, f, "ses_2")
	if got, err := os.ReadFile(filepath.Join(to, "a", "b.txt")); string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"link", "dir"} {
		if info, err := os.Lstat(filepath.Join(to, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s was followed: %v", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(to, "pipe")); err == nil {
		t.Error("the pipe was copied")
	}
}

func TestACopyOverTheQuotaLeavesNothing(t *testing.T) {
	f := open(t, 10)
	put(t, filepath.Join(folder(t, f, "ses_1"), "big"), "more than ten bytes")
	err := f.Copy(t.Context(), "ann", "ses_1", "ses_2")
	if !errors.Is(err, models.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if path, err := f.Find("ses_2"); path != "" || err != nil {
		t.Errorf("it left %q, %v", path, err)
	}
}

func TestASessionWithoutAFolderCopiesAsNothing(t *testing.T) {
	f := open(t, 10)
	if err := f.Copy(t.Context(), "ann", "ses_1", "ses_2"); err != nil {
		t.Error(err)
	}
	if size, err := f.Size(t.Context(), "ses_1"); size != 0 || err != nil {
		t.Errorf("%d, %v", size, err)
	}
	if err := f.Remove(t.Context(), "ses_1"); err != nil {
		t.Error(err)
	}
}

func TestRemoveTakesClosedFoldersToo(t *testing.T) {
	f := open(t, 1000)
	path := folder(t, f, "ses_1")
	put(t, filepath.Join(path, "closed", "file"), "x")
	if err := os.Chmod(filepath.Join(path, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(t.Context(), "ses_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestSizesAreCounted(t *testing.T) {
	f := open(t, 1000)
	put(t, filepath.Join(folder(t, f, "ses_1"), "a"), "12345")
	put(t, filepath.Join(folder(t, f, "ses_2"), "b", "c"), "678")
	if size, err := f.Size(t.Context(), "ses_1"); size != 5 || err != nil {
		t.Errorf("%d, %v", size, err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for f.OwnerBytes("ann") != 8 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if got := f.OwnerBytes("ann"); got != 8 {
		t.Errorf("ann's workspaces hold %d bytes", got)
	}
	if got := f.OwnerBytes("../.."); got != 0 {
		t.Errorf("what is no id holds %d bytes", got)
	}
}

func TestTheFirstAnswerAfterAStartIsCounted(t *testing.T) {
	f := open(t, 1000)
	put(t, filepath.Join(folder(t, f, "ses_1"), "a"), "12345")
	f.firstWait = time.Minute
	if got := f.OwnerBytes("ann"); got != 5 {
		t.Errorf("at first the workspaces hold %d bytes", got)
	}
	f.mu.Lock()
	f.sizes["bob"] = &ownerSize{known: make(chan struct{}), counting: true} // by somebody, and it takes for ever
	f.mu.Unlock()
	f.firstWait = time.Millisecond
	if got := f.OwnerBytes("bob"); got != 0 {
		t.Errorf("what is not known yet is %d bytes", got)
	}
}

func TestRoomKnowsWhatWasJustWritten(t *testing.T) {
	var f *Folders
	f, err := Open(t.TempDir(), Config{
		Owner:      func(context.Context, string) (string, error) { return "ann", nil },
		Used:       func(_ context.Context, owner string) (int64, error) { return 100 + f.OwnerBytes(owner), nil },
		QuotaBytes: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	room := func() int64 {
		t.Helper()
		left, err := f.Room(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	path := folder(t, f, "ses_1")
	put(t, filepath.Join(path, "before"), "12345678") // the first count is that of the first question
	if got := room(); got != 892 {
		t.Errorf("at first %d", got)
	}
	put(t, filepath.Join(folder(t, f, "ses_2"), "large"), strings.Repeat("x", 1000))
	time.Sleep(roomAge + 10*time.Millisecond)
	if got := room(); got != -108 {
		t.Errorf("a second later %d", got)
	}

	put(t, filepath.Join(path, "more"), strings.Repeat("x", 92)) // by a command
	f.Recount("ann")
	if got := room(); got != -200 {
		t.Errorf("as soon as a command has ended %d", got)
	}
	put(t, filepath.Join(path, "most"), strings.Repeat("x", 100))
	f.Recount("ann") // and nobody asks for room
	deadline := time.Now().Add(5 * time.Second)
	for f.OwnerBytes("ann") != 1200 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if got := f.OwnerBytes("ann"); got != 1200 {
		t.Errorf("a little later %d bytes are known of", got)
	}
}

// must is for calls that return a value and an error: must(Open(...))(t).
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
