package tools

import (
	"io"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"
)

// maxIgnoreBytes bounds one .gitignore file.
const maxIgnoreBytes = 256 << 10

// ignores are the .gitignore files of a tree, read as they are met.
type ignores struct {
	root  *os.Root
	rules map[string][]ignoreRule // by folder
	// from is the folder below which they count: where somebody asks for an
	// ignored folder by name, what it holds is not ignored on that account.
	from string
}

type ignoreRule struct {
	pattern    string // relative to the folder of the file
	keeps      bool   // it takes back what an earlier rule ignored
	folderOnly bool
}

func newIgnores(root *os.Root, from string) *ignores {
	g := &ignores{root: root, rules: map[string][]ignoreRule{}, from: "."}
	for _, folder := range foldersOf(from) {
		if folder != "." && g.ignored(folder, true) {
			g.from = from
			break
		}
	}
	return g
}

// foldersOf are a folder and all that it lies in, from the outermost on.
func foldersOf(folder string) []string {
	found := []string{"."}
	for i := range folder {
		if folder[i] == '/' {
			found = append(found, folder[:i])
		}
	}
	if folder != "." {
		found = append(found, folder)
	}
	return found
}

// ignored reports whether the files say so of a name, as git reads them: the
// last rule that fits holds, and those of inner folders come later. That a
// folder around it is ignored is for the walk to heed.
func (g *ignores) ignored(name string, folder bool) bool {
	ignored := false
	for _, dir := range foldersOf(path.Dir(name)) {
		if g.from != "." && !below(dir, g.from) {
			continue
		}
		inside := name
		if dir != "." {
			inside = strings.TrimPrefix(name, dir+"/")
		}
		for _, rule := range g.of(dir) {
			if rule.folderOnly && !folder {
				continue
			}
			if doublestar.MatchUnvalidated(rule.pattern, inside) {
				ignored = !rule.keeps
			}
		}
	}
	return ignored
}

func (g *ignores) of(dir string) []ignoreRule {
	if rules, ok := g.rules[dir]; ok {
		return rules
	}
	rules := parseIgnores(g.read(path.Join(dir, ".gitignore")))
	g.rules[dir] = rules
	return rules
}

// read reads one file; what is no file, or not there, says nothing.
func (g *ignores) read(name string) string {
	file, err := g.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(file, maxIgnoreBytes))
	return string(text)
}

func parseIgnores(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(text) {
		if rule, ok := parseIgnore(strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

func parseIgnore(line string) (ignoreRule, bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	var rule ignoreRule
	if line == "" || line[0] == '#' {
		return rule, false
	}
	if line[0] == '!' {
		rule.keeps, line = true, line[1:]
	}
	if inner, ok := strings.CutSuffix(line, "/"); ok {
		rule.folderOnly, line = true, inner
	}
	// A slash but at the end ties the pattern to the folder of the file.
	if strings.Contains(line, "/") {
		line = strings.TrimPrefix(line, "/")
	} else {
		line = "**/" + line
	}
	// Here ** alone would stand for the folder itself too; in git it is what
	// the folder holds. Braces mean nothing to git.
	if strings.HasSuffix(line, "/**") {
		line += "/*"
	}
	rule.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return rule, line != "" && line != "**/" && doublestar.ValidatePattern(rule.pattern)
}
