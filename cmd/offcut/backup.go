package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"offcut/cmd/offcut/config"
	"offcut/models/store"
)

// workspacesFolder is the folder of the data folder in which the workspaces are.
const workspacesFolder = "workspaces"

type backup struct {
	File string `arg:"" help:"File to make. One that ends with .tar.gz or .tgz holds the database and the workspaces; any other is the database alone."`
}

// Run makes the backup. A server may be running meanwhile.
func (c backup) Run(ctx context.Context, cfg config.Config, t terminal) error {
	if _, err := os.Stat(filepath.Join(cfg.DataDir, store.FileName)); err != nil {
		return fmt.Errorf("there is nothing to back up in %s: %w", cfg.DataDir, err)
	}
	if _, err := os.Lstat(c.File); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already, and a backup replaces nothing; choose another name", c.File)
	}
	write := c.database
	if strings.HasSuffix(c.File, ".tar.gz") || strings.HasSuffix(c.File, ".tgz") {
		write = c.archive
	}
	if err := withStore(ctx, cfg, func(db *store.Store) error { return write(ctx, cfg, db) }); err != nil {
		return fmt.Errorf("no backup was made: %w", err)
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "Made %s, %d bytes.\n", c.File, info.Size())
	return err
}

func (c backup) database(ctx context.Context, _ config.Config, db *store.Store) error {
	return db.Backup(ctx, c.File)
}

// archive packs the database and the workspaces. The copy of the database stands
// beside the archive until it is packed.
func (c backup) archive(ctx context.Context, cfg config.Config, db *store.Store) (err error) {
	beside, err := os.MkdirTemp(filepath.Dir(c.File), ".offcut-backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	if err := db.Backup(ctx, filepath.Join(beside, store.FileName)); err != nil {
		return err
	}
	file, err := os.OpenFile(c.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(c.File))
		}
	}()
	zipped := gzip.NewWriter(file)
	out := tar.NewWriter(zipped)
	err = pack(ctx, out, beside, "")
	if folder := filepath.Join(cfg.DataDir, workspacesFolder); err == nil && exists(folder) {
		err = pack(ctx, out, folder, workspacesFolder)
	}
	return errors.Join(err, out.Close(), zipped.Close(), file.Sync(), file.Close())
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// pack adds what is in a folder, under the name below. Links stay links, and
// what is neither a file nor a folder is left out. What goes while it is packed
// is left out too.
func pack(ctx context.Context, out *tar.Writer, folder, below string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = packOne(out, root, name, path.Join(below, name), entry)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func packOne(out *tar.Writer, root *os.Root, name, as string, entry fs.DirEntry) error {
	switch {
	case as == ".":
		return nil
	case entry.Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: as, Linkname: target, Mode: 0o777})
	case entry.IsDir(), entry.Type().IsRegular():
	default:
		return nil
	}
	// A command may put a pipe in the file's place meanwhile: opening it waits for nobody.
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	header.Name = as
	if err := out.WriteHeader(header); err != nil || info.IsDir() {
		return err
	}
	// One that grows or shrinks has the length that it had.
	_, err = io.CopyN(out, io.MultiReader(file, zeros{}), info.Size())
	return err
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
