// Command offcut serves a chat with an agent whose tools run on the server,
// and looks after its users. This package wires the others together; whatever
// is more than wiring is theirs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // of people's time zones, where the system has none

	"offcut/agent/apart"
	"offcut/agent/sandbox"
	"offcut/agent/script"
)

// version is set by the build.
var version = "dev"

func main() {
	// What is done apart is done by this program too, and so are the confined
	// children of commands and scripts.
	apart.Reexec()
	sandbox.Reexec()
	script.Reexec()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Environ(), terminal{os.Stdin, os.Stdout, os.Stderr}))
}
