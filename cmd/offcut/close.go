package main

import (
	"context"
	"errors"
	"time"
)

// closeGrace is how long requests may take to their end when the server stops.
// Turns have a grace of their own.
const closeGrace = 5 * time.Second

// closing adds to what Close ends.
func (a *App) closing(end func() error) { a.closers = append(a.closers, end) }

// Close ends the program in order: pages are told to come back later, requests
// and turns come to their end or are interrupted, and what is stored is
// stored.
func (a *App) Close() error {
	close(a.stopping)
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	requests := make(chan struct{})
	go func() {
		defer close(requests)
		_ = a.server.Shutdown(ctx) // requests that are left by then are cut off below
	}()
	err := a.runner.Shutdown(context.Background())
	<-requests
	return errors.Join(err, a.release())
}

func (a *App) release() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}
