package sandbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces confines with the program's own re-executed child: new user,
// mount, process, network, IPC and host name namespaces, a view of files of
// its own, and Landlock over that.
type namespaces struct{ seen view }

func (namespaces) kind() string   { return KindNamespaces }
func (namespaces) confines() bool { return true }

func (n namespaces) prepare(spec Spec, limits Limits) (*launch, error) {
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !spec.Network {
		flags |= unix.CLONE_NEWNET
	}
	return reexec(order{
		Confine:     true,
		View:        n.seen.forCommand(spec),
		Workspace:   spec.Workspace,
		Network:     spec.Network,
		Command:     spec.Command,
		Environment: environment(WorkspacePath, "/tmp", n.seen.visiblePath()),
		Limits:      limits,
	}, &syscall.SysProcAttr{
		Setsid:      true,
		Pdeathsig:   syscall.SIGKILL, // of the namespace's first process: all others die with it
		Cloneflags:  uintptr(flags),
		UidMappings: []syscall.SysProcIDMap{{ContainerID: insideUID, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: insideGID, HostID: os.Getegid(), Size: 1}},
		// For building the view; the command gets none of them.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE},
	})
}
