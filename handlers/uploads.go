package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// uploadMemory is how much of a form with files is held in memory; the rest lies
// in temporary files meanwhile.
const uploadMemory = 1 << 20

// givenUpAfter is how long a draft is left alone while its owner begins another: who
// writes two first messages at once sends both before.
const givenUpAfter = time.Hour

// Spooled reads a form with files before anything else does, and removes its
// temporary files in the end. A file that is the body itself is left to be read
// as it comes.
func Spooled(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		patient(c)
		r := c.Request()
		if !strings.HasPrefix(r.Header.Get(echo.HeaderContentType), echo.MIMEMultipartForm) {
			return next(c)
		}
		err := r.ParseMultipartForm(uploadMemory)
		defer func() {
			if r.MultipartForm != nil {
				_ = r.MultipartForm.RemoveAll()
			}
		}()
		switch {
		case errors.As(err, new(*http.MaxBytesError)):
			return err
		case err != nil:
			return models.Errorf(models.ErrMalformed, "malformed_form", "the form cannot be read; send it once more")
		}
		return next(c)
	}
}

// Upload puts files into a folder of the workspace: those of a form, or from a
// script one, which is the body.
func (h *Handlers) Upload(c echo.Context) error {
	sess, folder, err := h.placed(c, h.writable)
	if err != nil {
		return err
	}
	if form := c.Request().MultipartForm; form != nil {
		if len(form.File["file"]) == 0 {
			return models.Errorf(models.ErrInvalid, "no_upload", "there is no file in the form; choose one, nothing was stored")
		}
		if err := h.addFormFiles(c, sess, folder, form.File["file"]); err != nil {
			return err
		}
		return h.goTo(c, folderAddress(sess.ID, folder))
	}
	return h.addBody(c, sess, folder)
}

// UploadFirst takes a file for a session that begins with the message of the
// same client id. Before that comes it is a draft, and in no list.
func (h *Handlers) UploadFirst(c echo.Context) error {
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	clientID, model := q.text("client_id"), q.text("model")
	if clientID == "" || len(clientID) > models.MaxClientIDLength {
		return badParameter("client_id", "the id of the message that the file is for")
	}
	if err := h.checkModel(model); err != nil {
		return err
	}
	sess, found, err := h.sessionFor(c, model, clientID)
	if err != nil {
		return err
	}
	if !found {
		if err := h.dropOtherDrafts(c, sess.ID); err != nil {
			return err
		}
	}
	return h.addBody(c, sess, "")
}

// dropOtherDrafts removes what the user uploaded for first messages that were given
// up, but for one draft that stays: nobody could find and delete it.
func (h *Handlers) dropOtherDrafts(c echo.Context, stays string) error {
	ctx := context.WithoutCancel(c.Request().Context())
	ids, err := h.Store.RemoveOtherDrafts(ctx, me(c), stays, h.now().Add(-givenUpAfter))
	failed := []error{err}
	for _, id := range ids {
		failed = append(failed, h.Workspaces.Remove(ctx, id))
	}
	return errors.Join(failed...)
}

// mayUpload counts a file that somebody uploads.
func (h *Handlers) mayUpload(c echo.Context) error {
	wait, ok := h.uploads.take(me(c), h.Now())
	if ok {
		return nil
	}
	return &models.Error{
		Kind: models.ErrLimited, Code: "too_many_uploads", RetryAfter: max(wait, time.Second),
		Message: fmt.Sprintf("you have uploaded %d files in a short time; this one was not stored, wait a little and send it again", uploadsPerUser),
		Args:    map[string]any{"most": uploadsPerUser},
	}
}

// addFormFiles stores the files of a form, those too that come after one that is
// refused; the error says how many there are.
func (h *Handlers) addFormFiles(c echo.Context, sess models.Session, folder string, list []*multipart.FileHeader) error {
	var first *models.Error
	stored := 0
	for _, header := range list {
		err := h.addFormFile(c, sess, folder, header)
		var refused *models.Error
		switch {
		case err == nil:
			stored++
		case !errors.As(err, &refused):
			return err
		case first == nil:
			first = refused
		}
	}
	switch {
	case first == nil:
		return nil
	case len(list) == 1:
		return first
	}
	return models.Errorf(first.Kind, "some_files_refused", "%d of %d files were stored; of the others the first: %s",
		models.Arg("stored", stored), models.Arg("all", len(list)), models.Arg("why", first))
}

func (h *Handlers) addFormFile(c echo.Context, sess models.Session, folder string, header *multipart.FileHeader) error {
	if err := h.mayUpload(c); err != nil {
		return err
	}
	if header.Size > h.UploadBytes {
		return h.tooLargeUpload()
	}
	file, err := header.Open()
	if err != nil {
		return fmt.Errorf("open an uploaded file: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	_, err = h.Files.Add(c.Request().Context(), sess.OwnerID, sess.ID, folder, header.Filename, file, header.Size)
	return err
}

// addBody stores the body under the name that the address gives, or one like it,
// and answers with what became of it.
func (h *Handlers) addBody(c echo.Context, sess models.Session, folder string) error {
	if err := h.mayUpload(c); err != nil {
		return err
	}
	q, err := queryOf(c)
	if err != nil {
		return err
	}
	var body io.Reader = http.MaxBytesReader(c.Response(), io.NopCloser(c.Request().Body), h.UploadBytes)
	name, err := h.Files.Add(c.Request().Context(), sess.OwnerID, sess.ID, folder, q.text("name"), body, announced(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"session": sess.ID, "path": name})
}
