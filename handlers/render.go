package handlers

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"offcut/models"
	"offcut/views"
	"offcut/views/i18n"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// The names of the cookies in which a browser remembers what was chosen in it,
// and of the CSRF token's key among the values of a request.
const (
	themeCookie    = "offcut_theme"
	languageCookie = "offcut_language"
	// CSRFKey is where the middleware leaves the token for pages.
	CSRFKey      = "offcut.csrf"
	requestIDKey = "offcut.request"
)

// SetRequestID names the request for the log and for people.
func SetRequestID(c echo.Context, id string) { c.Set(requestIDKey, id) }

// RequestID is the name of the request.
func RequestID(c echo.Context) string {
	id, _ := c.Get(requestIDKey).(string)
	return id
}

// isFragment reports whether a script asks for a piece of a page.
func isFragment(c echo.Context) bool {
	return c.Request().Header.Get("HX-Request") == "true" && c.Request().Header.Get("HX-Boosted") != "true"
}

// currentPage is the address, without a host, of the page that a script's
// request comes from.
func currentPage(c echo.Context) string {
	u, err := url.Parse(c.Request().Header.Get("HX-Current-URL"))
	if err != nil {
		return ""
	}
	return u.RequestURI()
}

// render writes a page or fragment once it is whole, so that an error in it
// does not leave half a page.
func (h *Handlers) render(c echo.Context, status int, page templ.Component) error {
	var buf bytes.Buffer
	layout := h.layout(c)
	if status < http.StatusBadRequest { // a notice waits for a page that somebody asked for and gets
		layout.Notice = h.notice(c)
	}
	if err := page.Render(views.With(c.Request().Context(), layout), &buf); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(status, "text/html; charset=utf-8", buf.Bytes())
}

// goTo sends the browser to a path below the base path.
func (h *Handlers) goTo(c echo.Context, path string) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	if isFragment(c) {
		c.Response().Header().Set("HX-Redirect", h.BasePath+path)
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, h.BasePath+path)
}

// signInAddress is the sign-in page, from which one comes back to next.
func (h *Handlers) signInAddress(next string) string {
	address := h.BasePath + "/login"
	if path := h.ownPath(next); path != "" && path != "/" {
		address += "?" + url.Values{"next": {path}}.Encode()
	}
	return address
}

// ownPath is next as a path below the base path, or "" where it would lead
// anywhere else. Browsers read a backslash as a slash and skip tabs and line
// breaks, so a path with any of them is refused.
func (h *Handlers) ownPath(next string) string {
	if h.BasePath != "" && (next == h.BasePath || strings.HasPrefix(next, h.BasePath+"/") || strings.HasPrefix(next, h.BasePath+"?")) {
		next = "/" + strings.TrimPrefix(strings.TrimPrefix(next, h.BasePath), "/")
	}
	u, err := url.Parse(next)
	outside := err != nil || u.Scheme != "" || u.Host != "" || u.User != nil ||
		!strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsFunc(next, func(r rune) bool { return r == '\\' || r < 0x20 || r == 0x7f })
	if outside || u.Path == "/login" || u.Path == "/logout" {
		return ""
	}
	return next
}

// layout is the frame of the pages of one request.
func (h *Handlers) layout(c echo.Context) views.Layout {
	l := views.Layout{BasePath: h.BasePath, Policy: h.Policy, Demo: h.Demo, MostUpload: h.UploadBytes, Asset: h.Asset}
	user, known := CurrentUser(c)
	if known {
		l.User = views.User{Name: user.Name, Admin: user.Admin()}
		l.NoDeleting = h.OnlyAdminsDelete && !user.Admin()
		l.Lines, l.Thoughts, l.Notify = user.Settings.PreviewLines, user.Settings.Thoughts, user.Settings.Notify
		l.Unmarked = user.Settings.Unmarked
	}
	l.Lang, l.Zone, l.Theme = languageOf(c), zoneOf(c), themeOf(c, user.Settings)
	l.CSRF, _ = c.Get(CSRFKey).(string)
	l.ReadOnly, _ = c.Get(readOnlyKey).(bool)
	l.Here = h.here(c)
	return l
}

// languageOf is the language of the answer to a request: what the user chose,
// what was chosen in this browser, or what the browser wishes.
func languageOf(c echo.Context) string {
	user, _ := CurrentUser(c)
	return i18n.Match(user.Settings.Language, chosenLanguage(c), c.Request().Header.Get("Accept-Language"))
}

// chosenLanguage is what somebody chose on the sign-in page of this browser.
func chosenLanguage(c echo.Context) string {
	if cookie, err := c.Cookie(languageCookie); err == nil && i18n.Known(cookie.Value) {
		return cookie.Value
	}
	return ""
}

// adapt makes the language and the time zone of a request those of its context.
func adapt(c echo.Context) {
	ctx := inZone(i18n.With(c.Request().Context(), languageOf(c)), zoneOf(c))
	c.SetRequest(c.Request().WithContext(ctx))
}

// themeOf is light, dark or, as the system has it, empty: what the user chose,
// or what this browser remembers of somebody who never did.
func themeOf(c echo.Context, chosen models.Settings) string {
	switch chosen.Theme {
	case models.ThemeLight, models.ThemeDark:
		return string(chosen.Theme)
	case models.ThemeSystem:
		return ""
	}
	if cookie, err := c.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		return cookie.Value
	}
	return ""
}
