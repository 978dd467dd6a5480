package sandbox

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// bringUpLoopback lets a command talk to itself over 127.0.0.1, in a network
// of its own that leads nowhere else.
func bringUpLoopback(o order) error {
	if o.Network {
		return nil
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// forbidUserNamespaces closes the way to new capabilities, and with them to
// much of the kernel that an ordinary program never reaches. Then the settings
// are shut: where the server is root most of them are the machine's, and would
// be writable without any capability.
func forbidUserNamespaces(order) error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return err
	}
	return setMount("/proc", unix.MOUNT_ATTR_RDONLY, 0)
}

// lockFiles is the second wall: should a mount ever be got around, what the
// view names is still all that can be reached. It asks for the version of
// Linux 5.19, the first under which files can be moved between folders. Where
// the kernel can (6.12), signals and abstract sockets are kept inside too.
func lockFiles(o order) error {
	rules := []landlock.Rule{
		landlock.PathAccess(llsyscall.AccessFSReadDir, "/"), // names, of what the view has
		landlock.RODirs("/proc", "/etc", "/dev"),
		landlock.RWDirs(WorkspacePath, "/tmp", "/dev/shm").WithRefer(),
	}
	for _, b := range o.View.Binds {
		if info, err := os.Stat(b.To); err == nil && info.IsDir() {
			rules = append(rules, landlock.RODirs(b.To))
		}
	}
	for _, s := range o.View.Shown {
		if _, err := os.Stat(s.At); err == nil {
			rules = append(rules, landlock.RODirs(s.At))
		}
	}
	for _, name := range devices {
		rules = append(rules, landlock.RWFiles("/dev/"+name))
	}
	if err := landlock.V2.RestrictPaths(rules...); err != nil {
		return err
	}
	return landlock.V6.BestEffort().RestrictScoped()
}

// dropRights gives up every capability of this thread, and the means to get
// any by executing a program.
func dropRights(order) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new rights: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear the inherited capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	return nil
}
