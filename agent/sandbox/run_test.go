package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		name, command, signal string
		code                  int
		stdout, stderr        string
	}{
		{"success", "echo out; echo err >&2", "", 0, "out\n", "err\n"},
		{"exit code", "exit 3", "", 3, "", ""},
		{"signal", "kill -TERM $$", "SIGTERM", 0, "", ""},
		{"no such program", "no-such-program 2>/dev/null", "", 127, "", ""},
		{"a pipeline has the code of its last part", "false | cat", "", 0, "", ""},
		{"a head that closes the pipe is no failure", "yes | head -1", "", 0, "y\n", ""},
		{"standard input is at its end", "cat; echo read $?", "", 0, "read 0\n", ""},
		{"there is no terminal", "(read x </dev/tty) 2>/dev/null || echo none", "", 0, "none\n", ""},
		{"the umask is the usual one", "umask", "", 0, "0022\n", ""},
		{"the terminal is dumb", "echo $TERM", "", 0, "dumb\n", ""},
		{"no more than the standard files are open", "ls /proc/$$/fd; true", "", 0, "0\n1\n2\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
				got := run(t, s, Spec{Command: tt.command})
				if got.Code != tt.code || got.Signal != tt.signal || got.TimedOut || got.Stopped || got.Limit != "" {
					t.Errorf("ended with %+v", got.Exit)
				}
				if got.stdout != tt.stdout || got.stderr != tt.stderr {
					t.Errorf("printed %q and %q, want %q and %q", got.stdout, got.stderr, tt.stdout, tt.stderr)
				}
				if got.Kind != s.Kind() || got.Confined != s.Confined() {
					t.Errorf("says %q, confined %v", got.Kind, got.Confined)
				}
			})
		})
	}
}

// What a command leaves running never holds up the call, and ends with it.
func TestCallEndsWithItsCommand(t *testing.T) {
	for _, tt := range []struct{ name, command, want string }{
		{"background child", "sleep 60 & echo done", "done\n"},
		{"background child that prints for ever", "(while :; do echo t; sleep 0.1; done) & echo fg", "fg\n"},
		{"silent child that holds stderr alone", "sleep 60 >/dev/null & echo x", "x\n"},
		{"child in a session of its own", "setsid sleep 60 & echo away", "away\n"},
		{"interactive program", "git init -q . && git -c user.name=u -c user.email=e commit -q --allow-empty -m m && git rebase -i HEAD 2>/dev/null; echo after", "after\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
				begun := time.Now()
				got := run(t, s, Spec{Command: tt.command})
				if took := time.Since(begun); took > patience {
					t.Errorf("took %v", took)
				}
				if !strings.Contains(got.stdout, tt.want) || got.Code != 0 {
					t.Errorf("printed %q, %+v", got.stdout, got.Exit)
				}
			})
		})
	}
}

func TestNothingOutlivesTheCall(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		mark := marker()
		run(t, s, Spec{Command: "(setsid sh -c 'exec sleep " + mark + "' &); nohup sleep " + mark + " & (trap '' TERM HUP; sleep " + mark + ") & sleep 0.2"})
		gone(t, mark)
	})
}

func TestOutputIsNeverLost(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		t.Run("300 kB on stderr before stdout", func(t *testing.T) {
			got := run(t, s, Spec{Command: `head -c 300000 /dev/zero | tr '\0' e >&2; echo ok`})
			if got.stdout != "ok\n" || got.stderr != strings.Repeat("e", 300000) {
				t.Errorf("printed %q and %d bytes", got.stdout, len(got.stderr))
			}
		})
		t.Run("what was in the pipe when the shell ended", func(t *testing.T) {
			got := run(t, s, Spec{Command: "head -c 900000 /dev/zero; sleep 60 &"})
			if len(got.stdout) != 900000 {
				t.Errorf("printed %d bytes", len(got.stdout))
			}
		})
		t.Run("every byte of 64 MiB", func(t *testing.T) {
			var n counter
			exit, err := s.Run(context.Background(), Spec{Command: "head -c 67108864 /dev/zero", Workspace: workspace(t), Stdout: &n, Stderr: io.Discard})
			if err != nil || exit.Code != 0 || n.Load() != 64<<20 {
				t.Errorf("%d bytes, %+v, %v", n.Load(), exit, err)
			}
		})
	})
}

type counter struct{ atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}

