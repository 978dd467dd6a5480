package handlers

import (
	"net/http"
	"path"
	"strings"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

type fileResource struct {
	Name       string          `json:"name"`
	Path       string          `json:"path"`
	Kind       models.FileKind `json:"kind"`
	Size       *int64          `json:"size"` // null of what is no file
	ModifiedAt string          `json:"modified_at"`
}

func newFileResource(f models.FileInfo) fileResource {
	r := fileResource{Name: path.Base(f.Path), Path: f.Path, Kind: f.Kind, ModifiedAt: stamp(f.ModifiedAt)}
	if f.Kind == models.KindFile {
		r.Size = &f.Size
	}
	return r
}

// namedFile is the path that the address names, decoded once: %2e%2e%2f is ../
// and refused as that.
func (h *Handlers) namedFile(c echo.Context) string {
	_, name, _ := strings.Cut(strings.TrimPrefix(c.Request().URL.Path, h.BasePath+"/api/v1/sessions/"), "/files/")
	return name
}

// APIFiles lists the workspace.
func (h *Handlers) APIFiles(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	return h.sendFolder(c, sess, "")
}

// APIFile sends a file of the workspace, or lists a folder.
func (h *Handlers) APIFile(c echo.Context) error {
	sess, err := h.readable(c, c.Param("session"))
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(h.namedFile(c), "/")
	file, info, err := h.Files.Open(c.Request().Context(), sess.ID, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	if info.Kind == models.KindFolder {
		return h.sendFolder(c, sess, name)
	}
	return sendFile(c, file, info)
}

func (h *Handlers) sendFolder(c echo.Context, sess models.Session, folder string) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	page, err := q.page()
	if err != nil {
		return err
	}
	list, next, err := h.Files.List(c.Request().Context(), sess.ID, folder, page)
	if err != nil {
		return err
	}
	return sendList(c, list, next, newFileResource)
}

// APIPutFile writes a file of the workspace, new or in another's place.
func (h *Handlers) APIPutFile(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	patient(c)
	if err := h.mayUpload(c); err != nil {
		return err
	}
	err = h.Files.Put(c.Request().Context(), sess.OwnerID, sess.ID, h.namedFile(c), c.Request().Body, announced(c))
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// APIDeleteFile deletes a file of the workspace, or a folder with all in it.
func (h *Handlers) APIDeleteFile(c echo.Context) error {
	sess, err := h.writable(c, c.Param("session"))
	if err != nil {
		return err
	}
	if err := h.Files.Remove(c.Request().Context(), sess.OwnerID, sess.ID, h.namedFile(c)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
