package web

import (
	"net/http"
	"net/url"
	"strings"

	"offcut/handlers"
	"offcut/models"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// What a request's body may have at most. A message of 1 MiB in a form is at
// most three times as long, because each byte of it can need an escape.
const (
	maxJSONBytes = 8 << 20
	maxFormBytes = 4 << 20
	// formRoom is what a form takes beside the file in it.
	formRoom = 1 << 20
)

// limitBody refuses longer bodies. Reading one fails with an error that names
// the limit, also where its length was not announced.
func limitBody(most int64) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if r.ContentLength > most {
				return &http.MaxBytesError{Limit: most}
			}
			r.Body = http.MaxBytesReader(c.Response(), r.Body, most)
			return next(c)
		}
	}
}

var (
	errOtherOrigin = models.Errorf(models.ErrForbidden, "cross_origin", "the request came from a page of another site and was refused")
	errCSRF        = models.Errorf(models.ErrForbidden, "csrf", "this form is out of date; load the page again and send it once more")
)

// ownOrigin refuses what pages of other sites make a browser send. Where the
// browser does not say where a request comes from, the form's token decides.
func ownOrigin(publicURL *url.URL) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				return next(c)
			}
			origin := r.Header.Get(echo.HeaderOrigin)
			switch r.Header.Get(echo.HeaderSecFetchSite) {
			case "same-origin", "none":
				return next(c)
			case "same-site", "cross-site":
				if !sameOrigin(origin, r.Host, publicURL) {
					return errOtherOrigin
				}
			default:
				// "null" is what browsers send for a form of a page that, like
				// ours, asks them not to tell where they come from.
				if origin != "" && origin != "null" && !sameOrigin(origin, r.Host, publicURL) {
					return errOtherOrigin
				}
			}
			return next(c)
		}
	}
}

// sameOrigin reports whether origin is that of a page of ours: of the host
// that was asked, or of the public address.
func sameOrigin(origin, host string, publicURL *url.URL) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	if strings.EqualFold(u.Host, host) {
		return true
	}
	return publicURL != nil && u.Scheme == publicURL.Scheme && strings.EqualFold(u.Host, publicURL.Host)
}

// csrf wants the token of the page with every form.
func csrf(basePath string) echo.MiddlewareFunc {
	config := middleware.CSRFConfig{
		TokenLookup:    "header:" + echo.HeaderXCSRFToken + ",form:_csrf",
		ContextKey:     handlers.CSRFKey,
		CookieName:     handlers.CSRFCookie,
		CookiePath:     basePath + "/",
		CookieHTTPOnly: true,
		CookieSameSite: http.SameSiteLaxMode,
		CookieMaxAge:   30 * 24 * 60 * 60, // seconds: as long as one can stay signed in
		ErrorHandler:   func(error, echo.Context) error { return errCSRF },
	}
	plain := middleware.CSRFWithConfig(config)
	config.CookieSecure = true
	secure := middleware.CSRFWithConfig(config)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		overPlain, overTLS := plain(next), secure(next)
		return func(c echo.Context) error {
			if handlers.Secure(c) {
				return overTLS(c)
			}
			return overPlain(c)
		}
	}
}
