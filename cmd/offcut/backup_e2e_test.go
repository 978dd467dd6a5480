package main_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"offcut/models/store"
)

// unpacked is a data folder made of an archive, as tar -xzf makes it.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	for in := tar.NewReader(zipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, header.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(name, 0o700)
		case tar.TypeSymlink:
			err = os.Symlink(header.Linkname, name)
		default:
			var data []byte
			if data, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(name, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestABackupOfARunningServerIsTheServer(t *testing.T) {
	p := newProvider(t)
	s := start(t, p)
	p.on("make", runs("seq 1 100000; mkdir sub; echo mine >sub/notes.txt; ln -s notes.txt sub/link; mkfifo pipe"), says("Made."))
	session := s.newSession()
	s.say(session, "make it")
	dir := t.TempDir()
	copied, packed := filepath.Join(dir, "copy.db"), filepath.Join(dir, "all.tar.gz")
	for _, name := range []string{copied, packed} {
		if out := s.command("backup", name); !strings.Contains(out, "Made "+name) {
			t.Errorf("it says %q", out)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".offcut*")); len(left) > 0 {
		t.Errorf("left beside it: %v", left)
	}
	s.say(session, "and after the backup")

	alone := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.MkdirAll(alone, 0o700), os.Rename(copied, filepath.Join(alone, store.FileName))); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{alone, unpacked(t, packed)} {
		restored := start(t, p, "OFFCUT_DATA_DIR="+from)
		restored.dir = from
		all := restored.messages(session, false)
		if n := len(all); n != 4 || all[3].Content != "Made." {
			t.Errorf("%d messages: %+v", n, all)
		}
		if o := restored.output(session); o.TotalBytes != 588895 || !o.Complete {
			t.Errorf("the kept output is %+v", o)
		}
		if from == alone {
			continue
		}
		if got := restored.workspaceFile(session, "sub/link"); got != "mine\n" {
			t.Errorf("the workspace's file holds %q", got)
		}
	}
}
