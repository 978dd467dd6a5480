package main

import (
	"os"
	"testing"

	"offcut/agent/apart"
	"offcut/agent/sandbox"
	"offcut/agent/script"
)

// The tests serve in this process, so that it has to be what main is: also the
// child that a confined command runs in.
func TestMain(m *testing.M) {
	apart.Reexec()
	sandbox.Reexec()
	script.Reexec()
	os.Exit(m.Run())
}
