package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A list of sessions walks through no folder that was counted a moment ago, and
// waits for none that takes long.
func TestSizesAreKnownWithoutAWalk(t *testing.T) {
	f, err := Open(t.TempDir(), Config{Owner: func(context.Context, string) (string, error) { return "ann", nil }})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := f.Folder("s")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, bytes int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", 100)
	known := func() int64 {
		t.Helper()
		size, err := f.Known(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	if size := known(); size != 100 {
		t.Errorf("the first answer is %d", size)
	}
	write("b", 11)
	if size := known(); size != 100 {
		t.Errorf("it was counted again at once: %d", size)
	}
	f.mu.Lock()
	f.counts["s"].at = time.Now().Add(-2 * knownAge)
	f.mu.Unlock()
	for deadline := time.Now().Add(10 * time.Second); known() != 111; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is never counted again")
		}
	}

	for range countsAtOnce { // others are counted, and that takes long
		f.walking <- struct{}{}
	}
	hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := f.Known(hurried, "other"); !errors.Is(err, ErrUncounted) {
		t.Errorf("what is not counted yet: %v", err)
	}
	if size := known(); size != 111 {
		t.Errorf("what is known already waited: %d", size)
	}
	for range countsAtOnce {
		<-f.walking
	}
	if size, err := f.Known(t.Context(), "other"); err != nil || size != 0 {
		t.Errorf("a session without a folder: %d, %v", size, err)
	}
}
