package tools

import (
	"os"
	"strings"
	"testing"
	"time"

	"offcut/agent/approve"
)

func TestWriteFile(t *testing.T) {
	b := newBench(t)
	made := b.ok("write_file", arguments{"path": "a/b/new.txt", "content": "one\ntwo\n"})
	if !strings.HasPrefix(made.Content, "Made a/b/new.txt, 8 bytes.\n\n") || !strings.Contains(made.Content, "+++ b/a/b/new.txt\n") || !strings.Contains(made.Content, "\n+two\n") {
		t.Errorf("made: %q", made.Content)
	}
	if err := os.Chmod(b.path("a/b/new.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	wrote := b.ok("write_file", arguments{"path": "a/b/new.txt", "content": "one\n2\n"})
	if !strings.HasPrefix(wrote.Content, "Wrote a/b/new.txt, 6 bytes.") || !strings.Contains(wrote.Content, "\n-two\n+2\n") {
		t.Errorf("wrote: %q", wrote.Content)
	}
	if info, err := os.Stat(b.path("a/b/new.txt")); err != nil || info.Mode().Perm() != 0o755 || b.read("a/b/new.txt") != "one\n2\n" {
		t.Errorf("the file is %v, %v: %q", info.Mode(), err, b.read("a/b/new.txt"))
	}
	if same := b.ok("write_file", arguments{"path": "a/b/new.txt", "content": "one\n2\n"}); !strings.Contains(same.Content, "already") {
		t.Errorf("the same: %q", same.Content)
	}
	if empty := b.ok("write_file", arguments{"path": "empty", "content": ""}); empty.Content != "Made empty, 0 bytes." || b.read("empty") != "" {
		t.Errorf("an empty file: %q", empty.Content)
	}
	if left, _ := os.ReadDir(b.path("a/b")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if info, err := os.Stat(b.path("a")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	b := newBench(t)
	b.write("file", "x")
	b.write("folder/x", "x")
	for _, tt := range []struct {
		args  arguments
		words []string
	}{
		{arguments{"path": "folder", "content": ""}, []string{"is a folder"}},
		{arguments{"path": "new/", "content": ""}, []string{"is a folder"}},
		{arguments{"path": ".", "content": ""}, []string{"is a folder"}},
		{arguments{"path": "file/x", "content": ""}, []string{"goes through a file"}},
		{arguments{"path": "f", "content": strings.Repeat("x", maxWriteBytes+1)}, []string{"at most 8388608"}},
		{arguments{"path": "f"}, []string{"content"}},
	} {
		b.refused("write_file", tt.args, tt.words...)
	}
}

// A link is written through, and stays a link.
func TestWriteThroughLink(t *testing.T) {
	b := newBench(t)
	b.write("real/file", "old")
	b.link("real/file", "link")
	b.link("real", "folder")
	b.ok("write_file", arguments{"path": "link", "content": "new"})
	b.ok("write_file", arguments{"path": "folder/second", "content": "two"})
	if target, err := os.Readlink(b.path("link")); err != nil || target != "real/file" || b.read("real/file") != "new" || b.read("real/second") != "two" {
		t.Errorf("the link is %q, %v; the file %q", target, err, b.read("real/file"))
	}
}

// Whoever reads a file while it is written sees one content or the other.
func TestWritesAreAtomic(t *testing.T) {
	b := newBench(t)
	contents := []string{strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)}
	b.write("f", contents[0])
	done := make(chan bool)
	go func() {
		defer close(done)
		for i := range 20 {
			b.ok("write_file", arguments{"path": "f", "content": contents[i%2]})
		}
	}()
	for {
		if got := b.read("f"); got != contents[0] && got != contents[1] {
			t.Errorf("read %d bytes of neither content", len(got))
		}
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestLongDiffIsCut(t *testing.T) {
	b := newBench(t)
	got := b.ok("write_file", arguments{"path": "f", "content": strings.Repeat("a line\n", 5000)})
	if len(got.Content) > maxDiffBytes+500 || !strings.Contains(got.Content, "more lines of this diff") {
		t.Errorf("%d bytes: …%q", len(got.Content), got.Content[len(got.Content)-100:])
	}
}

func TestEditFile(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		args          arguments
		want          string
	}{
		{"one place", "a b c\n", arguments{"old_string": "b", "new_string": "B"}, "a B c\n"},
		{"every place", "x x x", arguments{"old_string": "x", "new_string": "y", "replace_all": true}, "y y y"},
		{"away with it", "a b", arguments{"old_string": " b", "new_string": ""}, "a"},
		{"CRLF given as newlines", "a\r\nb\r\nc\r\n", arguments{"old_string": "a\nb", "new_string": "1\n2\n3"}, "1\r\n2\r\n3\r\nc\r\n"},
		{"the mark stays", "\xEF\xBB\xBFa", arguments{"old_string": "a", "new_string": "b"}, "\xEF\xBB\xBFb"},
		{"UTF-16 stays so", utf16Bytes("ä😀\n", false, true), arguments{"old_string": "ä", "new_string": "ö"}, utf16Bytes("ö😀\n", false, true)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.write("f", tt.content)
			tt.args["path"] = "f"
			got := b.ok("edit_file", tt.args)
			if b.read("f") != tt.want {
				t.Errorf("the file is %q, want %q", b.read("f"), tt.want)
			}
			if !strings.HasPrefix(got.Content, "Edited f, ") || !strings.Contains(got.Content, "@@") {
				t.Errorf("the result is %q", got.Content)
			}
		})
	}
}

func TestEditFileRefuses(t *testing.T) {
	b := newBench(t)
	b.write("f", "one\n  two\nthree\none\n")
	b.write("binary", "a\x00b\x00\x00\x00")
	b.write("latin", "caf\xe9\n")
	for _, tt := range []struct {
		args  arguments
		words []string
	}{
		{arguments{"path": "f", "old_string": "four", "new_string": "x"}, []string{"does not stand in f"}},
		{arguments{"path": "f", "old_string": "\ttwo\n", "new_string": "x"}, []string{"does not stand", "at line 2", "spaces"}},
		{arguments{"path": "f", "old_string": "one", "new_string": "x"}, []string{"2 times", "lines 1, 4", "replace_all"}},
		{arguments{"path": "f", "old_string": "", "new_string": "x"}, []string{"empty"}},
		{arguments{"path": "f", "old_string": "one", "new_string": "one"}, []string{"the same"}},
		{arguments{"path": "none", "old_string": "a", "new_string": "b"}, []string{"no none"}},
		{arguments{"path": "binary", "old_string": "a", "new_string": "b"}, []string{"binary"}},
		{arguments{"path": "latin", "old_string": "caf", "new_string": "b"}, []string{"not valid UTF-8"}},
	} {
		b.refused("edit_file", tt.args, tt.words...)
	}
	if b.read("f") != "one\n  two\nthree\none\n" {
		t.Errorf("the file became %q", b.read("f"))
	}
}

func TestChangesRunOnlyOnceSomebodyAllowsThem(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Policy = approve.Policy{Mode: approve.Ask, Confined: true} })
	b.write("f", "x")
	b.refused("write_file", arguments{"path": "f", "content": "y"}, "write_file was not run", "nobody can be asked")
	b.refused("edit_file", arguments{"path": "f", "old_string": "x", "new_string": "y"}, "nobody can be asked")
	b.refused("run_command", arguments{"command": "echo y >f"}, "nobody can be asked")
	if b.ok("read_file", arguments{"path": "f"}).Content != "x" {
		t.Error("the file was changed")
	}
}

func TestNoFileIsMadeUnderANameThatReadsAsAnother(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a\u202etxt.exe", "a\nb", "notes\u2066/x.md"} {
		b.refused("write_file", arguments{"path": name, "content": "x"}, "was not made", "cannot be seen")
	}
	b.ok("write_file", arguments{"path": "日本 🙂.md", "content": "x"})
	b.write("made by a command\u202e.txt", "old")
	b.ok("write_file", arguments{"path": "made by a command\u202e.txt", "content": "new"})
}
