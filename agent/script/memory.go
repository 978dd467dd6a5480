package script

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchEvery is how often a child is measured. Go takes a gigabyte in about a
// second.
const watchEvery = 20 * time.Millisecond

// watchMemory measures a child until done, and calls exceed once where it uses
// more than that many bytes.
func watchMemory(pid int, most int64, done <-chan struct{}, exceed func()) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			if usedBy(pid) > most {
				exceed()
				return
			}
		}
	}
}

// usedBy is what a process has in memory of its own: without its program, which
// is the server's too. Of one that has ended it is 0.
func usedBy(pid int) int64 {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm) // size resident shared …, in pages: proc_pid_statm(5)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
