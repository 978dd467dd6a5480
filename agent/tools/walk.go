package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"offcut/agent/sandbox"
)

// maxWalked bounds how many entries one call looks at.
const maxWalked = 200_000

// maxIgnoredNames bounds how many ignored names a result gives.
const maxIgnoredNames = 5

// walk goes through a folder and what is below it, in the order of names.
// Links are not followed, and .git and what .gitignore names is left out.
type walk struct {
	folders folders
	place   place // the folder to begin in
	depth   int   // levels below it; 0: all

	visited int
	// ignored are some names that .gitignore left out, of how many.
	ignored      []string
	ignoredCount int64
	// unfinished says why not everything was looked at; empty: it was.
	unfinished string
}

// entry is a file or folder that a walk found.
type entry struct {
	inside string // its path below the folder where the walk began
	place  place
	kind   fs.FileMode // the type bits
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

func (w *walk) run(ctx context.Context, visit func(entry) error) error {
	root, err := os.OpenRoot(w.place.folder)
	if err != nil {
		return fmt.Errorf("open a folder of files: %w", err)
	}
	defer func() { _ = root.Close() }()
	ignores := newIgnores(root, w.place.name)

	err = fs.WalkDir(root.FS(), w.place.name, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			w.unfinished = "the time for one call was over"
			return errEnough
		}
		if w.visited++; w.visited > maxWalked {
			w.unfinished = fmt.Sprintf("there are more than %d entries", maxWalked)
			return errEnough
		}
		if name == w.place.name {
			return err
		}
		if err != nil {
			return skip(d) // not readable, or gone meanwhile
		}
		return w.enter(ignores, name, d, visit)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return told(w.place.shown, err)
	}
	return nil
}

func (w *walk) enter(ignores *ignores, name string, d fs.DirEntry, visit func(entry) error) error {
	if d.Name() == ".git" {
		return skip(d)
	}
	inside := strings.TrimPrefix(name, w.place.name+"/")
	if w.place.name == "." {
		inside = name
	}
	if ignores.ignored(name, d.IsDir()) {
		w.ignoredCount++
		if len(w.ignored) < maxIgnoredNames {
			w.ignored = append(w.ignored, inside)
		}
		return skip(d)
	}
	found := entry{inside: inside, kind: d.Type(), place: place{
		folder: w.place.folder, name: name, added: w.place.added, readOnly: w.place.readOnly, shown: path.Join(w.place.shown, inside),
	}}
	if err := visit(found); err != nil {
		return err
	}
	tooDeep := w.depth > 0 && strings.Count(inside, "/")+1 >= w.depth
	refused := w.folders.allowed(found.place, path.Join(found.place.folder, name)) != nil
	if d.IsDir() && (tooDeep || refused) {
		return fs.SkipDir
	}
	return nil
}

// skip leaves out an entry with all that is below it.
func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// leftOut says what a walk did not look at, as sentences in brackets.
func (w *walk) leftOut() []string {
	var said []string
	if w.ignoredCount > 0 {
		names := strings.Join(w.ignored, ", ")
		if w.ignoredCount > int64(len(w.ignored)) {
			names += ", …"
		}
		said = append(said, fmt.Sprintf("(left out because of .gitignore: %s, %s)", counted(w.ignoredCount, "entry", "entries"), names))
	}
	if w.unfinished != "" {
		said = append(said, "(not everything was looked at: "+w.unfinished+"; begin in a deeper folder)")
	}
	return said
}

// globPattern checks a glob and makes it relative to the folder in which it is
// looked for.
func globPattern(pattern string) (string, error) {
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, sandbox.WorkspacePath+"/"), "./")
	if path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), "..") {
		return "", refusef("The glob %q is not relative to the folder: name that in path.", pattern)
	}
	if pattern == "" || !doublestar.ValidatePattern(pattern) {
		return "", refusef("%q is no valid glob.", pattern)
	}
	return pattern, nil
}
