package views

import (
	"context"
	"net/url"
	paths "path"
	"strings"
	"time"

	"offcut/views/markdown"
	"offcut/views/visible"

	"github.com/a-h/templ"
)

// The kinds of what is in a workspace; see models.FileKind.
const (
	FileKindFile    = "file"
	FileKindFolder  = "folder"
	FileKindLink    = "link"
	FileKindSpecial = "special"
)

// FileChip is a file that a message came with.
type FileChip struct {
	Path    string
	Size    int64
	Picture bool // browsers show it
}

// FileEntry is a line of a folder.
type FileEntry struct {
	Path       string
	Kind       string
	Size       int64
	ModifiedAt time.Time
}

// FilesPlace is where in which workspace a page is.
type FilesPlace struct {
	Sidebar      Sidebar
	SessionID    string
	SessionTitle string
	Path         string // of the folder or file; empty: the workspace itself
}

// Folder is a folder of a workspace, or a page of it.
type Folder struct {
	FilesPlace
	Entries []FileEntry
	// Later: this is not the first page.
	Later bool
	// Next is the cursor of the next page; empty: this is the last.
	Next string
	// MostBytes bounds one upload.
	MostBytes int64
}

// FileView is one file of a workspace.
type FileView struct {
	FilesPlace
	Size       int64
	ModifiedAt time.Time
	Type       string // its media type, told from its content
	Picture    bool   // it is shown as one
	// Text is its text, or the beginning of it where Cut; nil: it is no text.
	Text *string
	Cut  bool
}

// FileGoes asks whether a file or folder is to be deleted.
type FileGoes struct {
	FilesPlace
	Kind string
	Size int64
}

// below is an address of the session's files, about a path.
func (v FilesPlace) below(part, name string) string {
	address := "/s/" + v.SessionID + "/files" + part
	if name != "" {
		address += "?" + url.Values{"path": {name}}.Encode()
	}
	return address
}

// to is the page of a path.
func (v FilesPlace) to(ctx context.Context, name string) templ.SafeURL {
	return at(ctx, v.below("", name))
}

// up is the path of the folder that a path is in.
func up(name string) string {
	if folder := paths.Dir(name); folder != "." {
		return folder
	}
	return ""
}

func (v FilesPlace) title(ctx context.Context) string {
	if v.Path == "" {
		return t(ctx, "files.title")
	}
	return paths.Base(v.Path)
}

func (v FilesPlace) sessionName(ctx context.Context) string {
	if v.SessionTitle == "" {
		return t(ctx, "session.untitled")
	}
	return v.SessionTitle
}

// crumbs are the folders that a path is in, from the outermost on.
func (v FilesPlace) crumbs() []string {
	var all []string
	for folder := up(v.Path); folder != ""; folder = up(folder) {
		all = append([]string{folder}, all...)
	}
	return all
}

// nextPage is the address of what follows in a folder.
func (v Folder) nextPage(ctx context.Context) templ.SafeURL {
	params := url.Values{"cursor": {v.Next}}
	if v.Path != "" {
		params.Set("path", v.Path)
	}
	return at(ctx, "/s/", v.SessionID, "/files?", params.Encode())
}

// pictureOf is the address of a file that is shown as a picture.
func pictureOf(ctx context.Context, sessionID, name string) string {
	return path(ctx, "/s/", sessionID, "/files/raw?", url.Values{"path": {name}, "show": {"true"}}.Encode())
}

// named is a name of a file as HTML on one line, in which nothing is unseen.
func named(name string) string { return visible.Line(strings.ToValidUTF8(name, "\uFFFD")) }

// base is the last part of a path.
func base(name string) string { return paths.Base(name) }

// source is a file's text as the HTML of a pre element, which swallows the line
// break that it begins with.
func (v FileView) source() string { return "\n" + markdown.Source(paths.Base(v.Path), *v.Text) }

// fileIcon stands for what an entry is.
func fileIcon(kind string) string {
	switch kind {
	case FileKindFolder:
		return "folder"
	case FileKindLink:
		return "arrow"
	}
	return "file"
}
