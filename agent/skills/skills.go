// Package skills finds the skills that a session has: folders with a SKILL.md,
// whose front matter says what the skill is for and whose text says how it is
// done. Those of the server come first; those in a workspace come with its files,
// and are no more to be believed than these. What is broken is named and never
// in the way of the rest.
package skills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// WorkspaceFolders are where skills lie in a workspace: the open format's own
// place, Claude Code's, and a plain one.
var WorkspaceFolders = []string{".agents/skills", ".claude/skills", "skills"}

// The bounds of one search.
const (
	maxFolders = 500 // that are looked at in one place
	maxFiles   = 200 // of a skill that are listed
)

// Folder is a place of the server with skills in it.
type Folder struct {
	// Path is where it lies.
	Path string
	// At is where tools and commands find it.
	At string
}

// Skill is one that can be used.
type Skill struct {
	Name        string
	Description string // one line
	// Instructions are the text after the front matter.
	Instructions string
	// At is the skill's folder as tools and commands name it.
	At string
	// Workspace: it lies in the session's workspace.
	Workspace bool
}

// Files are the files of a skill beside its SKILL.md, by their names below its
// folder.
type Files struct {
	Names []string
	More  bool // there are others beyond the bound
}

// Broken is a folder that was to be a skill.
type Broken struct {
	At  string
	Why string // a sentence without its first capital and its stop
	// Workspace: it lies in the session's workspace.
	Workspace bool
}

// Found is what there is.
type Found struct {
	Skills []Skill
	Broken []Broken
}

// Catalogue finds skills anew each time, so that changes are seen.
type Catalogue struct{ folders []Folder }

// New makes a catalogue of the server's places; those that come first win where
// two skills have one name.
func New(folders ...Folder) *Catalogue { return &Catalogue{folders} }

// Folders are the server's places.
func (c *Catalogue) Folders() []Folder { return c.folders }

// In are the skills of the server, and of a workspace where one is given.
func (c *Catalogue) In(workspace string) Found {
	var found Found
	for _, f := range c.folders {
		found.look(f.Path, ".", f.At, false)
	}
	if workspace != "" {
		for _, name := range WorkspaceFolders {
			found.look(workspace, name, name, true)
		}
	}
	return found
}

// Of are those of a workspace alone.
func (c *Catalogue) Of(workspace string) Found {
	found := c.In(workspace)
	found.Skills = slices.DeleteFunc(found.Skills, func(s Skill) bool { return !s.Workspace })
	found.Broken = slices.DeleteFunc(found.Broken, func(b Broken) bool { return !b.Workspace })
	return found
}

// Skill is the skill of that name, with its files.
func (c *Catalogue) Skill(ctx context.Context, workspace, name string) (Skill, Files, bool) {
	for _, s := range c.In(workspace).Skills {
		if s.Name == name {
			return s, c.files(ctx, workspace, s), true
		}
	}
	return Skill{}, Files{}, false
}

// look adds the skills in a folder below a root, out of which no link leads.
func (f *Found) look(rootPath, name, at string, workspace bool) {
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return // there is none
	}
	defer func() { _ = root.Close() }()
	entries, err := readDir(root, name)
	if err != nil {
		return
	}
	for i, entry := range entries {
		inside, seen := path.Join(name, entry), path.Join(at, entry)
		if i == maxFolders {
			f.Broken = append(f.Broken, Broken{at, fmt.Sprintf("it has more than %d entries: the others are not looked at", maxFolders), workspace})
			return
		}
		skill, err := read(root, inside, workspace)
		if errors.Is(err, errNoSkill) {
			continue
		}
		if err == nil && slices.ContainsFunc(f.Skills, func(s Skill) bool { return s.Name == skill.Name }) {
			err = errors.New("another skill of its name comes before it")
		}
		if err != nil {
			f.Broken = append(f.Broken, Broken{seen, err.Error(), workspace})
			continue
		}
		skill.At, skill.Workspace = seen, workspace
		f.Skills = append(f.Skills, skill)
	}
}

// readDir are the names of a folder in order, without hidden ones.
func readDir(root *os.Root, name string) ([]string, error) {
	folder, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	names, err := folder.Readdirnames(2 * maxFolders)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") })
	slices.Sort(names)
	return names, nil
}

// errNoSkill is a folder of a workspace that is there for something else.
var errNoSkill = errors.New("no skill")

// read reads the skill in a folder.
func read(root *os.Root, folder string, workspace bool) (Skill, error) {
	info, err := root.Stat(folder)
	switch {
	case err != nil:
		return Skill{}, errors.New("it is a link that leads out of its place, or cannot be read")
	case !info.IsDir():
		return Skill{}, errNoSkill
	}
	name := path.Join(folder, "SKILL.md")
	info, err = root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && workspace:
		return Skill{}, errNoSkill
	case errors.Is(err, fs.ErrNotExist):
		return Skill{}, errors.New("it has no SKILL.md")
	case err != nil:
		return Skill{}, errors.New("its SKILL.md is a link that leads out of its place, or cannot be read")
	case !info.Mode().IsRegular():
		return Skill{}, errors.New("its SKILL.md is no file")
	}
	raw, err := readFile(root, name, maxFile+1)
	if err != nil {
		return Skill{}, errors.New("its SKILL.md cannot be read")
	}
	return parse(path.Base(folder), raw)
}

// readFile reads so much of a file that was found to be one.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := isMarkdown(file); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// isMarkdown refuses an open file that is no Markdown file by its own name,
// where its links have led: one may lead to a .env, which no tool reads either.
func isMarkdown(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var name string
	var readErr error
	err = conn.Control(func(fd uintptr) { name, readErr = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) })
	switch {
	case err != nil:
		return err
	case readErr != nil:
		return readErr
	case !strings.EqualFold(path.Ext(name), ".md"):
		return errors.New("it is a link to a file that is no Markdown")
	}
	return nil
}

// files are the files of a skill beside its SKILL.md.
func (c *Catalogue) files(ctx context.Context, workspace string, s Skill) (files Files) {
	rootPath, inside := workspace, s.At
	if !s.Workspace {
		for _, f := range c.folders {
			if rest, ok := strings.CutPrefix(s.At, f.At+"/"); ok {
				rootPath, inside = f.Path, rest
				break
			}
		}
	}
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return files
	}
	defer func() { _ = root.Close() }()
	// What cannot be read is left out of the list.
	_ = fs.WalkDir(root.FS(), inside, func(name string, d fs.DirEntry, err error) error {
		below := strings.TrimPrefix(name, inside+"/")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || d.IsDir() || below == "SKILL.md":
			return nil //nolint:nilerr // see above
		case len(files.Names) == maxFiles:
			files.More = true
			return fs.SkipAll
		}
		files.Names = append(files.Names, below)
		return nil
	})
	return files
}
