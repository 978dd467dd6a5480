package web

import (
	"net/url"
	"strings"

	"offcut/handlers"
	"offcut/models"

	"github.com/labstack/echo/v4"
)

// contentPolicy lets a page load what the server itself serves and nothing
// else: no inline script or style, no frame, no other host.
var contentPolicy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self'",
	"font-src 'self'",
	"connect-src 'self'",
	"form-action 'self'",
	"base-uri 'none'",
	"frame-ancestors 'none'",
}, "; ")

// secureHeaders tells browsers what not to do with an answer.
func secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		if handlers.Secure(c) {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return next(c)
	}
}

// noteTLS finds out whether the browser came through TLS: to us, to a proxy
// that says so, or by the public address. A client that lies about it only
// keeps its own cookies from itself.
func noteTLS(publicURL *url.URL) echo.MiddlewareFunc {
	always := publicURL != nil && publicURL.Scheme == "https"
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			handlers.SetSecure(c, always || c.IsTLS() || strings.EqualFold(c.Request().Header.Get(echo.HeaderXForwardedProto), "https"))
			return next(c)
		}
	}
}

// nameRequest gives the request an id of our own making: one that a client
// chose could be a lie or a line of the log.
func nameRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := models.NewID("req")
		handlers.SetRequestID(c, id)
		c.SetRequest(c.Request().WithContext(models.WithRequestID(c.Request().Context(), id)))
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}
