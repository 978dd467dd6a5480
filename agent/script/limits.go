package script

import "time"

// Limits bound one program. A zero is the default.
type Limits struct {
	// Time is the program's own: what it waits for calls is not counted.
	Time time.Duration
	// Memory is what its process may use, in bytes.
	Memory int64
	// Calls is how many calls it may make.
	Calls int
}

// The default limits.
const (
	DefaultTime   = 30 * time.Second
	DefaultMemory = 256 << 20
	DefaultCalls  = 200
)

func (l Limits) withDefaults() Limits {
	if l.Time == 0 {
		l.Time = DefaultTime
	}
	if l.Memory == 0 {
		l.Memory = DefaultMemory
	}
	if l.Calls == 0 {
		l.Calls = DefaultCalls
	}
	return l
}

const (
	// MaxCodeBytes bounds a program.
	MaxCodeBytes = 1 << 20
	// maxArguments bounds the arguments of one call, in bytes: what the JSON API
	// takes in one request.
	maxArguments = 8 << 20
	// maxOpenArguments bounds, in bytes, the arguments of all calls of a program
	// that have no answer yet: the server holds them.
	maxOpenArguments = 32 << 20
	// maxAnswer bounds the answer to one call, in bytes of JSON.
	maxAnswer = 64 << 20
	// maxDepth bounds how deep functions call each other: more than any sensible
	// recursion, and little of the memory.
	maxDepth = 2000
	// maxStack bounds, in bytes, what the engine's own recursion takes, such as
	// that of its parser.
	maxStack = 32 << 20
	// parallel is how many calls of a program run at the same time.
	parallel = 8
)
