package llmtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dir is where the server's package is installed, from the folder of each
// client's package.
const dir = "../openai/testdata/aimock"

// Aimock starts a server of models that others wrote, with a script of answers,
// and returns its address: what a client sends is held against another reading of
// the protocols than ours. It ends with the test. Its package is installed by `make test`; without it there
// is nothing to test, and a machine that checks must not pass over that.
func Aimock(t *testing.T, script string) string {
	t.Helper()
	_, missing := os.Stat(filepath.Join(dir, "node_modules"))
	if _, err := exec.LookPath("node"); err != nil || missing != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node or its packages are missing; `make test` installs them")
		}
		t.Skip("needs node and its packages; `make test` installs them")
	}
	cmd := exec.Command("node", "serve.mjs", script)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // its sign to end
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the counterpart does not start: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return strings.TrimSpace(address)
}
