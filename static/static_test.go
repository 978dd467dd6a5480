package static

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func get(method, address string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	Handler().ServeHTTP(recorder, httptest.NewRequest(method, address, nil))
	return recorder
}

func TestFilesAreServedWithTheirTypesAndCached(t *testing.T) {
	types := map[string]string{
		"base.css": "text/css; charset=utf-8", "js/app.js": "text/javascript; charset=utf-8", "icons.svg": "image/svg+xml",
		"vendor/htmx/htmx.min.js": "text/javascript; charset=utf-8", "vendor/htmx/LICENSE": "text/plain; charset=utf-8",
	}
	for name, contentType := range types {
		response := get(http.MethodGet, URL(name))
		if response.Code != http.StatusOK || response.Header().Get("Content-Type") != contentType {
			t.Errorf("%s: %d %s", name, response.Code, response.Header().Get("Content-Type"))
		}
		if got := response.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAnotherVersionIsTheSameFileUncached(t *testing.T) {
	response := get(http.MethodGet, "/static/0000/base.css")
	if response.Code != http.StatusOK || response.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %s", response.Code, response.Header().Get("Cache-Control"))
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for _, address := range []string{"/static/", "/static/x", URL(""), URL("js"), URL("none.css"), URL("../static.go"), URL("static.go")} {
		if response := get(http.MethodGet, address); response.Code != http.StatusNotFound {
			t.Errorf("%s: %d", address, response.Code)
		}
	}
	if response := get(http.MethodPost, URL("base.css")); response.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", response.Code)
	}
}

// Scripts import one another by relative names: each of them has to be there.
func TestScriptsFindWhatTheyImport(t *testing.T) {
	imports := regexp.MustCompile(`from "(\./[^"]+)"`)
	entries, err := files.ReadDir("js")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content := read(t, "js/"+entry.Name())
		for _, match := range imports.FindAllStringSubmatch(content, -1) {
			if _, err := files.ReadFile(path.Join("js", match[1])); err != nil {
				t.Errorf("%s imports %s: %v", entry.Name(), match[1], err)
			}
		}
		for _, unsafe := range []string{"innerHTML +=", "eval(", "new Function", "document.write", ".outerHTML ="} {
			if strings.Contains(content, unsafe) {
				t.Errorf("%s has %s", entry.Name(), unsafe)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	file, err := files.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The pages' policy lets them load what this server serves and nothing else.
func TestStylesLoadOnlyWhatIsServed(t *testing.T) {
	address := regexp.MustCompile(`url\("?([^")]+)"?\)`)
	sheets, err := fs.Glob(files, "*.css")
	if err != nil || len(sheets) == 0 {
		t.Fatal(sheets, err)
	}
	for _, name := range sheets {
		for _, match := range address.FindAllStringSubmatch(read(t, name), -1) {
			if strings.HasPrefix(match[1], "#") {
				continue // a pattern of the page
			}
			if _, err := files.ReadFile(match[1]); err != nil {
				t.Errorf("%s loads %s: %v", name, match[1], err)
			}
		}
	}
}
