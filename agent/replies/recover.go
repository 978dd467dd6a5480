package replies

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Store takes what had been shown of replies.
type Store interface {
	// LengthenReply gives a reply that is still running the text and the
	// reasoning that had come of it, where they are longer than what is stored.
	LengthenReply(ctx context.Context, messageID, content, reasoning string) error
}

// Recover is for the start of the server: replies that were streaming in when
// the program was killed get what was written down of them, and the files go. A
// file that cannot be read is told to the log and stays.
func (f *Folder) Recover(ctx context.Context, store Store) error {
	entries, err := f.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, reasoning, err := f.read(e.Name())
		if err != nil {
			f.log.Error("what was written down of a reply cannot be read", "message", e.Name(), "error", err)
			continue
		}
		if err := store.LengthenReply(ctx, e.Name(), content, reasoning); err != nil {
			return fmt.Errorf("recover reply %s: %w", e.Name(), err)
		}
		f.Remove(e.Name())
	}
	return nil
}

func (f *Folder) entries() ([]os.DirEntry, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("read the folder of replies: %w", err)
	}
	entries, err := dir.ReadDir(-1)
	return entries, errors.Join(err, dir.Close())
}

// read joins the pieces of a reply. A kill in mid-write leaves half a line,
// which had not been shown.
func (f *Folder) read(name string) (content, reasoning string, err error) {
	file, err := f.root.Open(name)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var said, thought strings.Builder
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		var p piece
		if err == nil && json.Unmarshal(line, &p) == nil {
			said.WriteString(p.Text)
			thought.WriteString(p.Reasoning)
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return said.String(), thought.String(), err
	}
}
