// Package approve decides which tool calls somebody has to allow before they
// run. It stands around every tool as a decorator, so that a call within a
// script asks like any other.
package approve

import (
	"offcut/agent"
	"offcut/agent/sandbox"
)

// Mode says what is asked about.
type Mode string

// The modes. Auto asks only about commands that would run outside the sandbox,
// Ask about every call that does something, and with Never nobody is asked.
const (
	Auto  Mode = "auto"
	Ask   Mode = "ask"
	Never Mode = "never"
)

// Policy says of each kind of call whether it runs, is asked about or refused.
// The zero Policy runs nothing but what only looks.
type Policy struct {
	Mode Mode
	// Sandbox is what the configuration wants; Confined is what commands get.
	Sandbox  sandbox.Mode
	Confined bool
}

// The reasons for which a command is refused that nobody is asked about.
const (
	refusedRequired = "no sandbox works on this server, and OFFCUT_SANDBOX=required lets nothing run without one. An admin can install bubblewrap, or allow user namespaces"
	refusedNever    = "no sandbox works on this server, and OFFCUT_APPROVAL=never runs commands without one only with OFFCUT_SANDBOX=off. An admin can install bubblewrap, allow user namespaces, or set OFFCUT_SANDBOX=off"
	refusedNobody   = "it has to be allowed by somebody, and nobody can be asked"
)

// asks reports whether somebody has to allow a call of that kind.
func (p Policy) asks(deed agent.Deed) bool {
	switch {
	case deed == "" || p.refuses(deed) != "":
		return false
	case p.Mode == Ask:
		return true
	case p.Mode == Auto:
		return p.unconfined(deed)
	}
	return p.Mode != Never
}

// refuses is why a call of that kind never runs; empty: it may.
func (p Policy) refuses(deed agent.Deed) string {
	switch {
	case !p.unconfined(deed):
		return ""
	case p.Sandbox == sandbox.Required:
		return refusedRequired
	case p.Mode == Never && p.Sandbox != sandbox.Off:
		return refusedNever
	}
	return ""
}

// unconfined: the call runs a program, and outside the sandbox. A script runs
// in an engine of its own that reaches nothing but tools.
func (p Policy) unconfined(deed agent.Deed) bool { return deed == agent.DeedCommand && !p.Confined }

// Name is the policy in one word, for what people are told of it: ask,
// ask-unconfined (commands alone), confined or unconfined (nobody is asked),
// and refused (no command runs).
func (p Policy) Name() string {
	switch {
	case p.Mode == Ask && p.refuses(agent.DeedCommand) != "":
		return "ask-refused"
	case p.Mode == Ask:
		return "ask"
	case p.refuses(agent.DeedCommand) != "":
		return "refused"
	case p.asks(agent.DeedCommand):
		return "ask-unconfined"
	case p.Confined:
		return "confined"
	}
	return "unconfined"
}
