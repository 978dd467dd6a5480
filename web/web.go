// Package web puts the handlers behind their addresses: the table of routes,
// and the middleware that every request goes through.
package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"offcut/handlers"
	"offcut/static"

	"github.com/labstack/echo/v4"
)

// Config is what a server is made of.
type Config struct {
	// Handlers holds the parts that the handlers call: store, runner, reader,
	// broker, workspaces, web sessions and models; the base path (such as
	// /offcut; empty at the root of a host); and the admin's token. Asset,
	// AllowedOrigin and PublicURL are filled in here.
	Handlers handlers.Config
	// PublicURL is the address under which people reach the server, such as
	// https://chat.example.org/offcut; empty: whatever address they use. With
	// https cookies are for TLS alone.
	PublicURL *url.URL
	// TrustedProxies are the networks of reverse proxies whose
	// X-Forwarded-For is believed. Empty: none, and the address of the
	// connection is the client's.
	TrustedProxies []*net.IPNet
	// Answered is told of each request once it is answered: the pattern of its
	// route, empty where it has none, and how long it took; nil: nobody is.
	Answered func(route, method string, status int, took time.Duration)
	// MetricsOpen lets everybody read the metrics; else administrators alone.
	MetricsOpen bool
}

// New is the whole server: pages, live connections, the JSON API, the static
// files and the health checks, below the base path.
func New(cfg Config) http.Handler {
	cfg.Handlers.BasePath = cleanBasePath(cfg.Handlers.BasePath)
	cfg.Handlers.Asset, cfg.Handlers.PublicURL = static.URL, cfg.PublicURL
	cfg.Handlers.AllowedOrigin = func(origin, host string) bool {
		return origin == "" || sameOrigin(origin, host, cfg.PublicURL) // every browser sends one
	}
	h := handlers.New(cfg.Handlers)

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = h.Fail
	e.IPExtractor = addressOf(cfg.TrustedProxies)
	e.Use(
		nameRequest,
		noteTLS(cfg.PublicURL),
		answered(cfg.Answered),
		logRequest(h.Log),
		recoverPanic,
		secureHeaders,
	)
	register(e, h, cfg)
	return readOn(e)
}

// cleanBasePath is path with a slash at its start and none at its end; empty
// for the root.
func cleanBasePath(path string) string {
	path = strings.Trim(path, "/")
	if path == "" {
		return ""
	}
	return "/" + path
}

// addressOf finds the address of a client.
func addressOf(proxies []*net.IPNet) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		options = append(options, echo.TrustIPRange(proxy))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}
