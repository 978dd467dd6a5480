// Package script runs JavaScript programs of a model's. An engine has no limit
// of its own for memory, and some of its work cannot be interrupted: each
// program runs in a process of its own, which is this program executed again.
// That process reaches no file, no network and no other process; all it can do
// is ask the server, over a pipe, to call a tool. The server believes nothing
// of what comes back but what it bounds and checks.
package script
