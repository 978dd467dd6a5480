// Package workspace keeps the folders that sessions work in: one for each
// session, below one for each owner. What is in them was put there by models
// and their commands, so no link in them is ever followed out of its folder.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// Config says what folders know of the rest of the program.
type Config struct {
	// Owner finds whose a session is.
	Owner func(ctx context.Context, sessionID string) (ownerID string, err error)
	// Used is how many bytes an owner stores, workspaces included.
	Used func(ctx context.Context, ownerID string) (int64, error)
	// QuotaBytes bounds what one owner may store.
	QuotaBytes int64
}

// Folders are the workspaces below one folder. Its methods may be called by
// many goroutines.
type Folders struct {
	dir string
	cfg Config

	remove func(path string) error
	left   chan struct{} // a folder of a session that is gone could not be removed

	walking   chan struct{} // holds one value for each session that is counted
	firstWait time.Duration // firstWait, but in tests

	mu     sync.Mutex
	sizes  map[string]*ownerSize
	counts map[string]*count // by session
}

// sizeAge is how old the size of an owner's workspaces may be. Counting walks
// through all their files, and the size is asked for before each write.
const sizeAge = 10 * time.Second

// roomAge is how old that size may be where it is asked how much more may be
// written: files grow by hundreds of megabytes in a second.
const roomAge = time.Second

// firstWait is how long is waited for the first count of an owner's workspaces: most
// take a few milliseconds, and one of millions of files keeps nobody for long.
const firstWait = 500 * time.Millisecond

// ownerSize is what is known of the workspaces of an owner.
type ownerSize struct {
	known    chan struct{} // closed once they were counted
	bytes    int64
	counted  time.Time // when the last count began
	changes  int       // how often files were known to be added or removed
	seen     int       // how many of the changes the last count knows
	counting bool      // beside whoever asked
}

// stale reports whether it is to be counted again, since it is older than that,
// or than what was changed.
func (s *ownerSize) stale(age time.Duration) bool {
	return s.seen < s.changes || time.Since(s.counted) > age
}

// Open makes dir, for its owner alone, where it is not there.
func Open(dir string, cfg Config) (*Folders, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the workspaces: %w", err)
	}
	return &Folders{
		dir: dir, cfg: cfg, remove: os.RemoveAll, left: make(chan struct{}, 1), sizes: map[string]*ownerSize{}, counts: map[string]*count{}, walking: make(chan struct{}, countsAtOnce), firstWait: firstWait,
	}, nil
}

// An id is part of a path, so nothing else is taken for one.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// Folder is the folder of a session, which is made where it is not there.
func (f *Folders) Folder(sessionID string) (string, error) {
	path, err := f.Find(sessionID)
	if err != nil || path != "" {
		return path, err
	}
	owner, err := f.cfg.Owner(context.Background(), sessionID)
	if err != nil {
		return "", fmt.Errorf("workspace of session %s: %w", sessionID, err)
	}
	return f.make(owner, sessionID)
}

func (f *Folders) make(owner, sessionID string) (string, error) {
	if !plainID.MatchString(owner) || !plainID.MatchString(sessionID) {
		return "", fmt.Errorf("workspace of session %q: not an id", sessionID)
	}
	path := filepath.Join(f.dir, owner, sessionID)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("workspace of session %s: %w", sessionID, err)
	}
	return path, nil
}

// Find is the folder of a session, whoever its owner is; empty where there is
// none.
func (f *Folders) Find(sessionID string) (string, error) {
	if !plainID.MatchString(sessionID) {
		return "", fmt.Errorf("workspace of session %q: not an id", sessionID)
	}
	found, err := filepath.Glob(filepath.Join(globEscaped(f.dir), "*", sessionID))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

var globMeta = regexp.MustCompile(`[*?[\\]`)

func globEscaped(path string) string { return globMeta.ReplaceAllString(path, `\$0`) }

// Remove deletes a session's folder and all in it; one that is not there is no
// error. Where it fails, Tend tries again.
func (f *Folders) Remove(_ context.Context, sessionID string) error {
	path, err := f.Find(sessionID)
	if err != nil || path == "" {
		return err
	}
	if err = f.remove(path); err != nil {
		// A command may have made folders that not even we may list.
		openFolders(path)
		err = f.remove(path)
	}
	if err != nil {
		f.tryAgain()
		return fmt.Errorf("remove the workspace of session %s: %w", sessionID, err)
	}
	f.forget(sessionID)
	f.Recount(filepath.Base(filepath.Dir(path)))
	return nil
}

func openFolders(path string) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	_ = root.Chmod(".", 0o700)
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, _ error) error {
		if entry == nil || !entry.IsDir() {
			return nil
		}
		// Called before the folder is listed; where that failed already, the
		// walk goes on with what it could see.
		_ = root.Chmod(name, 0o700)
		return nil
	})
}

