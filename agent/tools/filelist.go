package tools

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"offcut/models"
)

// namesAtOnce is how many names are read of a folder at a time.
const namesAtOnce = 1000

// List is a page of what is in a folder: folders first, by name. It holds no
// more in memory than the page, however much is in the folder.
func (f *Files) List(ctx context.Context, sessionID, folder string, page models.Page) ([]models.FileInfo, string, error) {
	after, err := decodeListCursor(page.Cursor)
	if err != nil {
		return nil, "", err
	}
	dir, info, err := f.open(sessionID, folder)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = dir.Close() }()
	if !info.IsDir() {
		return nil, "", models.Errorf(models.ErrInvalid, "not_a_folder", "%s is a file and no folder", shown(folder))
	}
	limit := page.Clamped()
	first, err := firstEntries(ctx, dir, after, limit+1)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(first) > limit {
		first = first[:limit]
		next = encodeListCursor(first[limit-1])
	}
	list := make([]models.FileInfo, 0, len(first))
	for _, e := range first {
		if info, ok := statIn(dir, folder, e); ok {
			list = append(list, info)
		}
	}
	return list, next, nil
}

// listed is an entry by which a list is ordered.
type listed struct {
	file bool // not a folder: these come last
	name string
}

func (e listed) compare(o listed) int {
	if e.file != o.file {
		if e.file {
			return 1
		}
		return -1
	}
	return cmp.Compare(e.name, o.name)
}

// firstEntries are the first of a folder after an entry, in order.
func firstEntries(ctx context.Context, dir *os.File, after *listed, most int) ([]listed, error) {
	var first []listed
	for {
		names, err := dir.ReadDir(namesAtOnce)
		for _, d := range names {
			e := listed{!d.IsDir(), d.Name()}
			if strings.HasPrefix(e.name, temporaryPrefix) || (after != nil && e.compare(*after) <= 0) {
				continue
			}
			if len(first) == most && e.compare(first[most-1]) >= 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(first, e, listed.compare)
			first = slices.Insert(first, at, e)
			first = first[:min(len(first), most)]
		}
		switch {
		case errors.Is(err, io.EOF):
			return first, nil
		case err != nil:
			return nil, fmt.Errorf("list a folder of a workspace: %w", err)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// statIn looks at an entry of an open folder, and not at what a link leads to;
// false where it is gone meanwhile.
func statIn(dir *os.File, folder string, e listed) (models.FileInfo, bool) {
	raw, err := dir.SyscallConn()
	if err != nil {
		return models.FileInfo{}, false
	}
	var stat unix.Stat_t
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.Fstatat(int(fd), e.name, &stat, unix.AT_SYMLINK_NOFOLLOW) }); err != nil || failed != nil {
		return models.FileInfo{}, false
	}
	info := models.FileInfo{Path: path.Join(folder, e.name), ModifiedAt: time.Unix(stat.Mtim.Unix()), Kind: models.KindSpecial}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		info.Kind, info.Size = models.KindFile, stat.Size
	case unix.S_IFDIR:
		info.Kind = models.KindFolder
	case unix.S_IFLNK:
		info.Kind = models.KindLink
	}
	return info, true
}

// A cursor is the last entry of the page before: its kind and its name.
func encodeListCursor(e listed) string {
	kind := "d"
	if e.file {
		kind = "f"
	}
	return base64.RawURLEncoding.EncodeToString([]byte(kind + e.name))
}

func decodeListCursor(cursor string) (*listed, error) {
	if cursor == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < 2 || (raw[0] != 'd' && raw[0] != 'f') || !fs.ValidPath(strings.ToValidUTF8(string(raw[1:]), "_")) {
		return nil, models.Errorf(models.ErrMalformed, "invalid_cursor", "this list does not know that cursor; leave it out to start from the beginning")
	}
	return &listed{raw[0] == 'f', string(raw[1:])}, nil
}
