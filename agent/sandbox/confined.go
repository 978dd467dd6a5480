package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// runConfined is the child's side of namespaces. It is the first process of
// its namespace: when it exits, the kernel ends all others.
func runConfined(o order) (status, error) {
	runtime.LockOSThread()
	// The command may send signals to its first process, which would end it
	// before it has told how the command ended. Caught ones are the command's
	// own again, ignored ones would not be.
	signal.Notify(make(chan os.Signal, 1))
	steps := []struct {
		doing string
		do    func(order) error
	}{
		{"name the host", func(order) error { return unix.Sethostname([]byte("offcut")) }},
		{"bring up the loopback", bringUpLoopback},
		{"build the view of files", buildView},
		{"forbid further user namespaces", forbidUserNamespaces},
		{"lock with Landlock", lockFiles},
		{"drop all rights", dropRights},
	}
	for _, step := range steps {
		if err := step.do(o); err != nil {
			return status{}, fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	pid, err := startShell(o, WorkspacePath)
	if err != nil {
		return status{}, err
	}
	return reapUntil(pid), nil
}

// oldRoot is where the server's files are while the view is built.
const oldRoot = "/.server"

// buildView makes a new root out of nothing but what the view names.
func buildView(o order) error {
	if err := enterEmptyRoot(); err != nil {
		return err
	}
	for _, b := range o.View.Binds {
		if err := bindMount(b, true); err != nil {
			return err
		}
	}
	for _, l := range o.View.Links {
		if err := os.Symlink(l.Target, l.At); err != nil {
			return err
		}
	}
	for _, f := range o.View.Files {
		if err := writeInView(f); err != nil {
			return err
		}
	}
	for _, hidden := range o.View.Hide {
		if err := mountTemp(hidden, 0, unix.MS_RDONLY); err != nil {
			return err
		}
	}
	if err := mountSystem(o.Limits); err != nil {
		return err
	}
	for _, s := range o.View.Shown {
		if _, err := os.Stat(oldRoot + s.Path); err != nil {
			continue
		}
		if err := bindMount(bind{s.Path, s.At}, true); err != nil {
			return err
		}
	}
	if err := bindMount(bind{o.Workspace, WorkspacePath}, false); err != nil {
		return err
	}
	if err := unix.Unmount(oldRoot, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the server's files: %w", err)
	}
	if err := os.Remove(oldRoot); err != nil {
		return err
	}
	return setReadOnly("/", 0)
}

// enterEmptyRoot swaps the root for an empty folder in memory; the server's
// files stay reachable below oldRoot until they are unmounted.
func enterEmptyRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to itself: %w", err)
	}
	const base = "/tmp" // any folder that exists everywhere
	if err := mountTemp(base, 0, 0); err != nil {
		return err
	}
	if err := os.Mkdir(base+oldRoot, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return fmt.Errorf("swap the root: %w", err)
	}
	return os.Chdir("/")
}

// bindMount shows a file or folder of the server, with all that is mounted
// below it. Without changing what the server mounted read-only or nosuid.
func bindMount(b bind, readOnly bool) error {
	from := oldRoot + b.From
	info, err := os.Stat(from)
	if err != nil {
		// An absolute link leads out of oldRoot: follow it there.
		if from, err = filepath.EvalSymlinks(from); err != nil {
			return fmt.Errorf("find %s: %w", b.From, err)
		}
		if info, err = os.Stat(from); err != nil {
			return fmt.Errorf("find %s: %w", b.From, err)
		}
	}
	if err := makeMountPoint(b.To, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(from, b.To, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", b.To, err)
	}
	if !readOnly {
		return setMount(b.To, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, unix.AT_RECURSIVE)
	}
	return setReadOnly(b.To, unix.AT_RECURSIVE)
}

func setReadOnly(at string, flags uint) error {
	return setMount(at, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, flags)
}

func setMount(at string, attributes uint64, flags uint) error {
	if err := unix.MountSetattr(-1, at, flags, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fmt.Errorf("restrict %s: %w", at, err)
	}
	return nil
}

func makeMountPoint(at string, folder bool) error {
	if folder {
		return os.MkdirAll(at, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func writeInView(f file) error {
	if err := os.MkdirAll(filepath.Dir(f.At), 0o755); err != nil {
		return err
	}
	return os.WriteFile(f.At, []byte(f.Content), 0o644)
}

// mountTemp mounts an empty folder in memory; 0 bytes: no bound but the
// machine's.
func mountTemp(at string, bytes int64, flags uintptr) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	options := "mode=1777"
	if flags&unix.MS_RDONLY != 0 {
		options = "mode=0755"
	}
	if bytes > 0 {
		options += ",size=" + strconv.FormatInt(bytes, 10)
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|flags, options); err != nil {
		return fmt.Errorf("mount an empty %s: %w", at, err)
	}
	return nil
}

// devices are the only ones that a command finds.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// mountSystem makes /proc, /dev and the private temporary folders.
func mountSystem(limits Limits) error {
	if err := os.Mkdir("/proc", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount the namespace's own /proc: %w", err)
	}
	for _, name := range devices {
		at := "/dev/" + name
		if err := makeMountPoint(at, false); err != nil {
			return err
		}
		if err := unix.Mount(oldRoot+at, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show %s: %w", at, err)
		}
	}
	for at, target := range map[string]string{
		"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0",
		"/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, at); err != nil {
			return err
		}
	}
	if err := mountTemp("/dev/shm", limits.TempBytes, 0); err != nil {
		return err
	}
	return mountTemp("/tmp", limits.TempBytes, 0)
}
