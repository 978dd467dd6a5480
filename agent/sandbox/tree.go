package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// process is what the kernel says of one process in /proc/PID/stat.
type process struct {
	parent  int
	threads int
	memory  int64 // bytes in RAM, those shared with other processes included
}

// readProcesses lists every process that can be seen. One that ends meanwhile
// is left out. It is asked for many times a second, so that it reads without
// what an os.File costs.
func readProcesses() map[int]process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	procs := make(map[int]process, len(names))
	var buf [1024]byte // a stat has some 300 bytes
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := parseStat(readSmall("/proc/"+name+"/stat", buf[:])); ok {
			procs[pid] = p
		}
	}
	return procs
}

// readSmall reads a file of the kernel that is shorter than buf; empty: it is
// not there.
func readSmall(path string, buf []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	n, _ := unix.Read(fd, buf)
	return buf[:max(n, 0)]
}

// Fields of /proc/PID/stat, counted from the state that follows the name in
// parentheses (proc_pid_stat(5) counts from the pid, two earlier).
const (
	statParent  = 1
	statThreads = 17
	statRSS     = 21
)

func parseStat(stat []byte) (process, bool) {
	// The name may hold spaces and parentheses: the last one ends it.
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) <= statRSS {
		return process{}, false
	}
	parent, err1 := strconv.Atoi(string(fields[statParent]))
	threads, err2 := strconv.Atoi(string(fields[statThreads]))
	pages, err3 := strconv.ParseInt(string(fields[statRSS]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return process{}, false
	}
	return process{parent: parent, threads: threads, memory: pages * int64(os.Getpagesize())}, true
}

// descendants are the processes under root, without root itself.
func descendants(procs map[int]process, root int) []int {
	children := make(map[int][]int, len(procs))
	for pid, p := range procs {
		children[p.parent] = append(children[p.parent], pid)
	}
	var found []int
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		found = append(found, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return found
}

// crossed says which limit the processes under root have crossed, as a
// sentence; empty: none.
func crossed(procs map[int]process, root int, limits Limits) string {
	var tasks int
	var memory int64
	pids := descendants(procs, root)
	for _, pid := range pids {
		tasks += procs[pid].threads
		memory += procs[pid].memory
	}
	if tasks > limits.Processes {
		return fmt.Sprintf("it had more than %d processes and threads", limits.Processes)
	}
	if memory > limits.Memory && sharedOnce(pids, procs) > limits.Memory {
		return fmt.Sprintf("it used more than %d MiB of memory", limits.Memory>>20)
	}
	return ""
}

// sharedOnce is the memory of the processes with each page that several of
// them share counted once. It costs a walk of their page tables, so that it is
// asked for only when the plain sum is over the limit.
func sharedOnce(pids []int, procs map[int]process) int64 {
	var sum int64
	for _, pid := range pids {
		proportional, ok := proportionalMemory(pid)
		if !ok {
			proportional = procs[pid].memory
		}
		sum += proportional
	}
	return sum
}

func proportionalMemory(pid int) (int64, bool) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(rollup) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && string(fields[0]) == "Pss:" {
			kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
