// Package static holds the files that browsers load as they are: the
// stylesheets, the icons, our scripts and the vendored htmx. They are part of
// the binary.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed *.css *.svg js/*.js vendor
var files embed.FS

// Prefix is the path, below the base path, under which Handler serves.
const Prefix = "/static/"

// version names the whole set of files by its content, so that scripts may
// import one another by relative names and an address never changes its
// content. Six bytes suffice: it tells releases apart, it guards nothing.
var version = hash(files)

func hash(files fs.FS) string {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		sum.Write([]byte(name + "\x00"))
		sum.Write(content)
		return err
	})
	if err != nil {
		panic("hash the embedded files: " + err.Error()) // they are in the binary
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// URL is the address of a file below the base path, such as
// /static/3f9a0c12b7de/base.css for base.css.
func URL(name string) string { return Prefix + version + "/" + name }

// Handler serves the files under Prefix. An address of this version is cached
// for a year; one of another version gets the present file, uncached, so that
// a page from before an update still works.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		asked, name, found := strings.Cut(strings.TrimPrefix(r.URL.Path, Prefix), "/")
		content, err := files.ReadFile(name)
		if !found || err != nil {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Content-Type", contentType(name))
		header.Set("X-Content-Type-Options", "nosniff")
		if asked == version {
			header.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			header.Set("Cache-Control", "no-cache")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}

// contentType does not depend on the system's tables.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt", ".md", "":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}
