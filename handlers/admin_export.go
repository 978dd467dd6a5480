package handlers

import (
	"archive/zip"
	"bufio"
	"net/http"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// AdminExport is the chosen sessions as files of JSON in an archive, as they are
// exported one by one, so that what is deleted can be kept elsewhere. Reading a
// session is audited as at its page.
func (h *Handlers) AdminExport(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	list, err := h.chosen(c, q.values)
	if err != nil {
		return err
	}
	for i, one := range list {
		if list[i].Session, err = h.readable(c, one.ID); err != nil {
			return err
		}
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "application/zip")
	header.Set("Content-Disposition", `attachment; filename="offcut-sessions.zip"`)
	header.Set("Cache-Control", "no-store")
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	archive := zip.NewWriter(c.Response())
	for _, one := range list {
		if err := h.addExport(c, archive, one.Session); err != nil {
			return h.brokeOff(c, one.ID, err)
		}
	}
	return archive.Close()
}

// addExport writes one session into an archive, under its id: a title is no name
// to unpack.
func (h *Handlers) addExport(c echo.Context, archive *zip.Writer, sess models.Session) error {
	file, err := archive.Create(sess.ID + ".json")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 64<<10)
	if err := h.writeJSON(c.Request().Context(), out, exported{session: sess, hidden: true}); err != nil {
		return err
	}
	return out.Flush()
}
