package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// probeTimeout is long enough for a cold disk.
const probeTimeout = 10 * time.Second

// Sandbox runs commands in the way that was found to work.
type Sandbox struct {
	mode    Mode
	limits  Limits
	way     way
	watcher watcher
}

// way is one way of starting a command.
type way interface {
	kind() string
	// confines files, network and processes.
	confines() bool
	// prepare makes a process that is ready to be started.
	prepare(spec Spec, limits Limits) (*launch, error)
}

// Detect finds out, by running true, how commands can be confined here.
func Detect(mode Mode, hide ...Hidden) (*Sandbox, error) {
	return New(Options{Mode: mode, Hide: hide})
}

// New is Detect with all the choices. That nothing confines a command here is
// no error: Confined says so, and with Required nothing then runs.
func New(o Options) (*Sandbox, error) {
	keepFilesToItself()
	s := &Sandbox{mode: o.Mode, limits: o.Limits.withDefaults(), way: plain{}}
	if o.Mode == Off {
		return s, nil
	}
	kinds := o.Kinds
	if len(kinds) == 0 {
		kinds = []string{KindBubblewrap, KindNamespaces}
	}
	seen := systemView(o.Hide)
	seen.Shown = o.Show
	for _, kind := range kinds {
		found, err := newWay(kind, seen)
		if err == nil {
			err = s.probe(found)
		}
		if err == nil {
			s.way = found
			return s, nil
		}
		slog.Info("no confinement of commands this way", "kind", kind, "error", err)
	}
	return s, nil
}

// keepFilesToItself lets no command inherit a file that this process was
// itself started with, such as a log or a socket of whoever started it. What
// the program opens is never inherited anyway.
func keepFilesToItself() {
	if err := unix.CloseRange(firstExtraFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		slog.Warn("files that the server was started with may be open in commands", "error", err)
	}
}

func newWay(kind string, seen view) (way, error) {
	switch kind {
	case KindBubblewrap:
		return newBubblewrap(seen)
	case KindNamespaces:
		return namespaces{seen: seen}, nil
	}
	return nil, fmt.Errorf("%q is no kind of sandbox", kind)
}

// probe runs true in a folder of its own.
func (s *Sandbox) probe(found way) error {
	dir, err := os.MkdirTemp("", "offcut-probe-")
	if err != nil {
		return fmt.Errorf("make a folder to probe the sandbox in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return fmt.Errorf("resolve the probe's folder: %w", err)
	}

	trial := &Sandbox{mode: s.mode, limits: s.limits, way: found}
	exit, err := trial.Run(context.Background(), Spec{Command: "true", Workspace: dir, Timeout: probeTimeout})
	switch {
	case err != nil:
		return err
	case exit.TimedOut:
		return errors.New("true did not end in time")
	case exit.Code != 0 || exit.Signal != "":
		return fmt.Errorf("true ended with %d %s", exit.Code, exit.Signal)
	}
	return nil
}

// Mode is what was asked for.
func (s *Sandbox) Mode() Mode { return s.mode }

// Kind names how commands are confined.
func (s *Sandbox) Kind() string { return s.way.kind() }

// Confined reports whether files, network and processes of a command are
// confined, as long as its Spec does not allow the network.
func (s *Sandbox) Confined() bool { return s.way.confines() }
