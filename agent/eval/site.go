package eval

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

// siteHost is where the pages of a fixture are served.
const siteHost = "127.0.0.1"

// plainText is what a page is of which nothing else is said.
const plainText = "text/plain; charset=utf-8"

// serve serves the pages on a free port of this machine, until end is called.
// Without pages there is no site, and its address is empty.
func (f Fixture) serve() (address string, end func(), err error) {
	if len(f.Pages) == 0 {
		return "", func() {}, nil
	}
	site, err := f.site()
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(siteHost, "0"))
	if err != nil {
		return "", nil, fmt.Errorf("fixture: pages: %w", err)
	}
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// site answers with the pages, by their paths with what follows a question mark.
func (f Fixture) site() (http.Handler, error) {
	pages := map[string]Page{}
	contents := map[string][]byte{}
	for _, page := range f.Pages {
		content, err := page.bytes()
		if err != nil {
			return nil, fmt.Errorf("fixture: %s: %w", page.Path, err)
		}
		pages[page.Path], contents[page.Path] = page, content
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, there := pages[r.URL.RequestURI()]
		if !there {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", page.Type)
		_, _ = w.Write(contents[page.Path])
	}), nil
}
