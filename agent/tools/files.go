package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"offcut/agent"
	"offcut/models"
	"offcut/models/gate"
)

// Storage is where workspaces lie, and how much more they may hold.
type Storage interface {
	// Folder is the folder of a session.
	Folder(sessionID string) (string, error)
	// Room is how many more bytes an owner may store; less than 0: so many too
	// many are stored.
	Room(ctx context.Context, ownerID string) (int64, error)
	// Recount makes the next Room count anew.
	Recount(ownerID string)
}

// Files are the workspaces as people and programs reach them: by the same rules
// as the tools, links and the names of secrets included. Its errors are
// *models.Error where who asked can mend them. Its methods may be called by
// many goroutines.
type Files struct {
	folders folders
	storage Storage
	// placing is held while a file that has come takes its place: what is
	// counted then, and which names are free, holds until it stands there.
	// Others than the owner do not wait.
	placing gate.Gate
}

// NewFiles reaches the workspaces in a storage.
func NewFiles(s Storage) *Files { return &Files{storage: s} }

// call is what the folders know of who asks.
func (f *Files) call(ownerID, sessionID string) (agent.Call, error) {
	workspace, err := f.storage.Folder(sessionID)
	return agent.Call{OwnerID: ownerID, SessionID: sessionID, Workspace: workspace}, err
}

func noFile(name string) error {
	return models.Errorf(models.ErrNotFound, "file_not_found", "there is no file %s in this session's workspace", models.Arg("name", shown(name)))
}

// mended is an error as people and programs are told it.
func mended(name string, err error) error {
	var no refusal
	switch {
	case isAbsent(err):
		return noFile(name)
	case errors.As(err, &no):
		return models.Errorf(models.ErrInvalid, "file_refused", "%s", strings.ToValidUTF8(string(no), "\uFFFD"))
	}
	return err
}

// Open opens a file for reading, or a folder, which List reads. The file that is
// open is the one that was checked, whatever is swapped meanwhile.
func (f *Files) Open(_ context.Context, sessionID, name string) (*os.File, models.FileInfo, error) {
	file, info, err := f.open(sessionID, name)
	if err != nil {
		return nil, models.FileInfo{}, err
	}
	found := models.FileInfo{Path: name, Kind: models.KindFile, Size: info.Size(), ModifiedAt: info.ModTime()}
	if info.IsDir() {
		found.Kind, found.Size = models.KindFolder, 0
	}
	return file, found, nil
}

func (f *Files) open(sessionID, name string) (*os.File, fs.FileInfo, error) {
	if err := checkPath(name); err != nil {
		return nil, nil, err
	}
	call, err := f.call("", sessionID)
	if err != nil {
		return nil, nil, err
	}
	file, info, _, err := f.folders.open(call, path.Join(".", name))
	if err != nil {
		return nil, nil, mended(name, err)
	}
	return file, info, nil
}

// Look tells of what stands under a path itself: of a link, that it is one.
func (f *Files) Look(_ context.Context, sessionID, name string) (models.FileInfo, error) {
	root, err := f.root(sessionID, name)
	if err != nil {
		return models.FileInfo{}, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(path.Join(".", name))
	if err != nil {
		return models.FileInfo{}, mended(name, told(name, err))
	}
	found := models.FileInfo{Path: name, Kind: models.KindSpecial, ModifiedAt: info.ModTime()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		found.Kind, found.Size = models.KindFile, info.Size()
	case mode.IsDir():
		found.Kind = models.KindFolder
	case mode&fs.ModeSymlink != 0:
		found.Kind = models.KindLink
	}
	return found, nil
}

// root opens the workspace for a path in it.
func (f *Files) root(sessionID, name string) (*os.Root, error) {
	if err := checkPath(name); err != nil {
		return nil, err
	}
	workspace, err := f.storage.Folder(sessionID)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open a workspace: %w", err)
	}
	return root, nil
}

// Remove deletes a file, a link or a folder with all that is in it. What a link
// leads to stays.
func (f *Files) Remove(_ context.Context, ownerID, sessionID, name string) error {
	if name == "" {
		return models.Errorf(models.ErrInvalid, "file_refused", "the workspace itself goes with its session; delete what is in it")
	}
	root, err := f.root(sessionID, name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Lstat(name); err != nil {
		return mended(name, told(name, err))
	}
	if err := root.RemoveAll(name); err != nil {
		return mended(name, told(name, err))
	}
	f.storage.Recount(ownerID)
	return nil
}
