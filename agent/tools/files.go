package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

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

// temporaryPrefix begins the names of files that are still being written. No
// list shows them, and nobody else uses such names.
const temporaryPrefix = ".offcut-"

// maxFileName is the longest name of one file or folder, in bytes, as file
// systems have it.
const maxFileName = 255

// call is what the folders know of who asks.
func (f *Files) call(ownerID, sessionID string) (agent.Call, error) {
	workspace, err := f.storage.Folder(sessionID)
	return agent.Call{OwnerID: ownerID, SessionID: sessionID, Workspace: workspace}, err
}

// checkPath refuses what is no plain path below the workspace: an address is
// not cleaned up, because what it then means would be a guess.
func checkPath(name string) error {
	bad := func(why string) error {
		return models.Errorf(models.ErrMalformed, "bad_path", "the path %s; name the file from the workspace on, as in notes/today.md", why)
	}
	switch {
	case strings.ContainsRune(name, 0):
		return bad("holds a NUL character")
	case strings.HasPrefix(name, "/"):
		return bad("begins with a slash")
	case name != "" && !fs.ValidPath(name):
		return bad("holds an empty, . or .. part, or bytes that are no UTF-8")
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxFileName {
			return bad(fmt.Sprintf("holds a name of more than %d bytes", maxFileName))
		}
	}
	if strings.HasPrefix(path.Base(name), temporaryPrefix) {
		return models.Errorf(models.ErrInvalid, "reserved_name", "names that begin with %s are those of files that are being written; choose another one", temporaryPrefix)
	}
	return nil
}

// checkNewName refuses characters in the name of a new file that nobody could
// see. What a command made under such a name can be read all the same.
func checkNewName(name string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
		return models.Errorf(models.ErrInvalid, "bad_name", "the name holds a line break or another character that cannot be seen; choose another one")
	}
	return nil
}

// shown is a path within a sentence, where it changes nothing of it.
func shown(name string) string { return fmt.Sprintf("%.200q", name) }

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

// Put writes a file, made with its folders where it is not there, in one step:
// whoever reads it sees the old content or the new one. announced is how many
// bytes are said to come; below 0: nobody said it.
//
// It is models.ErrTooLarge where the owner's storage has no room, and then, as
// after an error of content, everything is as it was.
func (f *Files) Put(ctx context.Context, ownerID, sessionID, name string, content io.Reader, announced int64) error {
	if err := errors.Join(checkPath(name), checkNewName(name)); err != nil {
		return err
	}
	call, err := f.call(ownerID, sessionID)
	if err != nil {
		return err
	}
	t, err := f.folders.target(call, path.Join(".", name))
	if err != nil {
		return mended(name, err)
	}
	return f.write(ctx, ownerID, t, content, announced, func(*os.Root) (string, error) { return path.Base(t.name), nil })
}

// Add writes a new file into a folder of the workspace and returns its path. A
// name that is taken gets a number: " (2)", before its ending. Else it is as
// Put.
func (f *Files) Add(ctx context.Context, ownerID, sessionID, folder, name string, content io.Reader, announced int64) (string, error) {
	name = path.Join(folder, plainName(name))
	if err := checkPath(name); err != nil {
		return "", err
	}
	call, err := f.call(ownerID, sessionID)
	if err != nil {
		return "", err
	}
	p, err := f.folders.find(call, name)
	if err == nil {
		err = f.folders.allowed(p, path.Join(p.folder, p.name))
	}
	if err != nil {
		return "", mended(name, err)
	}
	t := target{place: p, folders: f.folders, mode: newFileMode}
	taken := name
	err = f.write(ctx, ownerID, t, content, announced, func(parent *os.Root) (string, error) {
		base, err := freeName(parent, path.Base(name))
		taken = path.Join(path.Dir(name), base)
		return base, err
	})
	return taken, err
}

// write puts what comes beside its place, checks the room with it, and then
// moves it there.
func (f *Files) write(ctx context.Context, ownerID string, t target, content io.Reader, announced int64, base func(*os.Root) (string, error)) error {
	left, err := f.storage.Room(ctx, ownerID)
	if err != nil {
		return fmt.Errorf("room for a file: %w", err)
	}
	if more := max(announced, 0) - t.size; more > max(left, 0) {
		return noRoom(t.shown, more, left)
	}
	coming := &coming{Reader: io.LimitReader(content, max(left, 0)+t.size+1), most: max(left, 0) + t.size}
	err = t.replaceFrom(coming, func(parent *os.Root, temporary string) error {
		leave, err := f.placing.Enter(ctx, ownerID)
		if err != nil {
			return fmt.Errorf("place a file: %w", err)
		}
		defer leave()
		f.storage.Recount(ownerID)
		left, err := f.storage.Room(ctx, ownerID) // with what has come
		if err != nil {
			return fmt.Errorf("room for a file: %w", err)
		}
		if coming.read > t.size && left+t.size < 0 {
			return noRoom(t.shown, coming.read-t.size, left+coming.read)
		}
		name, err := base(parent)
		if err != nil {
			return err
		}
		return parent.Rename(temporary, name)
	})
	f.storage.Recount(ownerID)
	var own *models.Error
	switch {
	case err == nil:
		return nil
	case coming.read > coming.most:
		return noRoom(t.shown, coming.read-t.size, left)
	case coming.err != nil:
		return coming.err
	case errors.As(err, &own):
		return err
	}
	return mended(t.shown, told(t.shown, err))
}

// coming is what is read of a file that is uploaded; it remembers the error of
// its source, which is not one of the file system.
type coming struct {
	io.Reader
	read, most int64
	err        error
}

func (c *coming) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	switch {
	case c.read > c.most:
		err = errFull
	case err != nil && !errors.Is(err, io.EOF):
		c.err = err
	}
	return n, err
}

var errFull = errors.New("no room is left")

func noRoom(name string, more, left int64) error {
	return models.Errorf(models.ErrTooLarge, "storage_quota",
		"%s was not stored: it takes %d bytes and your storage has room for %d; delete files, outputs or sessions that are no longer needed", shown(name), more, max(left, 0)).
		With("room_bytes", max(left, 0))
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
