package agenttest

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// MachineSeals reports whether this machine lets a process have namespaces and a
// /proc of its own. It is asked here without a word of what is tested.
func MachineSeals() bool {
	probe := exec.Command("mount", "-t", "proc", "proc", "/proc")
	probe.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	return probe.Run() == nil
}
