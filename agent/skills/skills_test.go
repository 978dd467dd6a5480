package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// put writes a file below a folder.
func put(t testing.TB, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func skill(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n# How\n\nDo it.\n"
}

func TestSkillsAreFoundInTheirPlaces(t *testing.T) {
	server, more, workspace := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, server, "count-rows/SKILL.md", skill("count-rows", "Counts the rows\n  of a table."))
	put(t, server, "count-rows/scripts/count.sh", "wc -l")
	put(t, server, "count-rows/notes.txt", "n")
	put(t, more, "pdf/SKILL.md", skill("pdf", "Reads PDF."))
	put(t, more, "count-rows/SKILL.md", skill("count-rows", "Another."))
	put(t, workspace, ".agents/skills/one/SKILL.md", skill("one", "The first."))
	put(t, workspace, ".claude/skills/two/SKILL.md", skill("two", "The second."))
	put(t, workspace, "skills/three/SKILL.md", skill("three", "The third."))
	put(t, workspace, "skills/of-something-else/readme.txt", "no skill")
	c := New(Folder{server, "/skills"}, Folder{more, "/srv/more"}, Folder{"/nowhere/at/all", "/nowhere"})

	found := c.In(workspace)
	var names []string
	for _, s := range found.Skills {
		names = append(names, fmt.Sprintf("%s %s %v", s.Name, s.At, s.Workspace))
	}
	want := "count-rows /skills/count-rows false, pdf /srv/more/pdf false, one .agents/skills/one true, two .claude/skills/two true, three skills/three true"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("found %s", got)
	}
	if len(found.Broken) != 1 || found.Broken[0].At != "/srv/more/count-rows" || !strings.Contains(found.Broken[0].Why, "another skill of its name") {
		t.Errorf("broken %+v", found.Broken)
	}
	if found.Skills[0].Description != "Counts the rows of a table." || found.Skills[0].Instructions != "# How\n\nDo it." {
		t.Errorf("%+v", found.Skills[0])
	}
	one, files, ok := c.Skill(t.Context(), workspace, "count-rows")
	if !ok || one.At != "/skills/count-rows" || strings.Join(files.Names, " ") != "notes.txt scripts/count.sh" {
		t.Errorf("%+v, files %v", one, files)
	}
	if _, _, ok := c.Skill(t.Context(), workspace, "../../etc"); ok {
		t.Error("a path is a name")
	}
	if n := len(c.In("").Skills); n != 2 {
		t.Errorf("without a workspace there are %d", n)
	}
	put(t, workspace, "skills/pdf/SKILL.md", skill("pdf", "Another."))
	if own := c.Of(workspace); len(own.Skills) != 3 || len(own.Broken) != 1 || own.Broken[0].At != "skills/pdf" || !own.Broken[0].Workspace {
		t.Errorf("of the workspace alone: %+v", own)
	}
}

// Front matter as people and other products write it.
func TestFrontMatterIsReadAsItIsWritten(t *testing.T) {
	for name, test := range map[string]struct{ head, description string }{
		"plain":           {"name: a-b\ndescription: Does it.", "Does it."},
		"double quotes":   {"name: \"a-b\"\ndescription: \"Says: \\\"yes\\\", \\u00e9\"", `Says: "yes", é`},
		"single quotes":   {"name: 'a-b'\ndescription: 'It''s: done # not a comment'", "It's: done # not a comment"},
		"a block":         {"name: a-b\ndescription: |\n  One.\n\n  Two:\n  - three", "One. Two: - three"},
		"a folded block":  {"description: >-\n  One\n  and two.\nname: a-b", "One and two."},
		"over two lines":  {"name: a-b\ndescription: One\n  and two.", "One and two."},
		"more keys":       {"name: a-b\nlicense: MIT\nallowed-tools: [Read, Bash]\nmetadata:\n  version: 1.0\ndescription: Does it. # as said", "Does it."},
		"blanks":          {"name:   a-b   \ndescription: Does it.\t", "Does it."},
		"a fence in text": {"name: a-b\ndescription: |\n  before\n  ---\n  after", "before --- after"},
	} {
		for variant, write := range map[string]func(string) string{
			"":                  func(s string) string { return s },
			" with CRLF":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			" with BOM":         func(s string) string { return "\uFEFF" + s },
			" with wide fences": func(s string) string { return strings.ReplaceAll(s, "\n---\n", "\n--- \t\n") },
		} {
			got, err := parse("a-b", []byte(write("---\n"+test.head+"\n---\n\n# How\n\n---\n\nDo it.\n")))
			if err != nil || got.Name != "a-b" || got.Description != test.description || got.Instructions != "# How\n\n---\n\nDo it." {
				t.Errorf("%s%s: %+v, %v", name, variant, got, err)
			}
		}
	}
}

