package mcp

import (
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// filesFolder is where in a workspace the files of results are.
const filesFolder = "mcp"

// maxFiles are written of one result: what comes after them is named only.
const maxFiles = 32

// extensions are those of the types that servers usually send. Others get .bin:
// a system's own table differs from machine to machine.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/json": ".json", "text/plain": ".txt",
}

// files writes what of a result is no text into the workspace of its session.
type files struct {
	ctx  context.Context
	call agent.Call
	room func(context.Context, string) (int64, error)
	n    int
	// Of what is not there: its bytes, whether there were too many files, and
	// why another one was not stored.
	missing int64
	over    bool
	failed  string
}

func newFiles(ctx context.Context, call agent.Call, room func(context.Context, string) (int64, error)) *files {
	return &files{ctx: ctx, call: call, room: room}
}

// store writes a file, and returns the line that stands for it: what it is, and
// where, or why it is not there. of names where the server has it; empty: it
// has no name.
func (f *files) store(what, mime, of string, data []byte) string {
	said := what
	if of != "" {
		said += " " + of
	}
	said += ", " + kind(mime, len(data))
	name, why := f.write(mime, data)
	if why != "" {
		f.missing += int64(len(data))
		return fmt.Sprintf("[%s, not stored: %s]", said, why)
	}
	return fmt.Sprintf("[%s, stored in the workspace as %s]", said, name)
}

// describe says in a result's metadata what of the answer is stored nowhere.
func (f *files) describe(meta *models.ResultMetadata) {
	if !f.over && f.failed == "" {
		return
	}
	meta.Truncated, meta.Complete = true, models.Ptr(false)
	meta.Reasons = append(meta.Reasons, models.ReasonRetention)
	meta.OmittedBytes = &f.missing
	meta.RetentionError = f.failed
}

// write writes a file, if a result may have one more.
func (f *files) write(mime string, data []byte) (name, why string) {
	if f.n++; f.n > maxFiles {
		f.over = true
		return "", fmt.Sprintf("a result has at most %d files", maxFiles)
	}
	if name, why = f.writeOne(mime, data); why != "" {
		f.failed = "a file was not stored: " + why
	}
	return name, why
}

// writeOne writes a file that was not there. A workspace may hold links that
// lead out of it: nothing follows them.
func (f *files) writeOne(mime string, data []byte) (name, why string) {
	if f.room != nil {
		left, err := f.room(f.ctx, f.call.OwnerID)
		switch {
		case err != nil:
			return "", "the user's storage could not be measured"
		case int64(len(data)) > left:
			return "", "the user's storage has no room for it"
		}
	}
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	extension := extensions[strings.TrimSpace(mime)]
	if extension == "" {
		extension = ".bin"
	}
	name = path.Join(filesFolder, plain(f.call.ID)+"-"+strconv.Itoa(f.n)+extension)
	if err := writeNew(f.call.Workspace, name, data); err != nil {
		return "", "it could not be written into the workspace"
	}
	return name, ""
}

func writeNew(workspace, name string, data []byte) (err error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filesFolder, 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = root.Remove(name) // half of an image is none
	}
	return err
}