// Size is the number of bytes in a session's folder; 0 where it has none.
func (f *Folders) Size(ctx context.Context, sessionID string) (int64, error) {
	path, err := f.Find(sessionID)
	if err != nil || path == "" {
		return 0, err
	}
	return sizeOf(ctx, path)
}

// TotalBytes is the number of bytes in all workspaces. It walks through all of
// their files.
func (f *Folders) TotalBytes(ctx context.Context) (int64, error) { return sizeOf(ctx, f.dir) }

// OwnerBytes is about how many bytes the workspaces of an owner hold: it is
// counted beside the caller, who gets the last count at once. The first one after
// the start is waited for, but not for long: it is 0 until it is known.
func (f *Folders) OwnerBytes(owner string) int64 {
	f.mu.Lock()
	size := f.sizeOfOwner(owner)
	f.countBeside(owner, size)
	f.mu.Unlock()
	select {
	case <-size.known:
	default:
		wait := time.NewTimer(f.firstWait)
		defer wait.Stop()
		select {
		case <-size.known:
		case <-wait.C:
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return size.bytes
}

// sizeOfOwner is called with the lock held.
func (f *Folders) sizeOfOwner(owner string) *ownerSize {
	size := f.sizes[owner]
	if size == nil {
		size = &ownerSize{known: make(chan struct{})}
		f.sizes[owner] = size
	}
	return size
}

// countBeside begins a count where one is due. It is called with the lock held.
func (f *Folders) countBeside(owner string, size *ownerSize) {
	if size.counting || !size.stale(sizeAge) {
		return
	}
	size.counting = true
	go func() {
		f.count(owner, size)
		f.mu.Lock()
		defer f.mu.Unlock()
		size.counting = false
		f.countBeside(owner, size) // files may have come while it was counted
	}()
}

// Room is how many more bytes an owner may store; less than 0: so many too many
// are stored. It counts the workspaces first where that was not done just now.
func (f *Folders) Room(ctx context.Context, owner string) (int64, error) {
	f.mu.Lock()
	size := f.sizeOfOwner(owner)
	stale := size.stale(roomAge)
	f.mu.Unlock()
	if stale {
		f.count(owner, size)
	}
	used, err := f.cfg.Used(ctx, owner)
	if err != nil {
		return 0, fmt.Errorf("room of owner %s: %w", owner, err)
	}
	return f.cfg.QuotaBytes - used, nil
}

func (f *Folders) count(owner string, size *ownerSize) {
	f.mu.Lock()
	begun, changes := time.Now(), size.changes
	f.mu.Unlock()
	bytes := int64(0)
	if plainID.MatchString(owner) {
		bytes, _ = sizeOf(context.Background(), filepath.Join(f.dir, owner)) // what cannot be read counts as nothing
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if size.counted.IsZero() {
		close(size.known)
	}
	if !begun.Before(size.counted) { // one that began later knows more
		size.bytes, size.counted, size.seen = bytes, begun, changes
	}
}

// Recount says that files of an owner were added or removed, as by a command
// that ended. They are counted anew at once beside the caller; Room waits for such
// a count.
func (f *Folders) Recount(owner string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := f.sizeOfOwner(owner)
	size.changes++
	f.countBeside(owner, size)
}

// sizeOf adds up the plain files below path. What vanishes meanwhile, or may
// not be read, counts as nothing.
func sizeOf(ctx context.Context, path string) (int64, error) {
	total := int64(0)
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("size of a workspace: %w", err)
	}
	return total, nil
}
