package apart

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"

	"offcut/models"
)

// patience is how long work waits for room. It is more than most takes.
const patience = 30 * time.Second

// room is the memory that all children together may take: half of the machine's.
var room = newShare(Memory() / 2)

// share is memory that is given out, in bytes.
type share struct {
	size     int64
	free     *semaphore.Weighted
	patience time.Duration
}

func newShare(size int64) share { return share{size, semaphore.NewWeighted(size), patience} }

// enter takes so much, or all where that is less; leave gives it back.
func (s share) enter(ctx context.Context, memory int64) (leave func(), err error) {
	memory = min(memory, s.size)
	waited, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if s.free.Acquire(waited, memory) == nil {
		return func() { s.free.Release(memory) }, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	busy := models.Errorf(models.ErrLimited, "busy", "this server reads and queries as much as its memory can hold; try again in a moment")
	busy.RetryAfter = s.patience
	return nil, busy
}

// leastMemory is what a machine has where nobody says what it has, in bytes.
const leastMemory = 2 << 30

// Memory is what this program may take, in bytes: the machine's memory, or what
// its container has of it.
func Memory() int64 {
	memory := int64(leastMemory)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		memory = int64(info.Totalram) * int64(info.Unit)
	}
	for _, limit := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // version 2 and 1
		if text, err := os.ReadFile(limit); err == nil {
			if bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bytes > 0 {
				memory = min(memory, bytes)
			}
		}
	}
	return memory
}
