package main

import (
	"context"
	"log/slog"

	"offcut/cmd/offcut/config"
)

type serveCommand struct{}

// Run serves until ctx ends, and then until what is under way has ended.
func (serveCommand) Run(ctx context.Context, cfg config.Config, term terminal, log *slog.Logger) error {
	app := NewApp(cfg, log, term.out)
	if err := app.Run(ctx); err != nil {
		return err
	}
	var failed error
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case failed = <-app.Failed():
	}
	if err := app.Close(); err != nil && failed == nil {
		failed = err
	}
	return failed
}
