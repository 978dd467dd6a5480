package store

import (
	"context"
	"time"
)

// worker is a goroutine that works when it is woken, and again after a while.
type worker struct {
	cancel context.CancelFunc
	woken  chan struct{}
	done   chan struct{}
}

// startWorker starts the goroutine. It works once at the start, because a crash
// may have left something to do; delay lets what comes together be done
// together. work returns after how long it is to be called if nobody wakes it.
func startWorker(delay time.Duration, work func(context.Context) time.Duration) *worker {
	ctx, cancel := context.WithCancel(context.Background())
	w := &worker{cancel: cancel, woken: make(chan struct{}, 1), done: make(chan struct{})}
	w.wake()
	go w.run(ctx, delay, work)
	return w
}

// wake makes the goroutine work soon. It never blocks.
func (w *worker) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// stop ends the goroutine; what it leaves undone is done at the next start.
func (w *worker) stop() {
	w.cancel()
	<-w.done
}

func (w *worker) run(ctx context.Context, delay time.Duration, work func(context.Context) time.Duration) {
	defer close(w.done)
	wait := time.Hour // it was woken at the start
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.woken:
			if pause(ctx, delay) != nil {
				return
			}
		case <-time.After(wait):
		}
		wait = work(ctx)
		if ctx.Err() != nil {
			return
		}
	}
}
