package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"offcut/agent/skills"
)

func TestASkillIsLoadedAndItsFilesAreReadAndNotWritten(t *testing.T) {
	data := t.TempDir()
	place := filepath.Join(data, "skills")
	for name, content := range map[string]string{
		"count-rows/SKILL.md":       "---\nname: count-rows\ndescription: Counts rows.\n---\n\nRun scripts/count.sh.\n",
		"count-rows/scripts/run.sh": "wc -l \"$1\"\n",
		"broken/SKILL.md":           "nothing",
	} {
		path := filepath.Join(place, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "offcut.db"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(data, "offcut.db"), filepath.Join(place, "count-rows", "link")); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(o *Options) {
		o.Sensitive = []string{data}
		o.Skills = skills.New(skills.Folder{Path: place, At: "/skills"})
	})
	b.write("skills/own-way/SKILL.md", "---\nname: own-way\ndescription: Ours.\n---\nOur way.")

	want := "The skill count-rows lies in /skills/count-rows. It cannot be changed. Its other files:\n- link\n- scripts/run.sh\n\nRun scripts/count.sh."
	if got := b.ok("load_skill", arguments{"name": "count-rows"}).Content; got != want {
		t.Errorf("%q", got)
	}
	if got := b.ok("load_skill", arguments{"name": "own-way"}).Content; got != "The skill own-way lies in skills/own-way. It came with the files of the workspace.\n\nOur way." {
		t.Errorf("%q", got)
	}
	b.refused("load_skill", arguments{"name": "nothing"}, "There are count-rows, own-way.")
	b.refused("load_skill", arguments{"name": "broken"}, "/skills/broken cannot be used: its SKILL.md does not begin with front matter")

	if got := b.ok("read_file", arguments{"path": "/skills/count-rows/scripts/run.sh"}).Content; got != "wc -l \"$1\"\n" {
		t.Errorf("%q", got)
	}
	if got := b.ok("list_files", arguments{"path": "/skills/count-rows"}).Content; !strings.Contains(got, "scripts") {
		t.Errorf("%q", got)
	}
	if got := b.ok("search_files", arguments{"path": "/skills", "pattern": "wc -l"}).Content; !strings.Contains(got, "run.sh") {
		t.Errorf("%q", got)
	}
	b.refused("write_file", arguments{"path": "/skills/count-rows/scripts/run.sh", "content": "x"}, "cannot be changed")
	b.refused("write_file", arguments{"path": "/skills/new", "content": "x"}, "cannot be changed")
	b.refused("edit_file", arguments{"path": "/skills/count-rows/SKILL.md", "old_string": "Run", "new_string": "Do not run"}, "cannot be changed")
	b.refused("read_file", arguments{"path": "/skills/count-rows/link"}, "outside")
	b.refused("read_file", arguments{"path": "/skills/../offcut.db"}, "outside")
	b.refused("read_file", arguments{"path": filepath.Join(data, "offcut.db")}, "outside")
}

func TestOfASkillWithManyFilesItIsSaidThatThereAreMore(t *testing.T) {
	b := newBench(t)
	b.write("skills/large/SKILL.md", "---\nname: large\ndescription: Has many files.\n---\nDo it.")
	for i := range 200 {
		b.write(fmt.Sprintf("skills/large/f%03d", i), "")
	}
	const says = "- f199\n- and more: list_files with the pattern ** shows them\n\nDo it."
	if got := b.ok("load_skill", arguments{"name": "large"}).Content; strings.Contains(got, "and more") || !strings.Contains(got, "- f199\n\nDo it.") {
		t.Errorf("of all files: %q", got)
	}
	b.write("skills/large/z/run.sh", "")
	if got := b.ok("load_skill", arguments{"name": "large"}).Content; !strings.HasSuffix(got, says) {
		t.Errorf("of some files: %q", got)
	}
	if got := b.ok("list_files", arguments{"path": "skills/large", "pattern": "**"}).Content; !strings.Contains(got, "skills/large/z/run.sh") {
		t.Errorf("%q", got)
	}
}
