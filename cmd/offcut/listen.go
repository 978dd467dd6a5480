package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sys/unix"

	"offcut/agent/sandbox"
	"offcut/models"
)

// listen opens the port first: that it is taken is the commonest trouble, and
// nothing should have been touched by then.
func (a *App) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", a.cfg.Addr)
	if err != nil {
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("%s is in use by another program; choose another address with --addr or OFFCUT_ADDR", a.cfg.Addr)
		}
		return nil, fmt.Errorf("cannot serve at %s (OFFCUT_ADDR): %w", a.cfg.Addr, err)
	}
	a.closing(func() error {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil // the server has closed it
	})
	a.url = publicAddress(a.cfg, listener.Addr().String())
	return listener, nil
}

func (a *App) serve(listener net.Listener, handler http.Handler) {
	a.server = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	a.closing(a.server.Close)
	go func() {
		if err := a.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve: %w", err)
		}
	}()
}

// greet tells people where to go. The link goes to standard output alone: it
// signs in, so no log may have it.
func (a *App) greet(link string, confined *sandbox.Sandbox) {
	for _, note := range a.cfg.Notes {
		a.log.Warn(note)
	}
	if !confined.Confined() {
		a.log.Warn("commands are not confined on this machine", "OFFCUT_SANDBOX", a.cfg.Sandbox, "OFFCUT_APPROVAL", a.cfg.Approval)
	}
	a.log.Info("serving", "address", a.url, "version", version, "data", a.cfg.DataDir, "model", a.cfg.DefaultModel, "sandbox", confined.Kind())
	_, _ = fmt.Fprintf(a.out, "Offcut is at %s\n", a.url)
	if link != "" {
		_, _ = fmt.Fprintf(a.out, "Sign in as %s with this link, which works once, within %.0f hours:\n%s\n", adminName, models.SignInLinkAge.Hours(), link)
	}
}
