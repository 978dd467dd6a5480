package handlers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"offcut/models"
	"offcut/models/portable"

	"github.com/labstack/echo/v4"
)

// APIImport makes a session of a file that was exported as JSON.
func (h *Handlers) APIImport(c echo.Context) error {
	patient(c)
	sess, err := h.importFrom(c, c.Request().Body)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", h.BasePath+"/api/v1/sessions/"+sess.ID)
	return c.JSON(http.StatusCreated, h.sessionResource(sess))
}

// Import takes the file of a form, and goes to the session.
func (h *Handlers) Import(c echo.Context) error {
	header, err := c.FormFile("file")
	if err != nil {
		return models.Errorf(models.ErrInvalid, "no_file", "there is no file; choose a session that was exported as JSON")
	}
	file, err := header.Open()
	if err != nil {
		return fmt.Errorf("open an uploaded file: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	sess, err := h.importFrom(c, file)
	if err != nil {
		return err
	}
	return h.goTo(c, "/s/"+sess.ID)
}

// importFrom makes a session of the user's own. Nothing in the file says whose
// it is or what it is called by: all ids are new, and a kept output is found
// only in the session that made it.
func (h *Handlers) importFrom(c echo.Context, from io.Reader) (models.Session, error) {
	file, err := readFile(from)
	if err != nil {
		return models.Session{}, err
	}
	user, _ := CurrentUser(c)
	now := h.now()
	sess := models.Session{
		ID: models.NewID(models.PrefixSession), OwnerID: user.ID, OwnerName: user.Name,
		Title: file.Session.Title, CreatedAt: now, UpdatedAt: now,
		Model: file.Session.Model, // one that is not configured is asked about before anything is sent
	}
	return sess, h.Store.ImportSession(c.Request().Context(), sess, file.Turns(), file.Rests())
}

// readFile reads a whole file; the size of a request bounds it. Whatever is
// wrong with it is models.ErrInvalid, with a code of its own.
func readFile(from io.Reader) (portable.File, error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return portable.File{}, fmt.Errorf("read an imported file: %w", err)
	}
	if !utf8.Valid(data) {
		return portable.File{}, errNotUTF8
	}
	var object struct{} // its members are read below, with their places
	var told *models.Error
	switch err := decodeJSON(data, &object); {
	case errors.As(err, &told) && told.Code == errNotUTF8.Code:
		return portable.File{}, err
	case errors.As(err, &told):
		return portable.File{}, portable.Bad("",
			models.Errorf(models.ErrInvalid, "fault_json", "cannot be read as a JSON object: %s", models.Arg("why", told)), 1)
	case err != nil:
		return portable.File{}, err
	}
	return portable.Read(data)
}
