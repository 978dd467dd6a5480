package apart

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxStack is the deepest that a child may recurse, in bytes of stack.
const maxStack = 128 << 20

// Reexec is to be called first in main, and in the TestMain of every package
// whose tests do work apart. In a child it does the work and ends the process;
// else it returns at once.
func Reexec() {
	if len(os.Args) != 4 || os.Args[0] != childName {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			unix.Exit(faultStatus)
		}
	}()
	if err := obey(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprint(os.Stderr, err.Error())
		unix.Exit(refusedStatus)
	}
	unix.Exit(0) // at once: what the program does at its end is not for its child
}

func obey(name, memory, seconds string) error {
	job, known := jobs[name]
	bytes, memoryErr := strconv.ParseUint(memory, 10, 63)
	cpu, timeErr := strconv.ParseUint(seconds, 10, 31)
	if !known || memoryErr != nil || timeErr != nil {
		return fmt.Errorf("no such job: %q", name)
	}
	for limit, most := range map[int]uint64{unix.RLIMIT_DATA: bytes, unix.RLIMIT_CPU: cpu, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0} {
		if err := unix.Setrlimit(limit, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit what is done apart: %w", err)
		}
	}
	// The collector works harder before the limit is reached.
	debug.SetMemoryLimit(int64(bytes) / 4 * 3)
	debug.SetMaxStack(maxStack)
	return job.do(os.Stdin, os.Stdout)
}
