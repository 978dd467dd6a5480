package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The user that a confined command is, inside its own user namespace. Outside
// it is the server's user, with no capability left.
const (
	insideUID = 1000
	insideGID = 1000
)

// view is what of the server's files a confined command sees beside its
// workspace, all of it read-only. What is not named here is not there.
type view struct {
	Binds []bind
	Shown []Shown // over what is at their places
	Links []link
	Files []file
	Hide  []string // folders under a bind that are covered with an empty one
}

type bind struct{ From, To string }

type link struct{ Target, At string }

type file struct{ At, Content string }

// systemFolders hold programs, their libraries and what these read. On a
// merged-/usr system most are links into /usr, and stay links.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"}

// etcNames are what programs read in /etc that says nothing of this server:
// no account, no key, no mount, no proxy, no registry.
var etcNames = []string{
	"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
	"nsswitch.conf", "protocols", "services", "networks", "host.conf",
	"localtime", "timezone", "locale.alias", "locale.gen", "locale.conf",
	"os-release", "debian_version", "alpine-release", "redhat-release",
	"ssl/certs", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf", "pki/tls/certs", "pki/ca-trust",
	"mime.types", "magic", "magic.mime", "terminfo", "inputrc", "papersize",
	"fonts", "perl", "python3*", "java-*", "php", "R", "maven",
}

// accounts are the whole user database of a confined command.
var accounts = []file{
	{"/etc/passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n" +
		"user:x:1000:1000:user:" + WorkspacePath + ":/bin/sh\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"},
	{"/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
}

func systemView(hide []Hidden) view {
	v := view{Files: accounts}
	for _, folder := range systemFolders {
		if target, err := os.Readlink(folder); err == nil {
			v.Links = append(v.Links, link{target, folder})
		} else if _, err := os.Stat(folder); err == nil {
			v.Binds = append(v.Binds, bind{folder, folder})
		}
	}
	for _, name := range etcNames {
		found, _ := filepath.Glob("/etc/" + name) // the patterns are constants: none is bad
		for _, path := range found {
			if _, err := os.Stat(path); err == nil { // a link without a target cannot be bound
				v.Binds = append(v.Binds, bind{path, path})
			}
		}
	}
	for _, h := range hide {
		if path, err := filepath.EvalSymlinks(string(h)); err == nil && v.shows(path) {
			v.Hide = append(v.Hide, path)
		}
	}
	return v
}

// shows reports whether a path of the server is seen.
func (v view) shows(path string) bool {
	return slices.ContainsFunc(v.Binds, func(b bind) bool {
		return path == b.From || strings.HasPrefix(path, b.From+"/")
	})
}

// forCommand adds what a command that may use the network needs for it.
func (v view) forCommand(spec Spec) view {
	if !spec.Network {
		return v
	}
	if names, err := os.ReadFile("/etc/resolv.conf"); err == nil {
		v.Files = append(slices.Clone(v.Files), file{"/etc/resolv.conf", string(names)})
	}
	return v
}

// fallbackPath is for a server that was started without a usable PATH.
const fallbackPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is all that a command finds in its environment: none of it is
// the server's own, except the folders of PATH that the command can see.
func environment(home, tmp, path string) []string {
	return []string{
		"PATH=" + path,
		"HOME=" + home,
		"PWD=" + home,
		"TMPDIR=" + tmp,
		"USER=user",
		"LOGNAME=user",
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TERM=dumb",
		"PAGER=cat",
		"GIT_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0",
	}
}

// visiblePath is the server's PATH without the folders that are not seen.
func (v view) visiblePath() string {
	var seen []string
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		linked := slices.ContainsFunc(v.Links, func(l link) bool { return folder == l.At })
		if (linked || v.shows(folder) && !v.hides(folder)) && !slices.Contains(seen, folder) {
			seen = append(seen, folder)
		}
	}
	if len(seen) == 0 {
		return fallbackPath
	}
	return strings.Join(seen, ":")
}

func (v view) hides(path string) bool {
	return slices.ContainsFunc(v.Hide, func(h string) bool {
		return path == h || strings.HasPrefix(path, h+"/")
	})
}

// shell is the command as it is started: with a umask that does not depend on
// how the server was started.
func shell(command string) []string {
	return []string{"/bin/sh", "-c", `umask 022; exec /bin/sh -c "$1"`, "sh", command}
}
