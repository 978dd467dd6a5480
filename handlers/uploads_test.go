package handlers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"offcut/models"

	"github.com/labstack/echo/v4"
)

// folder takes all files but hidden ones.
type folder struct {
	Files
	has []string
}

func (f *folder) Add(_ context.Context, _, _, _, name string, _ io.Reader, _ int64) (string, error) {
	if strings.HasPrefix(name, ".") {
		return "", models.Errorf(models.ErrInvalid, "hidden_file", "%s is hidden", name)
	}
	f.has = append(f.has, name)
	return name, nil
}

// One file of several that is refused keeps none of the others out, and it is
// said what became of them.
func TestTheOtherFilesOfAFormAreStored(t *testing.T) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, name := range []string{"a.txt", ".env", "b.txt"} {
		if _, err := form.CreateFormFile("file", name); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", &body)
	r.Header.Set(echo.HeaderContentType, form.FormDataContentType())
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		t.Fatal(err)
	}
	files := &folder{}
	h := New(Config{Files: files})
	err := h.addFormFiles(echo.New().NewContext(r, httptest.NewRecorder()), models.Session{}, "", r.MultipartForm.File["file"])
	var refused *models.Error
	if !errors.As(err, &refused) || refused.Code != "some_files_refused" || refused.Args["stored"] != 2 || !strings.Contains(refused.Message, ".env is hidden") {
		t.Errorf("it says %v", err)
	}
	if !slices.Equal(files.has, []string{"a.txt", "b.txt"}) {
		t.Errorf("stored: %q", files.has)
	}
}
