package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A secret lies in each place that a command must not reach; none may ever be
// printed.
const secret = "the-servers-own-secret"

func TestServerIsOutOfReach(t *testing.T) {
	data := t.TempDir()
	other := filepath.Join(data, "workspaces", "other")
	own := filepath.Join(data, "workspaces", "own")
	for _, dir := range []string{other, own} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(data, "offcut.db"), secret)
	write(t, filepath.Join(other, "notes"), secret)
	if err := os.Symlink(filepath.Join(other, "notes"), filepath.Join(own, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OFFCUT_ADMIN_TOKEN", secret)
	server := os.Getpid()
	home, _ := os.UserHomeDir()

	each(t, confined, Limits{}, func(t *testing.T, s *Sandbox) {
		for name, command := range map[string]string{
			"data folder":        "cat " + data + "/offcut.db",
			"another workspace":  "cat " + other + "/notes",
			"by a link":          "cat link",
			"by ..":              "cat ../other/notes /workspace/../offcut.db ../workspaces/other/notes",
			"environment":        "! env | grep " + secret,
			"environment of 1":   "! cat /proc/[0-9]*/environ | grep -a " + secret,
			"server's process":   fmt.Sprintf("cat /proc/%d/environ", server),
			"home":               "! ls -A " + home + " 2>/dev/null | grep .",
			"root's home":        "! ls -A /root 2>/dev/null | grep .",
			"homes":              "! ls -A /home 2>/dev/null | grep .",
			"command lines":      "! cat /proc/[0-9]*/cmdline | grep -a '[w]orkspaces/own'", // its own does not match
			"accounts":           "cat /etc/shadow",
			"kernel settings":    "cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness",
			"kernel's dump rule": "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern",
			"/sys":               "ls /sys/kernel",
			"/run":               "ls /run /var/run",
			"system folders":     "touch /usr/bin/x || touch /etc/x || touch /bin/x",
			"writable again":     "mount -o remount,rw /usr",
			"new mounts":         "mount -t tmpfs x /tmp",
			"more rights":        "unshare -Ur true",
			"signal to server":   fmt.Sprintf("kill -0 %d", server),
			"a device":           "mknod null c 1 3",
			"kernel messages":    "dmesg",
		} {
			got := run(t, s, Spec{Command: command, Workspace: own})
			wantFailure := !strings.HasPrefix(command, "!")
			if wantFailure == (got.Code == 0 && got.Signal == "") {
				t.Errorf("%s: %q ended with %+v: %q", name, command, got.Exit, got.stdout)
			}
			if strings.Contains(got.stdout+got.stderr, secret) {
				t.Errorf("%s: the secret was printed: %q %q", name, got.stdout, got.stderr)
			}
		}
	})
}

func TestTheFirstProcessDoesNotEndByASignalOfTheCommand(t *testing.T) {
	each(t, confined, Limits{}, func(t *testing.T, s *Sandbox) {
		got := run(t, s, Spec{Command: "for s in $(seq 1 31); do [ $s = 19 ] || kill -$s 1; done; sleep 0.2; echo alive"})
		if got.stdout != "alive\n" || got.Code != 0 || got.Signal != "" {
			t.Errorf("printed %q, ended with %+v", got.stdout, got.Exit)
		}
	})
}

func TestWorkspaceIsReached(t *testing.T) {
	each(t, confined, Limits{}, func(t *testing.T, s *Sandbox) {
		dir := workspace(t)
		write(t, filepath.Join(dir, "in"), "given")
		got := run(t, s, Spec{Workspace: dir, Command: `
			pwd; echo $HOME; cat in; mkdir -p a/b && echo made >a/b/out && mv a/b/out a/out
			echo t >/tmp/t && cat /tmp/t; ls /proc | grep -c '^[0-9]' | grep -q '^[0-9]$' && echo few
			bash -c 'cat <(echo substituted)' && echo to-null >/dev/null && python3 -c 'print(1+1)'`})
		if want := WorkspacePath + "\n" + WorkspacePath + "\ngiven" + "t\nfew\nsubstituted\n2\n"; got.stdout != want || got.stderr != "" {
			t.Errorf("printed %q and %q", got.stdout, got.stderr)
		}
		if made, err := os.ReadFile(filepath.Join(dir, "a/out")); err != nil || string(made) != "made\n" {
			t.Errorf("wrote %q, %v", made, err)
		}
		if again := run(t, s, Spec{Workspace: dir, Command: "ls /tmp"}); again.stdout != "" {
			t.Errorf("/tmp still holds %q", again.stdout)
		}
	})
}

func TestNetworkIsOff(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, secret)
			_ = conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	connect := "bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + " && cat <&3'"

	each(t, confined, Limits{}, func(t *testing.T, s *Sandbox) {
		if got := run(t, s, Spec{Command: connect}); got.Code == 0 || got.stdout != "" {
			t.Errorf("connected: %+v", got)
		}
		if got := run(t, s, Spec{Command: "python3 -c 'import socket as s; x=s.socket(); x.bind((\"127.0.0.1\",0)); x.listen(); s.create_connection(x.getsockname()); print(\"itself\")'"}); got.stdout != "itself\n" {
			t.Errorf("its own loopback: %q %q", got.stdout, got.stderr)
		}
		got := run(t, s, Spec{Command: connect, Network: true})
		if got.stdout != secret || got.Confined {
			t.Errorf("with the network allowed: %+v", got)
		}
	})
}

