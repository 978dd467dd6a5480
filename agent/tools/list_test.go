package tools

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func tree(t *testing.T) *bench {
	b := newBench(t)
	for name, content := range map[string]string{
		"main.go": "package main\n// needle\n", "README.md": "# Needle\n", ".hidden": "needle\n",
		"pkg/a.go": "needle one\nneedle two\n", "pkg/a_test.go": "x\n", "pkg/deep/b.go": "nothing\n",
		"build/out.go": "needle\n", "pkg/gen/c.go": "needle\n", "pkg/gen/keep.go": "needle\n", "logs/x.log": "needle\n", "logs/keep.log": "needle\n",
		".git/config": "needle\n", ".env": "needle\n", "bin/prog": "needle\x00\x01\n",
		".gitignore": "# comment\n/build/\n*.log\n!keep.log\n", "pkg/.gitignore": "gen/*\r\n!gen/keep.go\n",
	} {
		b.write(name, content)
	}
	b.link("pkg", "link")
	if err := unix.Mkfifo(b.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestListFiles(t *testing.T) {
	b := tree(t)
	for _, tt := range []struct {
		name string
		args arguments
		want string
	}{
		{"the folder itself", arguments{}, ".env\n.gitignore\n.hidden\nREADME.md\nbin/\nlink (a link)\nlogs/\nmain.go\npipe (a named pipe)\npkg/\n(left out because of .gitignore: 1 entry, build)"},
		{"at any depth", arguments{"pattern": "**/*.go"}, "main.go\npkg/a.go\npkg/a_test.go\npkg/deep/b.go\npkg/gen/keep.go\n(left out because of .gitignore: 3 entries, build, logs/x.log, pkg/gen/c.go)"},
		{"alternatives", arguments{"path": "pkg", "pattern": "*.{go,md}"}, "pkg/a.go\npkg/a_test.go"},
		{"a folder's inside", arguments{"path": "pkg", "pattern": "deep/*"}, "pkg/deep/b.go\n(left out because of .gitignore: 1 entry, gen/c.go)"},
		{"an ignored folder by name", arguments{"path": "build"}, "build/out.go"},
		{"nothing", arguments{"pattern": "*.rs"}, "(nothing matches)\n(left out because of .gitignore: 1 entry, build)"},
		{"as commands name it", arguments{"path": "/workspace/pkg", "pattern": "./a.go"}, "pkg/a.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := b.ok("list_files", tt.args).Content; got != tt.want {
				t.Errorf("listed\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	for _, args := range []arguments{{"path": "main.go"}, {"path": "none"}, {"pattern": "[a"}, {"pattern": "../*"}, {"pattern": "/etc/*"}, {"pattern": ""}} {
		b.refused("list_files", args)
	}
}

func TestListIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range maxListed + 234 {
		b.write(fmt.Sprintf("f%04d", i), "")
	}
	got := b.ok("list_files", arguments{})
	if strings.Count(got.Content, "\n") != maxListed || !strings.HasSuffix(got.Content, "(234 more entries are not shown; use a narrower pattern)") || !got.Metadata.Truncated {
		t.Errorf("listed %d lines, %v: …%s", strings.Count(got.Content, "\n"), got.Metadata.Truncated, got.Content[len(got.Content)-80:])
	}
	if !strings.HasPrefix(got.Content, "f0000\nf0001\n") {
		t.Errorf("not sorted: %.40q", got.Content)
	}
}

func TestSearchFiles(t *testing.T) {
	b := tree(t)
	for _, tt := range []struct {
		name      string
		args      arguments
		want      []string
		unwanted  []string
		truncated bool
	}{
		{"everywhere", arguments{"pattern": "needle"}, []string{".hidden:1: needle\n", "main.go:2: // needle\n", "pkg/a.go:1: needle one\npkg/a.go:2: needle two\n", "logs/keep.log:1:", "1 skipped: binary", "1 skipped: with keys", "left out because of .gitignore"}, []string{".git/", ".env:", "build/out.go:", "gen/c.go:", "link/", "README"}, false},
		{"without case", arguments{"pattern": "(?i)^# needle$"}, []string{"README.md:1: # Needle\n"}, []string{"main.go"}, false},
		{"by name", arguments{"pattern": "needle", "glob": "*.go"}, []string{"main.go:2", "pkg/gen/keep.go:1"}, []string{".hidden", "keep.log:"}, false},
		{"by path", arguments{"pattern": "needle", "glob": "pkg/*.go"}, []string{"pkg/a.go:1"}, []string{"main.go", "gen/keep.go:"}, false},
		{"in a folder", arguments{"pattern": "needle", "path": "logs"}, []string{"logs/keep.log:1"}, []string{"main.go"}, false},
		{"in a file", arguments{"pattern": "two", "path": "pkg/a.go"}, []string{"pkg/a.go:2: needle two\n(1 file searched)"}, nil, false},
		{"bounded", arguments{"pattern": "needle", "max": 2}, []string{"there are more matches"}, []string{"pkg/a.go:2"}, true},
		{"nothing", arguments{"pattern": "no such text"}, []string{"(no match)", "files searched"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.ok("search_files", tt.args)
			for _, want := range tt.want {
				if !strings.Contains(got.Content, want) {
					t.Errorf("%q is not in\n%s", want, got.Content)
				}
			}
			for _, not := range tt.unwanted {
				if strings.Contains(got.Content, not) {
					t.Errorf("%q is in\n%s", not, got.Content)
				}
			}
			if got.Metadata.Truncated != tt.truncated {
				t.Errorf("truncated is %v", got.Metadata.Truncated)
			}
		})
	}
	b.refused("search_files", arguments{"pattern": "("}, "RE2", "missing closing")
	b.refused("search_files", arguments{"pattern": ""}, "empty")
	b.refused("search_files", arguments{"pattern": "x", "max": 100000}, "max")
	if got := b.call("search_files", arguments{"pattern": "needle", "path": ".env"}); strings.Contains(got.Content, ".env:1") {
		t.Errorf("searched a sensitive file: %s", got.Content)
	}
}

func TestSearchLongLines(t *testing.T) {
	b := newBench(t)
	b.write("long", strings.Repeat("ä", 50_000)+"needle"+strings.Repeat("y", 3<<20)+"second\nshort needle\n")
	got := b.ok("search_files", arguments{"pattern": "needle|second"})
	if !strings.Contains(got.Content, "long:1: …") || !strings.Contains(got.Content, "byte_offset 100000)") || !strings.Contains(got.Content, "long:2: short needle\n") || !strings.Contains(got.Content, "searched in pieces") {
		t.Errorf("found %s", got.Content)
	}
	if !strings.Contains(got.Content, fmt.Sprintf("byte_offset %d)", 100_006+3<<20)) && !strings.Contains(got.Content, fmt.Sprintf("byte_offset %d)", 100_006+(3<<20))) {
		t.Errorf("the match late in the line is missing: %s", got.Content)
	}
	at := b.ok("read_file", arguments{"path": "long", "byte_offset": 100_000})
	if !strings.HasPrefix(at.Content, "needle") {
		t.Errorf("there stands %.20q", at.Content)
	}
}

func TestSearchUTF16(t *testing.T) {
	b := newBench(t)
	b.write("wide", utf16Bytes("one\r\nzwölf\r\n", true, true))
	if got := b.ok("search_files", arguments{"pattern": "zwölf$"}).Content; !strings.HasPrefix(got, "wide:2: zwölf\n") {
		t.Errorf("found %q", got)
	}
}

func TestIgnoreRules(t *testing.T) {
	for _, tt := range []struct {
		rules, name string
		folder      bool
		ignored     bool
	}{
		{"*.o", "a/b/x.o", false, true},
		{"/x", "a/x", false, false},
		{"/x", "x", false, true},
		{"a/x", "b/a/x", false, false},
		{"a/x", "a/x", false, true},
		{"x/", "x", false, false},
		{"x/", "a/x", true, true},
		{"**/x", "a/b/x", false, true},
		{"a/**", "a", true, false},
		{"a/**", "a/b/c", false, true},
		{"a/**/z", "a/z", false, true},
		{"x\n!x", "x", false, false},
		{`\#x`, "#x", false, true},
		{`\!x`, "!x", false, true},
		{"#x", "#x", false, false},
		{"x  ", "x", false, true},
		{`x\ `, "x ", false, true},
		{"{a,b}", "a", false, false},
		{"x[0-9]", "x5", false, true},
		{"x[!0-9]", "x5", false, false},
		{"?", "ab", false, false},
		{"[", "[", false, false},
	} {
		g := &ignores{rules: map[string][]ignoreRule{".": parseIgnores(tt.rules)}, from: "."}
		for _, dir := range foldersOf(tt.name) {
			if dir != "." {
				g.rules[dir] = nil
			}
		}
		if got := g.ignored(tt.name, tt.folder); got != tt.ignored {
			t.Errorf("%q: %s is ignored: %v", tt.rules, tt.name, got)
		}
	}
}
