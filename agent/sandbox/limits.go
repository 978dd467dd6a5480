package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limitProcess puts the limits that the kernel holds for each process on pid
// (0: this one), which all that it starts inherits. Where the server itself is
// allowed less, that stays.
//
// The number of processes is one more than what the watcher allows, so that a
// fork bomb is ended and does not live on against a wall. Memory is limited as
// data, not as address space, of which Go and JavaScript programs reserve far
// more than they use.
func limitProcess(pid int, l Limits) error {
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_DATA, uint64(l.Memory)},
		{unix.RLIMIT_NPROC, uint64(l.Processes) + 1},
		{unix.RLIMIT_FSIZE, uint64(l.FileSize)},
		{unix.RLIMIT_NOFILE, l.OpenFiles},
		{unix.RLIMIT_CORE, 0},
	} {
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
