package apart

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"

	"offcut/agent/sandbox"
)

// maxStack is the deepest that a child may recurse, in bytes of stack.
const maxStack = 128 << 20

// Reexec is to be called first in main, and in the TestMain of every package
// whose tests do work apart. In a child it does the work and ends the process;
// else it returns at once.
func Reexec() {
	if len(os.Args) != 5 || os.Args[0] != childName {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			unix.Exit(faultStatus)
		}
	}()
	if err := obey(os.Args[1], os.Args[2], os.Args[3], os.Args[4] == "true"); err != nil {
		fmt.Fprint(os.Stderr, err.Error())
		unix.Exit(refusedStatus)
	}
	unix.Exit(0) // at once: what the program does at its end is not for its child
}

// reportFD is where a child reports that it is shut in.
const reportFD = 3

func obey(name, memory, seconds string, namespaces bool) error {
	job, known := jobs[name]
	bytes, memoryErr := strconv.ParseUint(memory, 10, 62)
	cpu, timeErr := strconv.ParseUint(seconds, 10, 31)
	if !known || memoryErr != nil || timeErr != nil {
		return fmt.Errorf("no such job: %q", name)
	}
	// The collector works harder before the limit is reached.
	debug.SetMemoryLimit(int64(bytes) / 4 * 3)
	debug.SetMaxStack(maxStack)
	said := sealed
	if err := shutIn(namespaces, int64(bytes), cpu); err != nil {
		said = err.Error()
	}
	report := os.NewFile(reportFD, "report")
	_, err := report.WriteString(said)
	if err := errors.Join(err, report.Close()); err != nil || said != sealed {
		return err
	}
	return job.do(os.Stdin, os.Stdout)
}

func shutIn(namespaces bool, memory int64, seconds uint64) error {
	if err := sandbox.Seal(namespaces, memory); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}); err != nil {
		return fmt.Errorf("limit the time of what is done apart: %w", err)
	}
	return nil
}
