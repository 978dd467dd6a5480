package sandbox

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Mode is what the admin asks for.
type Mode string

// The modes. Required and Off are promises: with Required nothing runs
// unconfined, with Off nothing is confined.
const (
	Auto     Mode = "auto"
	Required Mode = "required"
	Off      Mode = "off"
)

// ParseMode reads a mode as configuration writes it.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Auto, Required, Off:
		return m, nil
	}
	return "", fmt.Errorf("%q is no sandbox mode: it is auto, required or off", s)
}

// The kinds of confinement, as they are named to models and people.
const (
	KindBubblewrap = "bubblewrap"
	KindNamespaces = "namespaces+landlock"
	KindNone       = "none"
)

// WorkspacePath is where a confined command finds its workspace, whatever the
// folder is called on the server.
const WorkspacePath = "/workspace"

// Hidden is a folder of the server that no command may reach, such as the data
// folder. Only system folders are shown to a command, so that it matters where
// it lies under one of them.
type Hidden string

// Shown is a folder of the server that commands may read, at a place of its own.
// Where it is not there, commands run without it.
type Shown struct{ Path, At string }

// Limits bound one command with everything that it starts. A zero is the
// default.
type Limits struct {
	Memory    int64 // bytes, summed over its processes
	Processes int   // its processes and their threads
	FileSize  int64 // bytes of one file that it writes
	OpenFiles uint64
	TempBytes int64 // of the private /tmp, and of /dev/shm; they are memory
}

// The default limits leave room for a compiler on a small server, and end what
// runs away well before the server suffers.
const (
	DefaultMemory    = 4 << 30
	DefaultProcesses = 1024
	DefaultFileSize  = 4 << 30
	DefaultOpenFiles = 4096
	DefaultTempBytes = 512 << 20
)

func (l Limits) withDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = DefaultMemory
	}
	if l.Processes == 0 {
		l.Processes = DefaultProcesses
	}
	if l.FileSize == 0 {
		l.FileSize = DefaultFileSize
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = DefaultOpenFiles
	}
	if l.TempBytes == 0 {
		l.TempBytes = DefaultTempBytes
	}
	return l
}

// Options choose how commands are confined.
type Options struct {
	Mode   Mode
	Hide   []Hidden
	Show   []Shown
	Limits Limits
	// Kinds are the ways to try, in order; empty: bubblewrap, then namespaces.
	Kinds []string
}

// Spec is one command.
type Spec struct {
	// Command is given to sh -c.
	Command string
	// Workspace is the folder that the command works in and may write.
	Workspace string
	// Timeout ends the command; 0: none.
	Timeout time.Duration
	// Network lets the command reach whatever the server can reach. Such a
	// command is not counted as confined.
	Network bool
	// Check is asked about once a second while the command runs, from another
	// goroutine. The sentence that it returns becomes Exit.Limit, and the
	// command is ended; empty: it goes on. nil: nothing is asked.
	Check func(ctx context.Context) string
	// Stdout and Stderr are each written from one goroutine, at the same time.
	Stdout, Stderr io.Writer
}

// Exit is how a command ended.
type Exit struct {
	Code int
	// Signal is the name of the signal that ended the command, such as
	// SIGKILL; empty where it exited. Code is then 0.
	Signal string
	// TimedOut and Stopped: it was ended by its timeout, or because the
	// context was cancelled. Code and Signal are then zero.
	TimedOut, Stopped bool
	// Limit is a sentence about the limit for which the command was ended;
	// empty where it was not.
	Limit string
	// Duration is from the start to the end of the command itself.
	Duration time.Duration
	// Confined: files, network and processes all were.
	Confined bool
	Kind     string
}
