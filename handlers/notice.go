package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"offcut/views"

	"github.com/labstack/echo/v4"
)

// keyNotice is where a web session keeps what the next page says.
const keyNotice = "notice"

// leaveNotice has the next page say what was done.
func (h *Handlers) leaveNotice(c echo.Context, n views.Notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write a notice: %w", err)
	}
	return h.cookies.put(c.Request().Context(), keyNotice, string(text))
}

// notice is what a page has to say of what was done before, once; nil for
// fragments, and where there is nothing.
func (h *Handlers) notice(c echo.Context) *views.Notice {
	if _, ok := CurrentUser(c); !ok || isFragment(c) || c.Request().Method != http.MethodGet {
		return nil
	}
	text, err := h.cookies.take(c.Request().Context(), keyNotice)
	if err != nil {
		h.Log.WarnContext(c.Request().Context(), "a notice could not be read", "request", RequestID(c), "error", err)
	}
	var n views.Notice
	if text == "" || json.Unmarshal([]byte(text), &n) != nil {
		return nil
	}
	return &n
}

// here is the address of the page that is asked for, or that a fragment is
// for, below the base path.
func (h *Handlers) here(c echo.Context) string {
	address := c.Request().URL.RequestURI()
	if isFragment(c) {
		address = currentPage(c)
	}
	return "/" + strings.TrimPrefix(strings.TrimPrefix(address, h.BasePath), "/")
}
