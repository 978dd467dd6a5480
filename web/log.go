package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"offcut/handlers"
	"offcut/static"

	"github.com/labstack/echo/v4"
)

// logRequest writes a line for each request once it is answered. It names the
// path and never what stands behind the question mark: that may be a sign-in
// link, or what somebody searched for.
func logRequest(log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := time.Now()
			if err := next(c); err != nil {
				c.Error(err) // answered here, so that the status below is the one sent
			}
			user, _ := handlers.CurrentUser(c)
			log.LogAttrs(c.Request().Context(), levelOf(c), "request",
				slog.String("request", handlers.RequestID(c)),
				slog.String("method", c.Request().Method),
				slog.String("path", c.Request().URL.Path),
				slog.Int("status", c.Response().Status),
				slog.Int64("bytes", c.Response().Size),
				slog.Duration("took", time.Since(start)),
				slog.String("user", user.ID),
				slog.String("address", c.RealIP()),
			)
			return nil
		}
	}
}

// levelOf keeps what a healthy server says all day out of the way.
func levelOf(c echo.Context) slog.Level {
	path := c.Request().URL.Path
	probe := strings.HasSuffix(path, "/healthz") || strings.HasSuffix(path, "/readyz")
	if c.Response().Status < http.StatusBadRequest && (probe || strings.HasSuffix(c.Path(), static.Prefix+"*")) {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// recoverPanic makes an error of a panic, with the place where it happened.
func recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			if r == http.ErrAbortHandler {
				panic(r) // the server's own way to drop a connection
			}
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}()
		return next(c)
	}
}

// answered tells of each request once it is answered. It stands before what
// answers errors.
func answered(tell func(route, method string, status int, took time.Duration)) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		if tell == nil {
			return next
		}
		return func(c echo.Context) error {
			start := time.Now()
			err := next(c)
			tell(c.Path(), c.Request().Method, c.Response().Status, time.Since(start))
			return err
		}
	}
}
