package dump

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// folder is where the dumps of one data folder are. It lies where everybody may
// make files, so nothing is believed of what is found there.
type folder struct{ path string }

// folderFor names the folder of a user and a data folder below the temporary
// folder.
func folderFor(temp, dataDir string) folder {
	if abs, err := filepath.Abs(dataDir); err == nil {
		dataDir = abs
	}
	sum := sha256.Sum256([]byte(dataDir))
	return folder{filepath.Join(temp, fmt.Sprintf("offcut-%d-%s", os.Getuid(), hex.EncodeToString(sum[:4])))}
}

// open opens the folder, and makes it first where make is set; nil where there
// is none. What stands in its place and is no folder of ours alone is refused:
// a link that somebody laid there would lead the files elsewhere.
func (f folder) open(create bool) (*os.Root, error) {
	if create {
		if err := os.Mkdir(f.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	named, err := os.Lstat(f.path)
	if !create && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil {
		err = ours(named, opened, f.path)
	}
	if err == nil && opened.Mode().Perm() != 0o700 {
		err = root.Chmod(".", 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// ours refuses a folder that was reached through a link or belongs to another
// user.
func ours(named, opened fs.FileInfo, path string) error {
	owner, known := opened.Sys().(*syscall.Stat_t)
	switch {
	case !named.IsDir() || !os.SameFile(named, opened):
		return fmt.Errorf("%s is no folder; remove what stands there", path)
	case !known || int(owner.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user; remove it", path)
	}
	return nil
}
