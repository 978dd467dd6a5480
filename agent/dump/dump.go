// Package dump writes requests that a provider refused into files in the
// temporary folder, for an administrator to read. It keeps the last few of
// them, for their owner alone, and no secret of the configuration in any.
package dump

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"offcut/agent"
	"offcut/agent/redact"
	"offcut/models"
)

// Dumps is a folder of dumps. Its methods may be called by many goroutines.
type Dumps struct {
	folder folder
	redact redact.Redactor
	mu     sync.Mutex // one file is written, and the oldest removed, at a time
}

// New keeps dumps for the data folder dataDir of this program, in a folder of
// the temporary folder that is made with the first of them. secrets stand in no
// file, in whatever form they were sent.
func New(dataDir string, secrets []string) *Dumps {
	return &Dumps{folder: folderFor(os.TempDir(), dataDir), redact: redact.New("[redacted]", secrets...)}
}

// Save writes a refusal into a file and returns its path.
func (d *Dumps) Save(refusal agent.Refusal) (string, error) {
	content, err := d.encode(refusal)
	if err != nil {
		return "", fmt.Errorf("dump of turn %s: %w", refusal.TurnID, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	root, err := d.folder.open(true)
	if err != nil {
		return "", fmt.Errorf("folder of the dumps: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written to a folder's handle
	name := nameOf(refusal)
	if err := write(root, name, content); err != nil {
		return "", fmt.Errorf("dump of turn %s: %w", refusal.TurnID, err)
	}
	names, err := namesIn(root)
	for _, old := range names[:max(0, len(names)-models.KeptDumps)] {
		if err == nil {
			err = root.Remove(old)
		}
	}
	if err != nil {
		err = fmt.Errorf("remove old dumps: %w", err)
	}
	return filepath.Join(d.folder.path, name), err
}

// List is the dumps there are, newest first.
func (d *Dumps) List() ([]models.Dump, error) {
	root, err := d.folder.open(false)
	if root == nil || err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	names, err := namesIn(root)
	if err != nil {
		return nil, fmt.Errorf("list the dumps: %w", err)
	}
	var list []models.Dump
	for _, name := range slices.Backward(names) {
		if found, err := d.describe(root, name); err == nil { // one that is being removed is none
			list = append(list, found)
		}
	}
	return list, nil
}

// Open reads one dump; the caller closes it. One that is not there is
// models.ErrNotFound.
func (d *Dumps) Open(name string) (models.Dump, io.ReadCloser, error) {
	missing := models.Errorf(models.ErrNotFound, "dump_not_found", "there is no such dump; only the last %d are kept", models.Arg("most", models.KeptDumps))
	root, err := d.folder.open(false)
	if err != nil {
		return models.Dump{}, nil, err
	}
	if root == nil || !plainName.MatchString(name) {
		return models.Dump{}, nil, missing
	}
	defer func() { _ = root.Close() }() // the file stays open
	found, err := d.describe(root, name)
	if err != nil {
		return models.Dump{}, nil, missing
	}
	file, err := root.Open(name)
	if err != nil {
		return models.Dump{}, nil, missing
	}
	return found, file, nil
}

// OfTurn is the path and the name of the last dump of a turn; empty: there is
// none any more.
func (d *Dumps) OfTurn(turnID string) (models.Dump, bool) {
	root, err := d.folder.open(false)
	if root == nil || err != nil {
		return models.Dump{}, false
	}
	defer func() { _ = root.Close() }() // nothing was written
	names, _ := namesIn(root)           // none where they cannot be listed
	for _, name := range slices.Backward(names) {
		if plainName.FindStringSubmatch(name)[2] == turnID {
			return models.Dump{Name: name, Path: filepath.Join(d.folder.path, name), TurnID: turnID}, true
		}
	}
	return models.Dump{}, false
}

// timeFormat sorts as time does.
const timeFormat = "20060102T150405.000000Z"

// plainName is how files are named: the time, and the turn. Nothing else is
// read or removed.
var plainName = regexp.MustCompile(`^(\d{8}T\d{6}\.\d{6}Z)-([A-Za-z0-9_]{1,100})\.json$`)

// notInName is what an id has none of.
var notInName = regexp.MustCompile(`[^A-Za-z0-9_]`)

func nameOf(r agent.Refusal) string {
	return r.At.UTC().Format(timeFormat) + "-" + notInName.ReplaceAllString(r.TurnID, "_") + ".json"
}

// namesIn are the names of the dumps in a folder, oldest first.
func namesIn(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	names, err := dir.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(name string) bool { return !plainName.MatchString(name) })
	slices.Sort(names)
	return names, err
}

func write(root *os.Root, name string, content []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = root.Remove(name) // half a file says nothing
	}
	return err
}

// describe reads the beginning of a dump, which says what it is about.
func (d *Dumps) describe(root *os.Root, name string) (models.Dump, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return models.Dump{}, err
	}
	if !info.Mode().IsRegular() {
		return models.Dump{}, os.ErrNotExist
	}
	file, err := root.Open(name)
	if err != nil {
		return models.Dump{}, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	about, err := readHead(file)
	if err != nil {
		return models.Dump{}, err
	}
	at, err := time.Parse(timeFormat, plainName.FindStringSubmatch(name)[1])
	return models.Dump{
		Name: name, Path: filepath.Join(d.folder.path, name), At: at, SessionID: about.SessionID, TurnID: about.TurnID,
		Model: about.Name, Status: about.Status, Error: about.Error, Bytes: info.Size(),
	}, err
}

// readHead reads a dump up to the messages, which may be megabytes.
func readHead(r io.Reader) (head, error) {
	var about head
	decoder := json.NewDecoder(r)
	if _, err := decoder.Token(); err != nil {
		return about, err
	}
	var value json.RawMessage
	if key, err := decoder.Token(); err != nil || key != "about" {
		return about, fmt.Errorf("the file does not begin as a dump: %w", err)
	}
	if err := decoder.Decode(&value); err != nil {
		return about, err
	}
	return about, json.Unmarshal(value, &about)
}