// A data folder under a system folder is covered, also for a command whose
// workspace lies in it.
func TestHiddenFolderUnderSystemFolder(t *testing.T) {
	data, err := os.MkdirTemp("/usr/local/share", "offcut-test-")
	if err != nil {
		t.Logf("no right to make the folder, so a link to a system folder stands for it: %v", err)
		data = "/usr/share"
	} else {
		defer func() { _ = os.RemoveAll(data) }()
		write(t, filepath.Join(data, "offcut.db"), secret)
	}
	for _, kind := range confined {
		t.Run(kind, func(t *testing.T) {
			s := sandboxOf(t, kind, Limits{}, Hidden(data))
			if s.Kind() != kind {
				return // TestEndings asserts what is said then
			}
			got := run(t, s, Spec{Command: "ls -A " + data + "; touch " + data + "/x"})
			if got.stdout != "" || got.Code == 0 {
				t.Errorf("saw %q, %+v", got.stdout, got.Exit)
			}
		})
	}
}

// A server that is killed takes its commands with it.
func TestCommandsDieWithTheServer(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		mark := marker()
		server := exec.Command("/proc/self/exe", "-test.run=^TestServerToKill$", "-test.v")
		server.Env = append(os.Environ(), "SERVER_KIND="+s.Kind(), "SERVER_COMMAND=echo begun >begun; setsid sleep "+mark+" & sleep "+mark)
		dir := workspace(t)
		server.Env = append(server.Env, "SERVER_WORKSPACE="+dir)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the command did not begin")
			}
		}
		_ = server.Process.Kill()
		_ = server.Wait()
		gone(t, mark)
	})
}

// TestServerToKill is the server of the test above; else there is nothing in
// it to test.
func TestServerToKill(t *testing.T) {
	command := os.Getenv("SERVER_COMMAND")
	if command == "" {
		return
	}
	s := sandboxOf(t, os.Getenv("SERVER_KIND"), Limits{})
	run(t, s, Spec{Command: command, Workspace: os.Getenv("SERVER_WORKSPACE"), Timeout: time.Minute})
}

func TestManyAtOnce(t *testing.T) {
	each(t, kinds, Limits{}, func(t *testing.T, s *Sandbox) {
		results := make(chan string)
		for i := range 16 {
			go func() {
				got := run(t, s, Spec{Command: "sleep 0.2; echo " + strconv.Itoa(i) + "; exit " + strconv.Itoa(i)})
				results <- fmt.Sprintf("%d %s", got.Code-i, strings.TrimSpace(got.stdout))
			}()
		}
		seen := map[string]bool{}
		for range 16 {
			seen[<-results] = true
		}
		for i := range 16 {
			if !seen["0 "+strconv.Itoa(i)] {
				t.Errorf("command %d is missing or ended wrongly: %v", i, seen)
			}
		}
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
