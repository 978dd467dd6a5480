package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestABackupReplacesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	status, _, errs := command(t, dir, "", "backup", filepath.Join(t.TempDir(), "x.db"))
	if status == 0 || !strings.Contains(errs, "nothing to back up") {
		t.Errorf("of no data: status %d, %s", status, errs)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a data folder was made")
	}
	must(t, dir, "user", "add", "ann", "--password", "a long enough one")
	taken := filepath.Join(t.TempDir(), "taken.tgz")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, errs = command(t, dir, "", "backup", taken)
	if data, _ := os.ReadFile(taken); status == 0 || string(data) != "mine" || !strings.Contains(errs, "is there already") {
		t.Errorf("over a file: status %d, %s, holds %q", status, errs, data)
	}
	status, _, errs = command(t, dir, "", "backup", filepath.Join(dir, "missing", "x.tgz"))
	if status == 0 || !strings.Contains(errs, "no backup was made") {
		t.Errorf("in a folder that is not there: status %d, %s", status, errs)
	}
}
