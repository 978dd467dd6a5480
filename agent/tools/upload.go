package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"offcut/models"
)

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