func TestTimeoutFiresUnderFlood(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		var n counter
		begun := time.Now()
		exit, err := s.Run(context.Background(), Spec{
			Command: "yes & yes >&2", Workspace: workspace(t), Timeout: 500 * time.Millisecond, Stdout: &n, Stderr: &n,
		})
		if err != nil || !exit.TimedOut || exit.Signal != "" || exit.Code != 0 {
			t.Errorf("ended with %+v, %v", exit, err)
		}
		if took := time.Since(begun); took > patience {
			t.Errorf("took %v", took)
		}
		if n.Load() == 0 {
			t.Error("what had been printed is gone")
		}
	})
}

func TestStop(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		// Of three tries one must keep to the second: the machine may be busy.
		var took time.Duration
		for range 3 {
			if took = stopOne(t, s); took <= time.Second {
				return
			}
		}
		t.Errorf("took %v", took)
	})
}

// stopOne stops a command that heeds no signal, and says how long that took.
func stopOne(t *testing.T, s *Sandbox) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mark := marker()
	var stopped time.Time
	out := writerFunc(func(p []byte) {
		if string(p) != "begun\n" {
			t.Errorf("printed %q", p)
		}
		stopped = time.Now()
		cancel()
	})
	exit, err := s.Run(ctx, Spec{
		Command:   "trap '' TERM INT HUP; setsid sleep " + mark + " & echo begun; sleep " + mark,
		Workspace: workspace(t), Stdout: out,
	})
	took := time.Since(stopped)
	if err != nil || !exit.Stopped || exit.TimedOut || stopped.IsZero() {
		t.Errorf("ended with %+v, %v", exit, err)
	}
	gone(t, mark)
	return took
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// In a container the server may be the process to which orphans go. A process
// that reaps none of them must not fill up with those of its commands.
func TestNoZombiesAreLeftToTheServer(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	each(t, confined, Limits{}, func(t *testing.T, s *Sandbox) {
		run(t, s, Spec{Command: "true"})
		run(t, s, Spec{Command: "sleep 60 & true"})
		run(t, s, Spec{Command: "setsid sleep 60 & sleep 60", Timeout: 200 * time.Millisecond})
		if left := descendants(readProcesses(), os.Getpid()); len(left) > 0 {
			t.Errorf("%d processes are left", len(left))
		}
	})
}

func TestStoppedBeforeItBegins(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		exit, err := s.Run(ctx, Spec{Command: "sleep 60", Workspace: workspace(t)})
		if err != nil || !exit.Stopped {
			t.Errorf("ended with %+v, %v", exit, err)
		}
	})
}

func TestCommandThatCannotBegin(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		for name, spec := range map[string]Spec{
			"no workspace": {Command: "true", Workspace: filepath.Join(t.TempDir(), "gone")},
			"too long":     {Command: strings.Repeat("#", MaxCommandBytes+1), Workspace: t.TempDir()},
		} {
			if exit, err := s.Run(context.Background(), spec); err == nil {
				t.Errorf("%s: ran, %+v", name, exit)
			}
		}
		got := run(t, s, Spec{Command: "echo begun\n" + strings.Repeat("#", MaxCommandBytes-20)})
		if got.stdout != "begun\n" {
			t.Errorf("the longest command printed %q and %q", got.stdout, got.stderr)
		}
	})
}

func TestModes(t *testing.T) {
	none := []string{"no such kind"}
	for _, tt := range []struct {
		mode Mode
		runs bool
	}{{Auto, true}, {Off, true}, {Required, false}} {
		s, err := New(Options{Mode: tt.mode, Kinds: none})
		if err != nil {
			t.Fatal(err)
		}
		if s.Confined() || s.Kind() != KindNone || s.Mode() != tt.mode {
			t.Errorf("%s: confined %v, %s", tt.mode, s.Confined(), s.Kind())
		}
		exit, err := s.Run(context.Background(), Spec{Command: "true", Workspace: workspace(t)})
		if tt.runs && (err != nil || exit.Confined) {
			t.Errorf("%s: %+v, %v", tt.mode, exit, err)
		}
		if !tt.runs && !errors.Is(err, ErrUnconfined) {
			t.Errorf("%s: %v", tt.mode, err)
		}
	}
	if _, err := ParseMode("maybe"); err == nil {
		t.Error("any word is a mode")
	}
}

// patience is for what would else hang for a minute, on a busy machine.
const patience = 15 * time.Second

var markers atomic.Int64

// marker is a time to sleep that no other process names in its arguments.
func marker() string {
	return "7" + strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(markers.Add(1), 10)
}

// gone waits for every process that has the marker to end.
func gone(t *testing.T, mark string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left = nil
		for pid := range readProcesses() {
			cmdline, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			if args := string(cmdline); strings.HasPrefix(args, "sleep\x00"+mark) {
				left = append(left, args)
			}
		}
		if left == nil {
			return
		}
	}
	t.Errorf("%d are still running, such as %q", len(left), left[0])
}
