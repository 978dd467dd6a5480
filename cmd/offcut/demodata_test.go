package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDemoDataSparesAFolderThatIsInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demo := func(more ...string) (int, string, string) {
		return command(t, dir, "", append([]string{"demo-data", "--weeks", "1"}, more...)...)
	}
	if status, out, err := demo(); status != 0 || !strings.Contains(out, "Made 4 users and ") || !strings.Contains(out, "belongs to admin") {
		t.Fatalf("status %d: %s%s", status, out, err)
	}
	if status, _, err := demo(); status != exitFailed || !strings.Contains(err, "has conversations already") || !strings.Contains(err, "--add") {
		t.Errorf("a second time: status %d, %s", status, err)
	}
	if status, _, err := demo("--add", "--seed", "2"); status != 0 {
		t.Errorf("adding: status %d, %s", status, err)
	}
	for _, wrong := range [][]string{{"--weeks", "0"}, {"--weeks", "27"}, {"--messages=-1"}, {"--messages", "100001"}} {
		if status, _, err := demo(wrong...); status != exitUsage || !strings.Contains(err, "is not accepted") {
			t.Errorf("%v: status %d, %s", wrong, status, err)
		}
	}
}
