package sandbox

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Sealer starts processes of one kind that seal themselves, and remembers for
// a while that the machine lets them have no namespaces. The zero value is
// ready.
type Sealer struct {
	mu    sync.Mutex
	until time.Time // they are not asked for before
	told  bool
}

// askAgain is how long a machine that has refused namespaces is not asked again.
const askAgain = 5 * time.Minute

// Start starts a process of that kind, shut in as far as the machine can. start
// starts one with namespaces or without, and hears of it that it is sealed; open
// is why it cannot be, in this way.
func (s *Sealer) Start(kind string, start func(namespaces bool) (open, err error)) (confined bool, err error) {
	var why error // the machine does not shut it in wholly
	if !s.refused() {
		open, err := start(true)
		if err != nil || open == nil {
			return err == nil, err
		}
		why = open
	}
	open, err := start(false)
	if err = cmp.Or(err, open); err != nil {
		return false, err
	}
	if why != nil {
		s.Note(kind, why)
	}
	return false, nil
}

func (s *Sealer) refused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until)
}

// Note notes why a process had to do without namespaces. It is logged once.
func (s *Sealer) Note(kind string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(askAgain)
	if !s.told {
		s.told = true
		slog.Warn("the machine lets a process have no namespaces: it runs sealed without", "process", kind, "error", why)
	}
}

// refusals are what a kernel answers that lets a process have no namespaces: it
// has none, may give none, or has given all that it may, which may change. What
// is short for a moment, such as memory, processes and open files, is none: to
// run what follows without namespaces for that would be to open it to whoever
// can bring such a moment about.
var refusals = []syscall.Errno{unix.EPERM, unix.EACCES, unix.EROFS, unix.EINVAL, unix.ENOSYS, unix.ENOSPC, unix.EUSERS}

// Refuses reports whether an error of a start says that the machine lets the
// process have no namespaces.
func Refuses(err error) bool {
	return slices.ContainsFunc(refusals, func(e syscall.Errno) bool { return errors.Is(err, e) })
}
