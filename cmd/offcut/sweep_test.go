package main_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAStartRemovesTheFilesOfSessionsThatAreGone(t *testing.T) {
	s := start(t, newProvider(t))
	s.kill()
	orphan := filepath.Join(s.dir, "workspaces", "usr_somebody", "ses_deleted")
	if err := os.MkdirAll(filepath.Join(orphan, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.launch()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Lstat(orphan); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the folder is still there")
		}
	}
}
