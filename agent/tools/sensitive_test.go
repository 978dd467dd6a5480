package tools

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const secret = "the-own-secret"

func TestSensitiveNames(t *testing.T) {
	for name, refused := range map[string]bool{
		".env": true, ".env.local": true, "a/.ENV": true, "server.pem": true, "id_rsa": true, "id_ed25519.pub": true,
		".ssh/config": true, "x/.aws/y/z": true, ".netrc": true, ".git-credentials": true, "tls.key": true, "credentials": true,
		"credentials.json": true, ".npmrc": true,
		".env.example": false, "environment": false, "main.go": false, "keys.go": false, "credentials/store.go": false,
		"my.env.txt": false, "sshd.md": false, ".gitignore": false, ".": false,
	} {
		if got := sensitiveName(name) != ""; got != refused {
			t.Errorf("%s: refused is %v", name, got)
		}
	}
}

func TestPathsOutsideAreRefused(t *testing.T) {
	data := t.TempDir()
	for _, dir := range []string{"other", "own"} {
		if err := os.MkdirAll(filepath.Join(data, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"offcut.db", "other/notes"} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, func(o *Options) { o.Sensitive = []string{data} })
	b.workspace = filepath.Join(data, "own")
	b.write(".env", secret)
	b.write(".ssh/config", secret)
	b.write("plain", "plain")
	for name, target := range map[string]string{
		"notes.txt":  ".env",
		"chain":      "notes.txt",
		"keys":       ".ssh",
		"up":         "..",
		"other":      "../other/notes",
		"absolute":   filepath.Join(data, "offcut.db"),
		"passwd":     "/etc/passwd",
		"environ":    "/proc/self/environ",
		"loop":       "loop",
		"fine":       "plain",
		"dangling":   ".env.local",
		"here":       ".",
		"through-fd": "/dev/stdin",
	} {
		b.link(target, name)
	}
	for _, path := range []string{
		".env", "./.env", "x/../.env", "notes.txt", "chain", "keys/config", ".ssh/config", "here/.env", "here/here/notes.txt",
		"../offcut.db", "up/offcut.db", "other", "absolute", "passwd", "environ", "loop", "through-fd",
		filepath.Join(data, "offcut.db"), "/etc/passwd", "/proc/self/environ", "/proc/1/environ", "/sys/kernel/notes", "~/.ssh/id_rsa", "/workspace/../etc/passwd",
		"/workspace/.env", "..", "../..", "/",
	} {
		for tool, args := range map[string]arguments{
			"read_file":    {"path": path},
			"write_file":   {"path": path, "content": "overwritten"},
			"edit_file":    {"path": path, "old_string": "own", "new_string": "x"},
			"search_files": {"path": path, "pattern": "own"},
		} {
			got := b.call(tool, args)
			if !got.IsError && tool != "search_files" {
				t.Errorf("%s %s was done: %q", tool, path, got.Content)
			}
			if strings.Contains(got.Content, secret) || strings.Contains(strings.ReplaceAll(got.Content, path, ""), data) {
				t.Errorf("%s %s tells %q", tool, path, got.Content)
			}
		}
		if got := b.call("list_files", arguments{"path": path, "pattern": "**"}); strings.Contains(strings.ReplaceAll(got.Content, path, ""), "offcut.db") {
			t.Errorf("list_files %s tells %q", path, got.Content)
		}
	}
	b.refused("write_file", arguments{"path": "dangling", "content": "x"}, "link")
	b.refused("read_file", arguments{"path": "notes.txt"}, "leads to .env")
	if b.read(".env") != secret {
		t.Error("a secret was overwritten")
	}
	if got := b.call("search_files", arguments{"pattern": "own"}).Content; strings.Contains(got, secret) || !strings.Contains(got, "skipped: with keys") {
		t.Errorf("the search tells %q", got)
	}
	for _, path := range []string{"fine", "here/plain", "/workspace/plain", b.path("plain"), "./plain", "a/../plain"} {
		if got := b.call("read_file", arguments{"path": path}); got.Content != "plain" {
			t.Errorf("%s: %q", path, got.Content)
		}
	}
}

func TestAddedFolders(t *testing.T) {
	added, data := t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		filepath.Join(added, "shared"):   "shared\n",
		filepath.Join(data, "offcut.db"): secret,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, func(o *Options) { o.Folders, o.Sensitive = []string{added, filepath.Dir(data)}, []string{data} })
	if got := b.ok("read_file", arguments{"path": filepath.Join(added, "shared")}); got.Content != "shared\n" {
		t.Errorf("read %q", got.Content)
	}
	b.refused("read_file", arguments{"path": filepath.Join(data, "offcut.db")}, "Offcut itself")
	b.refused("list_files", arguments{"path": data}, "Offcut itself")
	if got := b.ok("search_files", arguments{"path": filepath.Dir(data), "pattern": secret}).Content; strings.Contains(got, secret) {
		t.Errorf("the search tells %q", got)
	}
	b.ok("write_file", arguments{"path": filepath.Join(added, "new"), "content": "x"})
	if got := b.ok("list_files", arguments{"path": added}).Content; got != filepath.Join(added, "new")+"\n"+filepath.Join(added, "shared") {
		t.Errorf("listed %q", got)
	}
}

// A file that is swapped between the check and the opening is not read: what
// is checked is the file that is open.
func TestSwapWhileOpening(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write(".env", secret)
	b.write("plain", "plain")
	var done atomic.Bool
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; !done.Load(); i++ {
			target := []string{"plain", ".env", outside, "../outside"}[i%4]
			_ = os.Remove(b.path("next"))
			_ = os.Symlink(target, b.path("next"))
			_ = os.Rename(b.path("next"), b.path("swapped"))
		}
	})
	read, refused := 0, 0
	for range 3000 {
		got := b.call("read_file", arguments{"path": "swapped"})
		switch {
		case strings.Contains(got.Content, secret):
			t.Fatal("a swap led to a secret")
		case got.IsError:
			refused++
		default:
			read++
		}
	}
	done.Store(true)
	swapping.Wait()
	if read == 0 || refused == 0 {
		t.Errorf("the race was not run: %d read, %d refused", read, refused)
	}
}
