package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A fork bomb is tried with few processes, and one that would end by itself:
// the machine must survive a failure of this test.
func TestForkBombEnds(t *testing.T) {
	mark := marker()
	for name, bomb := range map[string]string{
		"wide":              "i=0; while [ $i -lt 400 ]; do sleep " + mark + " & i=$((i+1)); done 2>/dev/null; sleep 60",
		"in other sessions": "i=0; while [ $i -lt 400 ]; do setsid sleep " + mark + " & i=$((i+1)); done 2>/dev/null; sleep 60",
		"doubling":          "b() { [ $1 -gt 0 ] && { b $(($1-1)) & b $(($1-1)) & }; sleep " + mark + "; }; b 9 2>/dev/null; sleep 60",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, kinds, Limits{Processes: 100}, func(t *testing.T, s *Sandbox) {
				begun := time.Now()
				got := run(t, s, Spec{Command: bomb})
				byWatcher := got.Limit != "" && got.Signal == "SIGKILL"
				byKernel := got.Code == 2 // the shell could not fork: the server is not root
				if !byWatcher && !byKernel || time.Since(begun) > patience {
					t.Errorf("ended after %v with %+v", time.Since(begun), got.Exit)
				}
				gone(t, mark)
			})
		})
	}
}

func TestMemoryHogEnds(t *testing.T) {
	for name, hog := range map[string]string{
		"one process": `head -c 400000000 /dev/zero | tail -c 400000000 | (sleep 1; wc -c)`,
		"several":     `for i in 1 2 3 4; do (head -c 60000000 /dev/zero | tail -c 60000000 | (sleep 3; cat >/dev/null)) & done; wait; echo all`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, kinds, Limits{Memory: 128 << 20}, func(t *testing.T, s *Sandbox) {
				begun := time.Now()
				got := run(t, s, Spec{Command: hog})
				byWatcher := strings.Contains(got.Limit, "memory") && got.Signal == "SIGKILL"
				byKernel := strings.Contains(got.stderr, "memory exhausted")
				if !byWatcher && !byKernel {
					t.Errorf("ended with %+v: %q %q", got.Exit, got.stdout, got.stderr)
				}
				if time.Since(begun) > patience {
					t.Errorf("took %v", time.Since(begun))
				}
			})
		})
	}
}

func TestFilesAreBounded(t *testing.T) {
	each(t, kinds, Limits{FileSize: 1 << 20, OpenFiles: 32}, func(t *testing.T, s *Sandbox) {
		got := run(t, s, Spec{Command: "head -c 3000000 /dev/zero >big; ulimit -n; ulimit -c; true"})
		if got.stdout != "32\n0\n" {
			t.Errorf("limits of open files and core: %q", got.stdout)
		}
		if info, err := os.Stat(filepath.Join(got.workspace, "big")); err != nil || info.Size() > 1<<20 {
			t.Errorf("wrote %v, %v", info, err)
		}
	})
}

func TestMemoryFoldersAreBounded(t *testing.T) {
	each(t, confined, Limits{TempBytes: 1 << 20}, func(t *testing.T, s *Sandbox) {
		got := run(t, s, Spec{Command: `for d in /tmp /dev/shm; do head -c 3000000 /dev/zero >$d/big; stat -c %s $d/big; done 2>/dev/null
			for d in / /dev /etc /proc /usr; do (echo >$d/x) 2>/dev/null && echo wrote $d; done; true`})
		if got.stdout != "1048576\n1048576\n" {
			t.Errorf("wrote %q", got.stdout)
		}
	})
}

func TestACommandsOwnCheckEndsIt(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		dir := workspace(t)
		begun := time.Now()
		got := run(t, s, Spec{Workspace: dir, Command: "echo begun; echo x >full; sleep 60", Check: func(context.Context) string {
			if _, err := os.Stat(filepath.Join(dir, "full")); err != nil {
				return ""
			}
			return "it is full"
		}})
		if got.Limit != "it is full" || got.Signal != "SIGKILL" || got.Stopped || got.stdout != "begun\n" || time.Since(begun) > patience {
			t.Errorf("ended after %v with %+v: %q", time.Since(begun), got.Exit, got.stdout)
		}
	})
}

func TestParseStat(t *testing.T) {
	stat := "42 (a) b (c)) S 7 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 3 0 100 1000000 25 18446744073709551615 1 1"
	got, ok := parseStat([]byte(stat))
	if want := (process{parent: 7, threads: 3, memory: 25 * int64(os.Getpagesize())}); !ok || got != want {
		t.Errorf("read %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S 7", "42 (a) S x 42 42 0 -1 0 0 0 0 0 0 0 0 0 0 0 x 0 0 0 x"} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q is %+v", bad, got)
		}
	}
}
