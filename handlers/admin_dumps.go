package handlers

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"offcut/models"
	"offcut/views"

	"github.com/labstack/echo/v4"
)

// shownDump is how much of a dump's file its page shows, in bytes.
const shownDump = 128 << 10

// AdminDumps lists the requests that providers refused.
func (h *Handlers) AdminDumps(c echo.Context) error {
	list, err := h.Dumps.List()
	if err != nil {
		return err
	}
	page := views.AdminDumps{Kept: models.KeptDumps}
	for _, d := range list {
		page.Dumps = append(page.Dumps, dumpView(d))
	}
	return h.render(c, http.StatusOK, views.AdminDumpsPage(page))
}

// AdminDump shows the beginning of one. What is in it was said in a session, so
// that reading it is audited as reading the session is.
func (h *Handlers) AdminDump(c echo.Context) error {
	found, file, err := h.openDump(c)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(file, shownDump))
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.AdminDumpPage(views.DumpPage{
		Dump: dumpView(found), Text: strings.ToValidUTF8(string(text), ""),
	}))
}

// AdminDumpRaw is the file itself, as a download.
func (h *Handlers) AdminDumpRaw(c echo.Context) error {
	found, file, err := h.openDump(c)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	header := c.Response().Header()
	header.Set("Content-Disposition", "attachment; filename="+strconv.Quote(found.Name))
	header.Set("Content-Length", strconv.FormatInt(found.Bytes, 10))
	header.Set("Cache-Control", "no-store")
	return c.Stream(http.StatusOK, "application/json", file)
}

func (h *Handlers) openDump(c echo.Context) (models.Dump, io.ReadCloser, error) {
	found, file, err := h.Dumps.Open(c.Param("dump"))
	if err != nil {
		return found, nil, err
	}
	deed := h.entry(c, models.AuditDumpView, found.Name, models.Deedf("dump_read", "read what a model was sent in session %s", models.Arg("session", found.SessionID)))
	if err := h.Store.AddAuditOnce(c.Request().Context(), deed); err != nil {
		_ = file.Close() // nothing was written
		return found, nil, err
	}
	return found, file, nil
}

func dumpView(d models.Dump) views.Dump {
	return views.Dump{
		Name: d.Name, Path: d.Path, At: d.At, SessionID: d.SessionID, TurnID: d.TurnID, Model: d.Model,
		Status: d.Status, Error: d.Error, Bytes: d.Bytes,
	}
}
