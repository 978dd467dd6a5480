package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestANameOfABrowserBecomesAPlainOne(t *testing.T) {
	for name, want := range map[string]string{
		"report.pdf":                         "report.pdf",
		"../../etc/passwd":                   "passwd",
		`C:\Users\me\photo.jpg`:              "photo.jpg",
		"":                                   "file",
		"..":                                 "file",
		"/":                                  "file",
		"a\nb\x00c\u202ed":                   "a_b_c_d",
		"\xff\xfe.txt":                       "_.txt",
		".offcut-1":                          "offcut-1",
		"中文 名.txt":                           "中文 名.txt",
		strings.Repeat("é", 300):             strings.Repeat("é", 100),
		strings.Repeat("x", 300) + ".tar.gz": strings.Repeat("x", 197) + ".gz",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%.40q becomes %.220q, want %.220q", name, got, want)
		}
	}
}

func TestATakenNameGetsANumber(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for name, want := range map[string][]string{
		"a.tar.gz": {"a.tar.gz", "a.tar (2).gz", "a.tar (3).gz"},
		".bashrc":  {".bashrc", ".bashrc (2)"},
		"plain":    {"plain", "plain (2)"},
	} {
		for _, free := range want {
			got, err := freeName(root, name)
			if err != nil || got != free {
				t.Fatalf("%s: %q %v, want %q", name, got, err, free)
			}
			if err := os.Symlink("nowhere", filepath.Join(dir, got)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
