package sandbox

import (
	"sync"
	"time"
)

// watchEvery is how often running commands are measured. A fork bomb makes
// some thousand processes in this time, which a server survives.
const watchEvery = 100 * time.Millisecond

// watcher ends commands that cross a limit which the kernel does not hold for
// a whole tree of processes: their number does not bind for root, and memory is
// limited per process only. One scan of /proc serves all running commands; none
// is made while there are none.
type watcher struct {
	mu      sync.Mutex
	watched map[int]watched
	running bool // the loop is
}

type watched struct {
	limits Limits
	exceed func(limit string)
}

// watch calls exceed once, from another goroutine, when the processes under pid
// cross a limit.
func (w *watcher) watch(pid int, limits Limits, exceed func(limit string)) (unwatch func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched == nil {
		w.watched = map[int]watched{}
	}
	w.watched[pid] = watched{limits: limits, exceed: exceed}
	if !w.running {
		w.running = true
		go w.loop()
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watched, pid)
	}
}

func (w *watcher) loop() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for range ticker.C {
		procs := readProcesses()
		w.mu.Lock()
		for pid, watch := range w.watched {
			if limit := crossed(procs, pid, watch.limits); limit != "" {
				delete(w.watched, pid)
				go watch.exceed(limit)
			}
		}
		w.running = len(w.watched) > 0
		goOn := w.running
		w.mu.Unlock()
		if !goOn {
			return
		}
	}
}