func TestBrokenSkillsAreNamedAndHarmNoOther(t *testing.T) {
	place, outside := t.TempDir(), t.TempDir()
	put(t, outside, "out/SKILL.md", skill("out", "Outside."))
	put(t, place, "good/SKILL.md", skill("good", "Works."))
	for name, content := range map[string]string{
		"no-front": "# How", "no-end": "---\nname: no-end\ndescription: x\n", "no-name": "---\ndescription: x\n---\n", "no-words": "---\nname: no-words\n---\n",
		"no-yaml": "---\nname: [\n---\n", "a-list": "---\n- x\n---\n", "Big-Letters": skill("Big-Letters", "x"), "two--hyphens": skill("two--hyphens", "x"),
		"other": skill("another", "x"), "long": skill("long", strings.Repeat("x", 1025)), "big": skill("big", "x") + strings.Repeat("x", maxFile), "wide-front": "---\nname: wide-front\ndescription: x\nmore: " + strings.Repeat("y", maxFront) + "\n---\n",
		"binary": skill("binary", "x") + "\x00", "bomb": "---\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\nname: [*d,*d,*d,*d,*d,*d]\n---\n",
		strings.Repeat("n", 65): skill(strings.Repeat("n", 65), "x"),
	} {
		put(t, place, name+"/SKILL.md", content)
	}
	put(t, place, "empty/readme.txt", "x")
	if err := os.MkdirAll(filepath.Join(place, "pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(place, "pipe/SKILL.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(place, "leak"), 0o755); err != nil {
		t.Fatal(err)
	}
	for target, name := range map[string]string{filepath.Join(outside, "out"): "out", filepath.Join(outside, "out/SKILL.md"): "leak/SKILL.md", "good": "same", "nowhere": "lost"} {
		if err := os.Symlink(target, filepath.Join(place, name)); err != nil {
			t.Fatal(err)
		}
	}
	found := New(Folder{place, "/skills"}).In("")
	if len(found.Skills) != 1 || found.Skills[0].Name != "good" {
		t.Errorf("found %+v", found.Skills)
	}
	why := map[string]string{}
	for _, b := range found.Broken {
		why[strings.TrimPrefix(b.At, "/skills/")] = b.Why
		if strings.Contains(b.Why, place) || strings.Contains(b.Why, outside) {
			t.Errorf("%s names a place of the server: %s", b.At, b.Why)
		}
	}
	for name, says := range map[string]string{
		"no-front": "does not begin with front matter", "no-end": "does not end", "no-name": "no name", "no-words": "no description", "no-yaml": "no YAML", "a-list": "no YAML",
		"Big-Letters": "small letters", "two--hyphens": "small letters", "other": "must be the same", "long": "more than 1024 characters", "big": "more than 65536 bytes",
		"wide-front": "front matter has more than", "binary": "no text", "bomb": "no YAML", strings.Repeat("n", 65): "at most 64",
		"empty": "no SKILL.md", "pipe": "is no file", "out": "leads out of its place", "leak": "leads out of its place", "same": "must be the same", "lost": "leads out of its place",
	} {
		if !strings.Contains(why[name], says) {
			t.Errorf("%s: %q does not say %q", name, why[name], says)
		}
	}
}

func TestAFolderOfManyIsLookedAtInPart(t *testing.T) {
	place := t.TempDir()
	for i := range maxFolders + 1 {
		put(t, place, fmt.Sprintf("s%04d/SKILL.md", i), skill(fmt.Sprintf("s%04d", i), "x"))
	}
	found := New(Folder{place, "/skills"}).In("")
	if len(found.Skills) != maxFolders || len(found.Broken) != 1 || !strings.Contains(found.Broken[0].Why, "more than 500") {
		t.Errorf("%d found, broken %v", len(found.Skills), found.Broken)
	}
}

func TestTheWorkspacesAgentsFileIsReadWithinBounds(t *testing.T) {
	for name, test := range map[string]struct {
		make func(folder string)
		want string
	}{
		"none":       {func(string) {}, ""},
		"a mark":     {func(f string) { put(t, f, "AGENTS.md", "\uFEFF# Rules\r\n") }, "# Rules"},
		"a text":     {func(f string) { put(t, f, "AGENTS.md", "\n# Rules\n\nUse tabs.\n") }, "# Rules\n\nUse tabs."},
		"no UTF-8":   {func(f string) { put(t, f, "AGENTS.md", "a\xff") }, "a\uFFFD"},
		"binary":     {func(f string) { put(t, f, "AGENTS.md", "a\x00") }, "(AGENTS.md is not read: it is no text.)"},
		"a link out": {func(f string) { _ = os.Symlink("/etc/passwd", filepath.Join(f, "AGENTS.md")) }, "(AGENTS.md is not read: it is no file of the workspace.)"},
		"a pipe":     {func(f string) { _ = syscall.Mkfifo(filepath.Join(f, "AGENTS.md"), 0o644) }, "(AGENTS.md is not read: it is no file of the workspace.)"},
		"a link within": {func(f string) {
			put(t, f, "docs/rules.md", "Rules.")
			_ = os.Symlink("docs/rules.md", filepath.Join(f, "AGENTS.md"))
		}, "Rules."},
		"a link to a secret": {func(f string) {
			put(t, f, ".env", "KEY=secret")
			_ = os.Symlink(".env", filepath.Join(f, "AGENTS.md"))
		}, "(AGENTS.md is not read: it cannot be opened.)"},
		"long": {
			func(f string) { put(t, f, "AGENTS.md", strings.Repeat("0123456789abcde\n", 4096)) },
			strings.TrimSuffix(strings.Repeat("0123456789abcde\n", 2048), "\n") + "\n(These are the first 32767 of 65536 bytes: read_file reads the rest.)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			test.make(folder)
			if got := Agents(folder); got != test.want {
				t.Errorf("%.200q", got)
			}
		})
	}
}

// Whatever a SKILL.md holds, what is taken from it keeps the rules.
func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{skill("a", "b"), "---\nname: a\n---", "---\r\nname: a\r\ndescription: |\r\n  x\r\n---\r\nbody", "---\nname: &a a\ndescription: *a\n---\n", "\uFEFF---\n---\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := parse("a", raw)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		if s.Name != "a" || s.Description == "" || strings.ContainsAny(s.Description, "\n\r") || len([]rune(s.Description)) > maxDescription {
			t.Errorf("%+v", s)
		}
	})
}
