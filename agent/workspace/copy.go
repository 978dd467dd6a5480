package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"offcut/models"
)

// Copy gives session to the files of session from as they are: plain files,
// folders and links, which are copied as links. What a running command takes
// away meanwhile is left out. Over the owner's quota it is models.ErrTooLarge,
// and nothing is left behind.
func (f *Folders) Copy(ctx context.Context, owner, from, to string) error {
	source, err := f.Find(from)
	if err != nil || source == "" {
		return err
	}
	if err := f.checkQuota(ctx, owner, source); err != nil {
		return err
	}
	target, err := f.make(owner, to)
	if err != nil {
		return err
	}
	if err := copyTree(ctx, source, target); err != nil {
		_ = f.Remove(ctx, to)
		return fmt.Errorf("copy the workspace of session %s: %w", from, err)
	}
	f.Recount(owner)
	return nil
}

func (f *Folders) checkQuota(ctx context.Context, owner, source string) error {
	more, err := sizeOf(ctx, source)
	if err != nil || more == 0 {
		return err
	}
	used, err := f.cfg.Used(ctx, owner)
	if err != nil {
		return err
	}
	if used+more > f.cfg.QuotaBytes {
		return models.Errorf(models.ErrTooLarge, "storage_quota",
			"your storage of %d bytes has no room for the %d bytes of this session's files; delete sessions or outputs that are no longer needed", f.cfg.QuotaBytes, more)
	}
	return nil
}

func copyTree(ctx context.Context, source, target string) error {
	from, err := os.OpenRoot(source)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(target)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	return fs.WalkDir(from.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && name != "." {
			err = copyEntry(from, to, name, entry.Type())
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	})
}

func copyEntry(from, to *os.Root, name string, kind fs.FileMode) error {
	switch {
	case kind.IsDir():
		return to.MkdirAll(name, 0o700)
	case kind&fs.ModeSymlink != 0:
		link, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(link, name)
	case kind.IsRegular():
		return copyFile(from, to, name)
	}
	return nil // a pipe, a socket: it belongs to a process
}

func copyFile(from, to *os.Root, name string) error {
	// A command may have put a pipe in the file's place since: opening must
	// not wait for it.
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
