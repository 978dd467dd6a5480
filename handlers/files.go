package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"offcut/agent/attach"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

// uploadPatience is how long one upload may take: 64 MiB over a line of
// 0.3 Mbit/s. Other requests have the server's own bound.
const uploadPatience = 30 * time.Minute

// patient lets the body of this request come slowly.
func patient(c echo.Context) {
	// A connection without deadlines keeps the server's own bound.
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(uploadPatience))
}

// sandboxed is for files that a model, a command or a stranger wrote: whatever
// a browser takes one for, it runs, loads and submits nothing.
const sandboxed = "default-src 'none'; sandbox"

// sendFile answers with a file, or a part of it, to be stored and never opened.
func sendFile(c echo.Context, file *os.File, info models.FileInfo) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, echo.MIMEOctetStream)
	header.Set("Content-Disposition", disposition(path.Base(info.Path)))
	return serve(c, file, info)
}

// sendPicture answers with a file that browsers show within a page; false where
// it is none by its first bytes. SVG never is one.
func sendPicture(c echo.Context, file *os.File, info models.FileInfo) (bool, error) {
	mediaType, err := typeOf(file)
	if err != nil || !attach.Displayable(mediaType) {
		return false, err
	}
	c.Response().Header().Set(echo.HeaderContentType, mediaType)
	c.Response().Header().Set("Content-Disposition", "inline")
	return true, serve(c, file, info)
}

func serve(c echo.Context, file *os.File, info models.FileInfo) error {
	header := c.Response().Header()
	header.Set("Content-Security-Policy", sandboxed)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "private, no-store")
	http.ServeContent(c.Response(), c.Request(), "", info.ModifiedAt, file)
	return nil
}

// disposition names a download: in ASCII for whoever knows nothing else, and as
// it is, percent-encoded. Nothing in the name ends the header's value.
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || strings.ContainsRune(`"\/;%`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	value := fmt.Sprintf(`attachment; filename="%s"`, plain)
	if encoded := mime.FormatMediaType("attachment", map[string]string{"filename": strings.ToValidUTF8(name, "_")}); strings.Contains(encoded, "filename*=") {
		value += encoded[strings.Index(encoded, "; filename*="):]
	}
	return value
}

// typeOf is the media type of an open file, which is read from its start on
// afterwards.
func typeOf(file *os.File) (string, error) {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("look at a file: %w", err)
	}
	return attach.TypeOf(head[:n]), nil
}

// attachments are the files of a session's workspace that a message is to come
// with, as they are now.
func (h *Handlers) attachments(ctx context.Context, sessionID string, paths []string) ([]models.Attachment, error) {
	var all []models.Attachment
	for _, name := range paths {
		a, err := h.attachment(ctx, sessionID, name)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func (h *Handlers) attachment(ctx context.Context, sessionID, name string) (models.Attachment, error) {
	file, info, err := h.Files.Open(ctx, sessionID, name)
	if err != nil {
		return models.Attachment{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if info.Kind != models.KindFile {
		return models.Attachment{}, models.Errorf(models.ErrInvalid, "not_a_file", "%q is a folder; attach the files in it", models.Arg("name", clip(name, 200)))
	}
	return attach.Describe(info.Path, info.Size, file)
}

// announced is how many bytes a request says that it brings; below 0: it does
// not say.
func announced(c echo.Context) int64 { return c.Request().ContentLength }

// LimitUpload stands before what bounds the body of an upload: of a body that is
// longer it says what a file may have.
func (h *Handlers) LimitUpload(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if errors.As(err, new(*http.MaxBytesError)) {
			return h.tooLargeUpload()
		}
		return err
	}
}

// tooLargeUpload refuses a file that is over the bound of one upload.
func (h *Handlers) tooLargeUpload() error {
	return models.Errorf(models.ErrTooLarge, "upload_too_large", "a file has at most %s bytes; make a larger one with a command, or in parts",
		models.Arg("most", strconv.FormatInt(h.UploadBytes, 10))).With("limit", h.UploadBytes)
}

// fileOf is the path, in the workspace, of the file that a call reads or writes;
// empty: it is about none, or one that lies elsewhere.
func fileOf(call models.ToolCall) string {
	switch call.Name {
	case "read_file", "write_file", "edit_file":
	default:
		return ""
	}
	var arguments struct{ Path string }
	if json.Unmarshal([]byte(call.Arguments), &arguments) != nil {
		return ""
	}
	name := path.Clean(strings.TrimPrefix(arguments.Path, workspaceAlias))
	if !fs.ValidPath(name) || name == "." {
		return ""
	}
	return name
}

// workspaceAlias is how commands see the workspace, and the file tools too.
const workspaceAlias = "/workspace/"
