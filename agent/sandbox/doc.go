// Package sandbox runs a command so that it reaches its workspace and nothing
// else of the server: no other file, no network, no other process.
//
// Two ways confine a command wholly: bubblewrap, where it is installed and
// works, and else the program's own re-executed child, which makes the same
// view out of namespaces and adds Landlock. Where neither works a command can
// still be run, but not confined, and every Exit says so.
//
// Whatever the way, a call ends with its command: everything that the command
// started ends too, what it had printed is read to the end, and no call waits
// for a child that keeps a pipe open.
package sandbox
