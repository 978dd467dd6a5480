// Package replies writes down the replies that stream in, piece by piece and
// before they are shown: the database has them a second later. So a program that
// is killed loses nothing of what it had shown.
package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// folderName is the folder's, in the data folder.
const folderName = "replies"

// Folder holds a file for each reply that streams in, under the id of its
// message. Nothing is synced: what was written outlives the program, though not
// the machine. Its methods may be called from many goroutines.
type Folder struct {
	root *os.Root
	log  *slog.Logger

	mu   sync.Mutex
	open map[string]*os.File // nil for one whose writing failed
}

// piece is a line of a file.
type piece struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
}

// Open opens the folder below a data folder, and makes it where there is none.
func Open(dataDir string, log *slog.Logger) (*Folder, error) {
	path := filepath.Join(dataDir, folderName)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the folder of replies: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of replies: %w", err)
	}
	return &Folder{root: root, log: log, open: map[string]*os.File{}}, nil
}

// Close lets go of the folder; the files of replies that still stream in stay.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := []error{f.root.Close()}
	for _, file := range f.open {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	clear(f.open)
	return errors.Join(errs...)
}

// Add writes down more of the reply that will be the message with this id. A
// disk that fails is told to the log, once for each reply: the reply goes on
// without, and the database still gets it.
func (f *Folder) Add(messageID, text, reasoning string) {
	file, err := f.file(messageID)
	if file == nil && err == nil {
		return
	}
	if err == nil {
		line, _ := json.Marshal(piece{text, reasoning}) // strings always have a JSON form
		_, err = file.Write(append(line, '\n'))
	}
	if err != nil {
		f.log.Warn("a reply is not written down while it streams in", "message", messageID, "error", err)
		f.giveUp(messageID)
	}
}

// file is that of a reply; nil where writing it has failed before.
func (f *Folder) file(messageID string) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if file, ok := f.open[messageID]; ok {
		return file, nil
	}
	file, err := f.root.OpenFile(messageID, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err == nil {
		f.open[messageID] = file
	}
	return file, err
}

// giveUp writes no more of a reply.
func (f *Folder) giveUp(messageID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if file := f.open[messageID]; file != nil {
		_ = file.Close()
	}
	f.open[messageID] = nil
}

// Remove lets go of a reply that is stored whole.
func (f *Folder) Remove(messageID string) {
	f.giveUp(messageID)
	f.mu.Lock()
	delete(f.open, messageID)
	f.mu.Unlock()
	if err := f.root.Remove(messageID); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("the file of a reply cannot be removed; the next start does", "message", messageID, "error", err)
	}
}
