package store

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"offcut/models"
)

// copyFiles copies a database with its log to another folder.
func copyFiles(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{FileName, FileName + "-wal"} {
		must(t, os.WriteFile(filepath.Join(to, name), got(os.ReadFile(filepath.Join(dir, name)))(t), 0o600))
	}
	return to
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	return got(os.Stat(path))(t).Size()
}

// found reports whether a file holds needle.
func found(t testing.TB, path string, needle []byte) bool {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer func() { _ = file.Close() }()
	return bytes.Contains(got(io.ReadAll(file))(t), needle)
}

func TestDeletedBytesLeaveTheFiles(t *testing.T) {
	secret := []byte("hunter2-of-the-output")
	title := []byte("title-of-the-session")
	for name, remove := range map[string]func(s *Store) error{
		"the output":   func(s *Store) error { return s.DeleteOutput(t.Context(), "s", "o", start) },
		"its dropping": func(s *Store) error { return s.DropOutput(t.Context(), "s", "o") },
		"the session":  func(s *Store) error { return s.DeleteSession(t.Context(), "s") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, Options{})
			addUsers(t, s)
			must(t, s.CreateSession(t.Context(), models.Session{ID: "s", OwnerID: "ann", Title: string(title), CreatedAt: start}))
			addSession(t, s, "ann", "stays", start)
			text := bytes.Repeat(append(secret, '\n'), 20_000)
			keep(t, s, "s", "o", text)
			keep(t, s, "stays", "o2", bytes.Repeat([]byte("kept\n"), 50_000))

			holds := func(needle []byte) bool {
				return found(t, filepath.Join(dir, FileName), needle) || found(t, filepath.Join(dir, FileName+"-wal"), needle)
			}
			if !holds(secret) {
				t.Fatal("the bytes were never in the files")
			}
			must(t, remove(s))
			waitUntil(t, "the bytes are out of the files", func() bool { return !holds(secret) })
			if name == "the session" && holds(title) {
				t.Error("the title of the deleted session is still in the files")
			}
			if read := got(s.ReadOutput(t.Context(), "stays", "o2", models.StreamText, 249_995, 9))(t); string(read) != "kept\n" {
				t.Errorf("the other output ends with %q", read)
			}
		})
	}
}

// waitUntil waits for what happens in the background.
func waitUntil(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not after 15 s: " + what)
		}
	}
}

// The field reported logs of gigabytes after 200 outputs of 8 MiB; these are
// 24, and a log that grew with them would be far over the bound.
func TestBigOutputsNeitherBloatTheLogNorStayInTheFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	empty := size(t, filepath.Join(dir, FileName))
	const outputs, each, bound = 24, 8 << 20, 24 << 20
	log := filepath.Join(dir, FileName+"-wal")
	text := randomText(each)
	for i := range outputs {
		keep(t, s, "s", fmt.Sprint("o", i), text)
		if now := size(t, log); now > bound {
			t.Fatalf("after %d outputs the log has %d bytes", i+1, now)
		}
	}
	full := size(t, filepath.Join(dir, FileName))
	if full < outputs*each*9/10 || full > outputs*each*11/10+bound {
		t.Errorf("%d bytes of outputs make a file of %d", outputs*each, full)
	}

	began := time.Now()
	must(t, s.DeleteSession(t.Context(), "s"))
	if took := time.Since(began); took > time.Second {
		t.Errorf("deleting the session took %v", took)
	}
	waitUntil(t, "the file is as small as it was", func() bool {
		if now := size(t, log); now > bound {
			t.Fatalf("the log has %d bytes", now)
		}
		return size(t, filepath.Join(dir, FileName)) < empty+1<<20 && size(t, log) == 0
	})
}

func TestOthersWriteWhileMuchIsErased(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "stays", start)
	text := randomText(8 << 20)
	for i := range 6 {
		keep(t, s, "s", fmt.Sprint("o", i), text)
	}
	must(t, s.DeleteSession(t.Context(), "s"))
	slowest := time.Duration(0)
	for i := range 40 {
		began := time.Now()
		send(t, s, "stays", "hello", later(i))
		slowest = max(slowest, time.Since(began))
		time.Sleep(5 * time.Millisecond)
	}
	if slowest > time.Second {
		t.Errorf("a message waited %v", slowest)
	}
}

func TestWhatACrashLeftToEraseIsErasedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", randomText(1<<20))
	must(t, s.Compact(t.Context()))
	s.upkeep.stop() // nothing is erased from now on
	must(t, s.DeleteSession(t.Context(), "s"))

	copied := copyFiles(t, dir)
	again := open(t, copied, Options{})
	waitUntil(t, "the pieces are gone", func() bool {
		var left int64
		must(t, again.readers.Raw("SELECT (SELECT count(*) FROM pieces) + (SELECT count(*) FROM trash)").Scan(&left).Error)
		return left == 0
	})
	waitUntil(t, "the file is small", func() bool { return size(t, filepath.Join(copied, FileName)) < 1<<20 })
}

func TestAReaderInTheLogOnlyDelaysCuttingIt(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	addUsers(t, s)
	tx := s.readers.Begin()
	var n int64
	must(t, tx.Table("users").Count(&n).Error)
	done := make(chan error, 1)
	addSession(t, s, "ann", "s", start)
	go func() { done <- s.Compact(t.Context()) }()
	time.Sleep(100 * time.Millisecond)
	must(t, tx.Rollback().Error)
	must(t, <-done)
	if now := size(t, filepath.Join(dir, FileName+"-wal")); now != 0 {
		t.Errorf("the log has %d bytes", now)
	}
	var wait string
	if must(t, s.writer.Raw("PRAGMA busy_timeout").Scan(&wait).Error); wait != busyTimeout {
		t.Errorf("the writer waits %s ms for a lock from then on", wait)
	}
}
