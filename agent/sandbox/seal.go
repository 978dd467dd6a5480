package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// KindSealed names the confinement of a process that needs nothing of the
// machine, such as the engine of a script.
const KindSealed = "namespaces+landlock"

// SealedProcess is how a process of this program begins that will be sealed:
// it dies with its parent's thread. With namespaces it has its own of users,
// mounts, processes, network, IPC and host name; machines that forbid those
// refuse to start it.
func SealedProcess(namespaces bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if !namespaces {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: insideUID, HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: insideGID, HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // to take its files away; Seal gives it up
	return attr
}

// Seal shuts this process in. From here on it reaches what it has open, and
// nothing else: with namespaces there are no files at all, no network and no
// other process; without, Landlock forbids files and TCP as far as the kernel
// can. It may map data bytes of memory.
func Seal(namespaces bool, data int64) error {
	if namespaces {
		if err := leaveFiles(); err != nil {
			return err
		}
	}
	if err := giveUpRights(); err != nil {
		return err
	}
	if err := landlock.V6.BestEffort().Restrict(); err != nil {
		return fmt.Errorf("lock with Landlock: %w", err)
	}
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_DATA, uint64(data)},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("set limit %d of a sealed process: %w", limit.resource, err)
		}
	}
	return nil
}

// leaveFiles swaps the root for a folder that cannot be written and has nothing
// in it but this process's own /proc, in which its threads are found.
func leaveFiles() error {
	if err := enterEmptyRoot(); err != nil {
		return err
	}
	if err := os.Mkdir("/proc", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount the namespace's own /proc: %w", err)
	}
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the server's files: %w", err)
	}
	if err := os.Remove(oldRoot); err != nil {
		return err
	}
	return setReadOnly("/", 0)
}

// giveUpRights is dropRights for a process that goes on in all its threads.
func giveUpRights() error {
	for _, call := range []struct {
		doing     string
		what      uintptr
		arguments [2]uintptr
	}{
		{"forbid new rights", unix.PR_SET_NO_NEW_PRIVS, [2]uintptr{1, 0}},
		{"clear the inherited capabilities", unix.PR_CAP_AMBIENT, [2]uintptr{unix.PR_CAP_AMBIENT_CLEAR_ALL, 0}},
	} {
		if _, _, errno := psx.Syscall6(unix.SYS_PRCTL, call.what, call.arguments[0], call.arguments[1], 0, 0, 0); errno != 0 {
			return fmt.Errorf("%s: %w", call.doing, errno)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0); errno != 0 {
		return fmt.Errorf("drop the capabilities: %w", errno)
	}
	return nil
}
