package handlers

import (
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// onceFor is how long a secret waits for the page that shows it: a redirect takes
// no longer.
const onceFor = time.Minute

// once holds secrets that the next page of a browser shows, and no later one: a
// reload of that page neither shows nor makes another. They are in memory alone.
type once struct {
	mu      sync.Mutex
	byPlace map[oncePlace]onceSecret
}

// oncePlace is a page in one browser.
type oncePlace struct{ cookie, path string }

type onceSecret struct {
	text  string
	until time.Time
}

func newOnce() *once { return &once{byPlace: map[oncePlace]onceSecret{}} }

// showOnce has the page at path, below the base path, show a secret in the
// browser of c.
func (h *Handlers) showOnce(c echo.Context, path, secret string) {
	h.once.mu.Lock()
	defer h.once.mu.Unlock()
	now := h.Now()
	for place, held := range h.once.byPlace {
		if now.After(held.until) {
			delete(h.once.byPlace, place)
		}
	}
	h.once.byPlace[oncePlace{cookieValue(c), h.BasePath + path}] = onceSecret{secret, now.Add(onceFor)}
}

// shownOnce is what the page that is asked for is to show this once; empty where
// there is nothing, and where it is not the page that is asked for.
func (h *Handlers) shownOnce(c echo.Context) string {
	if c.Request().Method != http.MethodGet {
		return ""
	}
	h.once.mu.Lock()
	defer h.once.mu.Unlock()
	place := oncePlace{cookieValue(c), c.Request().URL.Path}
	held := h.once.byPlace[place]
	delete(h.once.byPlace, place)
	if h.Now().After(held.until) {
		return ""
	}
	return held.text
}
