package tools

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"offcut/agent"
)

// target is a file that is to be written.
type target struct {
	place
	folders folders
	exists  bool
	mode    fs.FileMode
	size    int64 // before the write
}

const (
	newFileMode   = 0o644
	newFolderMode = 0o755
)

// target finds the file that a path names, through its links, and checks that
// it may be written.
func (f folders) target(call agent.Call, named string) (target, error) {
	p, err := f.find(call, named)
	if err != nil {
		return target{}, err
	}
	t := target{place: p, folders: f, mode: newFileMode}
	if p.readOnly {
		return t, refusef("%s belongs to a skill of the server, which cannot be changed. Write a copy in the workspace.", p.shown)
	}
	if p.name == "." || strings.HasSuffix(named, "/") {
		return t, refusef("%s is a folder, not a file.", p.shown)
	}
	file, info, err := f.openPlace(p)
	if isAbsent(err) {
		return t, f.checkAbsent(p)
	}
	if err != nil {
		return t, err
	}
	defer func() { _ = file.Close() }()
	if info.IsDir() {
		return t, refusef("%s is a folder.", p.shown)
	}
	// A link is written through: its target is what is replaced.
	found, err := realPath(file)
	if err != nil {
		return t, err
	}
	if t.name, err = filepath.Rel(p.folder, found); err != nil {
		return t, fmt.Errorf("find a file in its folder: %w", err)
	}
	t.exists, t.mode, t.size = true, info.Mode().Perm(), info.Size()
	return t, nil
}

// checkAbsent refuses a link whose target is missing: to write it could make a
// file under any name. So it does a name that people would read as another.
func (f folders) checkAbsent(p place) error {
	if checkNewName(p.name) != nil {
		return refusef("%s was not made: the name holds a character that cannot be seen. Choose another one.", clean(p.shown))
	}
	root, err := os.OpenRoot(p.folder)
	if err != nil {
		return fmt.Errorf("open a folder of files: %w", err)
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(p.name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return refusef("%s is a link to what is not there. Name the file itself.", p.shown)
	}
	return nil
}

// checkRoom refuses to make a file of the workspace larger by more than the
// owner may store. Added folders belong to no owner.
func (t target) checkRoom(ctx context.Context, call agent.Call, bytes int) error {
	if t.added {
		return nil
	}
	return t.folders.room.refuse(ctx, call.OwnerID, t.shown, int64(bytes)-t.size)
}

// replace puts the content in the file's place in one step. Whoever reads it
// sees the old content or the new one, also after a crash.
func (t target) replace(content []byte) error {
	return t.replaceFrom(bytes.NewReader(content), func(parent *os.Root, temporary string) error {
		if err := parent.Rename(temporary, path.Base(t.name)); err != nil {
			return told(t.shown, err)
		}
		return nil
	})
}

// replaceFrom writes what comes beside the file and has move put it in its
// place. Where either fails, nothing of it stays.
func (t target) replaceFrom(content io.Reader, move func(parent *os.Root, temporary string) error) error {
	parent, err := t.parent()
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	temporary := temporaryPrefix + randomName()
	if err := t.writeNew(parent, temporary, content); err != nil {
		_ = parent.Remove(temporary)
		return told(t.shown, err)
	}
	if err := move(parent, temporary); err != nil {
		_ = parent.Remove(temporary)
		return err
	}
	return syncFolder(parent)
}

// parent opens the folder that the file is in, made where it is missing, and
// checks where it really is: from then on nothing can be swapped for it.
func (t target) parent() (*os.Root, error) {
	root, err := os.OpenRoot(t.folder)
	if err != nil {
		return nil, fmt.Errorf("open a folder of files: %w", err)
	}
	defer func() { _ = root.Close() }()
	dir := path.Dir(t.name)
	if err := root.MkdirAll(dir, newFolderMode); err != nil {
		return nil, told(t.shown, err)
	}
	parent, err := root.OpenRoot(dir)
	if err != nil {
		return nil, told(t.shown, err)
	}
	if err := t.checkParent(parent); err != nil {
		_ = parent.Close()
		return nil, err
	}
	return parent, nil
}

func (t target) checkParent(parent *os.Root) error {
	dir, err := parent.Open(".")
	if err != nil {
		return told(t.shown, err)
	}
	defer func() { _ = dir.Close() }()
	found, err := realPath(dir)
	if err != nil {
		return err
	}
	return t.folders.allowed(t.place, path.Join(found, path.Base(t.name)))
}

func (t target) writeNew(parent *os.Root, name string, content io.Reader) error {
	file, err := parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	// The mode is set apart from the making, so that no umask changes it.
	return errors.Join(err, file.Chmod(t.mode), file.Sync(), file.Close())
}

// syncFolder makes a rename last.
func syncFolder(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("open a folder to sync it: %w", err)
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("sync a folder: %w", err)
	}
	return nil
}

func randomName() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}
