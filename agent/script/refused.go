package script

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// refusals are what a kernel answers that lets a process have no namespaces: it
// has none, may give none, or has given all that it may, which may change. What
// is short for a moment, such as memory, processes and open files, is none: to
// run what follows without namespaces for that would be to open it to whoever
// can bring such a moment about.
var refusals = []syscall.Errno{unix.EPERM, unix.EACCES, unix.EROFS, unix.EINVAL, unix.ENOSYS, unix.ENOSPC, unix.EUSERS}

// refuses reports whether an error of a start says that the machine lets the
// process have no namespaces.
func refuses(err error) bool {
	return slices.ContainsFunc(refusals, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// askAgain is how long a machine that has refused namespaces is not asked again.
const askAgain = 5 * time.Minute

// refused is whether this machine has lately refused namespaces.
var refused refusal

type refusal struct {
	mu    sync.Mutex
	until time.Time
	told  bool
}

func (r *refusal) now() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.until)
}

// note notes why a process had to do without namespaces. It is logged once: each
// result says whether it was confined.
func (r *refusal) note(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(askAgain)
	if !r.told {
		r.told = true
		slog.Warn("the machine lets scripts have no namespaces: they run sealed without", "error", why)
	}
}
