package handlers

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"unicode/utf8"

	"offcut/agent/attach"
	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// maxFileText bounds, in bytes, what a page shows of a file.
const maxFileText = 256 << 10

// filesPerPage is how much of a folder a page lists.
const filesPerPage = 200

// placed is a session, and a path in its workspace that the address names.
func (h *Handlers) placed(c echo.Context, may func(echo.Context, string) (models.Session, error)) (models.Session, string, error) {
	sess, err := may(c, c.Param("session"))
	if err != nil {
		return sess, "", err
	}
	q, err := queryOf(c)
	return sess, q.text("path"), err
}

// FilesPage shows a folder or a file of the workspace.
func (h *Handlers) FilesPage(c echo.Context) error {
	sess, name, err := h.placed(c, h.readable)
	if err != nil {
		return err
	}
	file, info, err := h.Files.Open(c.Request().Context(), sess.ID, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	place, err := h.filesPlace(c, sess, name)
	if err != nil {
		return err
	}
	if info.Kind == models.KindFolder {
		return h.folderPage(c, place)
	}
	view, err := fileView(place, file, info)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.FilePage(view))
}

func (h *Handlers) filesPlace(c echo.Context, sess models.Session, name string) (views.FilesPlace, error) {
	sidebar, err := h.sidebar(c, sess.ID)
	return views.FilesPlace{Sidebar: sidebar, SessionID: sess.ID, SessionTitle: sess.Title, Path: name}, err
}

func (h *Handlers) folderPage(c echo.Context, place views.FilesPlace) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	cursor := q.text("cursor")
	list, next, err := h.Files.List(c.Request().Context(), place.SessionID, place.Path, models.Page{Cursor: cursor, Limit: filesPerPage})
	if err != nil {
		return err
	}
	folder := views.Folder{FilesPlace: place, Later: cursor != "", Next: next, MostBytes: h.UploadBytes}
	for _, f := range list {
		folder.Entries = append(folder.Entries, views.FileEntry{Path: f.Path, Kind: string(f.Kind), Size: f.Size, ModifiedAt: f.ModifiedAt})
	}
	return h.render(c, http.StatusOK, views.FolderPage(folder))
}

// fileView is a file as a page shows it: a picture, its text, or neither.
func fileView(place views.FilesPlace, file *os.File, info models.FileInfo) (views.FileView, error) {
	view := views.FileView{FilesPlace: place, Size: info.Size, ModifiedAt: info.ModifiedAt}
	head, err := io.ReadAll(io.LimitReader(file, maxFileText+1))
	if err != nil {
		return view, fmt.Errorf("read a file of a workspace: %w", err)
	}
	view.Type = attach.TypeOf(head)
	view.Picture = attach.Displayable(view.Type)
	if text, ok := textOf(head); ok && !view.Picture {
		view.Text, view.Cut = &text, int64(len(text)) < info.Size
	}
	return view, nil
}

// textOf is a text, or its beginning; false where the bytes are none. A character
// that the bound has cut is left out.
func textOf(head []byte) (string, bool) {
	if len(head) > maxFileText {
		end := maxFileText
		for end > maxFileText-utf8.UTFMax && !utf8.RuneStart(head[end]) {
			end--
		}
		head = head[:end]
	}
	return string(head), utf8.Valid(head) && !slices.Contains(head, 0)
}

// RawFile is a file of the workspace to be stored; with show, one that browsers
// show within a page, or nothing.
func (h *Handlers) RawFile(c echo.Context) error {
	sess, name, err := h.placed(c, h.readable)
	if err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	show, err := q.flag("show")
	if err != nil {
		return err
	}
	file, info, err := h.Files.Open(c.Request().Context(), sess.ID, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	if info.Kind == models.KindFolder {
		return models.Errorf(models.ErrInvalid, "not_a_file", "%q is a folder; download the files in it", models.Arg("name", clip(name, 200)))
	}
	if show == nil || !*show {
		return sendFile(c, file, info)
	}
	shown, err := sendPicture(c, file, info)
	if err == nil && !shown {
		return models.Errorf(models.ErrInvalid, "not_a_picture", "this file is no picture that can be shown; download it")
	}
	return err
}

// FileGoes asks whether a file or folder is to be deleted.
func (h *Handlers) FileGoes(c echo.Context) error {
	sess, name, err := h.placed(c, h.writable)
	if err != nil {
		return err
	}
	info, err := h.Files.Look(c.Request().Context(), sess.ID, name)
	if err != nil {
		return err
	}
	place, err := h.filesPlace(c, sess, name)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.FileGoesPage(views.FileGoes{FilesPlace: place, Kind: string(info.Kind), Size: info.Size}))
}

// DeleteFile deletes a file, or a folder with all in it.
func (h *Handlers) DeleteFile(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	name := c.FormValue("path")
	if err := h.Files.Remove(c.Request().Context(), sess.OwnerID, sess.ID, name); err != nil {
		return err
	}
	return h.goTo(c, folderAddress(sess.ID, path.Dir(name)))
}

// folderAddress is the page of a folder of a workspace.
func folderAddress(sessionID, folder string) string {
	address := "/s/" + sessionID + "/files"
	if folder == "." || folder == "" {
		return address
	}
	return address + "?" + url.Values{"path": {folder}}.Encode()
}
