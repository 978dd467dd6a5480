package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"offcut/models"
)

// tended runs Tend until the test ends, and returns what it logs.
func tended(t *testing.T, f *Folders) *strings.Builder {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	log := &strings.Builder{}
	go func() {
		defer close(done)
		f.Tend(ctx, slog.New(slog.NewTextHandler(log, nil)))
	}()
	t.Cleanup(func() {
		end()
		<-done
	})
	return log
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestFoldersOfSessionsThatAreGoneAreRemoved(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := must(Open(dir, Config{Owner: func(_ context.Context, id string) (string, error) {
			switch id {
			case "ses_kept":
				return "ann", nil
			case "ses_unknown":
				return "", errors.New("the database is locked")
			}
			return "", fmt.Errorf("session %s: %w", id, models.ErrNotFound)
		}}))(t)
		paths := map[string]bool{
			"ann/ses_gone/a/b.txt":    false,
			"bob/ses_gone_too/c.txt":  false,
			"ann/ses_kept/d.txt":      true,
			"ann/ses_unknown/e.txt":   true,
			"ann/lost+found/file.txt": true,
			"notes.txt":               true,
		}
		for path := range paths {
			put(t, filepath.Join(dir, path), "x")
		}
		tended(t, f)
		synctest.Wait()
		for path, stays := range paths {
			if there(filepath.Join(dir, path)) != stays {
				t.Errorf("%s: is there %v, want %v", path, !stays, stays)
			}
		}
	})
}

func TestARemovalThatFailedIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var gone, busy atomic.Bool
		f := must(Open(dir, Config{Owner: func(context.Context, string) (string, error) {
			if gone.Load() {
				return "", models.ErrNotFound
			}
			return "ann", nil
		}}))(t)
		busy.Store(true)
		f.remove = func(path string) error {
			if busy.Load() {
				return errors.New("directory not empty")
			}
			return os.RemoveAll(path)
		}
		path := folder(t, f, "ses_1")
		log := tended(t, f)
		synctest.Wait()

		gone.Store(true)
		if err := f.Remove(t.Context(), "ses_1"); err == nil {
			t.Fatal("it was removed")
		}
		time.Sleep(sweepAgain + time.Second)
		synctest.Wait()
		if !there(path) || !strings.Contains(log.String(), "directory not empty") {
			t.Errorf("after the second failure the log says %q", log)
		}
		busy.Store(false)
		time.Sleep(sweepAgain)
		synctest.Wait()
		if there(path) {
			t.Error("the folder is still there")
		}
	})
}
