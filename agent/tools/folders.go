package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"offcut/agent"
	"offcut/agent/sandbox"
)

// folders are what the file tools can reach: the workspace of a call, and
// those that the configuration adds.
type folders struct {
	added     []string // with links resolved
	readOnly  []readOnly
	sensitive []string // with links resolved
	room      room
}

// readOnly is a folder that can be read alone, under a name of its own.
type readOnly struct{ folder, at string }

func newFolders(o Options) folders {
	f := folders{added: resolved(o.Folders), sensitive: resolved(o.Sensitive), room: o.Room}
	if o.Skills != nil {
		for _, s := range o.Skills.Folders() {
			f.readOnly = append(f.readOnly, readOnly{resolved([]string{s.Path})[0], s.At})
		}
	}
	return f
}

// resolved are the paths without links; one that is not there stays as it is.
func resolved(paths []string) []string {
	var out []string
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		out = append(out, p)
	}
	return out
}

// place is a path that a model named: a name below a folder that may be
// reached.
type place struct {
	folder string // on the server, with links resolved
	name   string // relative and clean; "." is the folder itself
	shown  string // as the model knows it
	added  bool   // not the workspace
	// readOnly: it is the server's own, and open to be read.
	readOnly bool
}

// find reads a path as a model writes it: relative to the workspace, below
// /workspace as commands see it, or absolute in an added folder.
func (f folders) find(call agent.Call, named string) (place, error) {
	if strings.ContainsRune(named, 0) {
		return place{}, refusef("The path holds a NUL character.")
	}
	workspace, err := filepath.EvalSymlinks(call.Workspace)
	if err != nil {
		return place{}, fmt.Errorf("find the workspace of session %s: %w", call.SessionID, err)
	}
	for _, root := range []string{sandbox.WorkspacePath, call.Workspace, workspace} {
		if below(path.Clean(named), root) {
			named = strings.TrimPrefix(strings.TrimPrefix(path.Clean(named), root), "/")
			break
		}
	}
	if !path.IsAbs(named) {
		name := path.Clean(named)
		if name == ".." || strings.HasPrefix(name, "../") {
			return place{}, outside(named)
		}
		return place{folder: workspace, name: name, shown: name}, nil
	}
	clean := path.Clean(named)
	for _, r := range f.readOnly {
		if below(clean, r.at) {
			name := path.Clean(strings.TrimPrefix(strings.TrimPrefix(clean, r.at), "/"))
			return place{folder: r.folder, name: name, shown: clean, added: true, readOnly: true}, nil
		}
	}
	for _, folder := range f.added {
		if below(clean, folder) {
			name := path.Clean(strings.TrimPrefix(strings.TrimPrefix(clean, folder), "/"))
			return place{folder: folder, name: name, shown: clean, added: true}, nil
		}
	}
	return place{}, outside(named)
}

func outside(named string) error {
	return refusef("%s is outside the workspace. Give a path relative to the workspace.", named)
}

func sensitive(shown, part string) error {
	return refusef("%s is refused: names like %s hold keys, credentials or environment settings, which no tool reads or writes.", shown, part)
}

// allowed checks a place as it is named, and found as it is: the path of the
// server at which an open file really lies. What was swapped meanwhile is
// noticed, since it is the open file that is asked.
func (f folders) allowed(p place, found string) error {
	if part := sensitiveName(p.name); part != "" {
		return sensitive(p.shown, part)
	}
	if !below(found, p.folder) {
		return outside(p.shown)
	}
	if part := sensitiveName(strings.TrimPrefix(strings.TrimPrefix(found, p.folder), "/")); part != "" {
		return refusef("%s is refused: it leads to %s, and such names hold keys, credentials or environment settings, which no tool reads or writes.", p.shown, part)
	}
	if p.added {
		forbidden := slices.Concat(f.sensitive, systemFolders)
		if p.readOnly {
			forbidden = systemFolders // it lies in the data folder, and no link leads out of it
		}
		if slices.ContainsFunc(forbidden, func(s string) bool { return below(found, s) }) {
			return refusef("%s is refused: it belongs to the system or to Offcut itself.", p.shown)
		}
	}
	return nil
}

// open opens a file or folder for reading. It never waits, and refuses what is
// neither, such as a pipe or a device.
func (f folders) open(call agent.Call, named string) (*os.File, fs.FileInfo, place, error) {
	p, err := f.find(call, named)
	if err != nil {
		return nil, nil, p, err
	}
	file, info, err := f.openPlace(p)
	return file, info, p, err
}

func (f folders) openPlace(p place) (*os.File, fs.FileInfo, error) {
	// The name is checked before anything of that name is touched.
	if err := f.allowed(p, path.Join(p.folder, p.name)); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(p.folder)
	if err != nil {
		return nil, nil, fmt.Errorf("open a folder of files: %w", err)
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(p.name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, told(p.shown, err)
	}
	info, err := f.checkOpen(p, file)
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func (f folders) checkOpen(p place, file *os.File) (fs.FileInfo, error) {
	found, err := realPath(file)
	if err != nil {
		return nil, err
	}
	if err := f.allowed(p, found); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, told(p.shown, err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, refusef("%s is no file but a %s, which is never read.", p.shown, special(info.Mode()))
	}
	return info, nil
}

// realPath asks the kernel where an open file lies.
func realPath(file *os.File) (string, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return "", fmt.Errorf("look at an open file: %w", err)
	}
	var found string
	var readErr error
	if err := raw.Control(func(fd uintptr) { found, readErr = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) }); err != nil {
		return "", fmt.Errorf("look at an open file: %w", err)
	}
	if readErr != nil {
		return "", fmt.Errorf("find where an open file lies: %w", readErr)
	}
	// The kernel adds this where the file was removed meanwhile.
	return strings.TrimSuffix(found, " (deleted)"), nil
}

func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// told turns an error of the file system into a sentence without the server's
// path. An error that the model cannot mend stays one.
func told(shown string, err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent{refusal(fmt.Sprintf("There is no %s. list_files shows what there is.", shown))}
	case errors.Is(err, fs.ErrPermission):
		return refusef("%s cannot be opened: its permissions forbid it.", shown)
	case !errors.As(err, &errno):
		// os.Root says so of a path that leads out, in an error of its own.
		return refusef("%s leads outside the workspace, through .. or a link. Name the file itself.", shown)
	case errno == unix.ENXIO:
		return refusef("%s is no file but a pipe, socket or device, which is never read.", shown)
	case errno == unix.ENOTDIR:
		return refusef("%s goes through a file as if that were a folder.", shown)
	case errno == unix.EISDIR:
		return refusef("%s is a folder.", shown)
	case errno == unix.ELOOP:
		return refusef("%s goes through a loop of links.", shown)
	case errno == unix.ENAMETOOLONG:
		return refusef("The path is too long: %.100s…", shown)
	case errno == unix.ENOSPC || errno == unix.EDQUOT:
		return refusef("%s cannot be written: the disk is full.", shown)
	}
	return refusef("%s cannot be used: %s.", shown, errno)
}

// absent is the refusal of a file that is not there.
type absent struct{ refusal }

// Unwrap lets it be told like any refusal.
func (a absent) Unwrap() error { return a.refusal }

func isAbsent(err error) bool {
	var a absent
	return errors.As(err, &a)
}
