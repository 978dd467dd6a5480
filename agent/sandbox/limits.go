package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// processMargin is how many processes and threads more the kernel allows than
// the watcher, so that a fork bomb is ended and does not live on against a
// wall. The sandbox's own are among them.
const processMargin = 64

// limitProcess puts the limits that the kernel holds for each process on pid
// (0: this one), which all that it starts inherits. Where the server itself is
// allowed less, that stays. Memory is limited as data, not as address space,
// of which Go and JavaScript programs reserve far more than they use.
//
// The number of processes is counted per user: only in a user namespace of its
// own are these the command's alone.
func limitProcess(pid int, l Limits, ownUser bool) error {
	limits := []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_DATA, uint64(l.Memory)},
		{unix.RLIMIT_FSIZE, uint64(l.FileSize)},
		{unix.RLIMIT_NOFILE, l.OpenFiles},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NPROC, uint64(l.Processes + processMargin)},
	}
	if !ownUser {
		limits = limits[:len(limits)-1]
	}
	for _, limit := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, limit.resource, nil, &now); err != nil {
			return fmt.Errorf("read limit %d of a command: %w", limit.resource, err)
		}
		value := min(limit.value, now.Max)
		if err := unix.Prlimit(pid, limit.resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return fmt.Errorf("set limit %d of a command: %w", limit.resource, err)
		}
	}
	return nil
}
