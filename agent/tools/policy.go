package tools

import (
	"fmt"

	"offcut/agent/sandbox"
)

// Approval says which calls wait for somebody to allow them.
type Approval string

// The ways. With Auto only commands that would run unconfined are asked about,
// with Ask everything that has effects, and with Never nothing is.
const (
	ApprovalAuto  Approval = "auto"
	ApprovalAsk   Approval = "ask"
	ApprovalNever Approval = "never"
)

// ParseApproval reads a way as configuration writes it.
func ParseApproval(s string) (Approval, error) {
	switch a := Approval(s); a {
	case ApprovalAuto, ApprovalAsk, ApprovalNever:
		return a, nil
	}
	return "", fmt.Errorf("%q is no approval mode: it is auto, ask or never", s)
}

// refuseCommand says why a command may not run; empty: it may. Whatever would
// ask somebody is refused, as nobody can be asked.
func (a Approval) refuseCommand(mode sandbox.Mode, confined bool) string {
	switch {
	case !confined && mode == sandbox.Required:
		return "no sandbox works on this server, and OFFCUT_SANDBOX=required lets nothing run without one. An admin can install bubblewrap, or allow user namespaces"
	case a == ApprovalAsk:
		return "OFFCUT_APPROVAL=ask asks before each command, and nobody can be asked. An admin can set OFFCUT_APPROVAL=auto, which runs commands in the sandbox without asking"
	case confined:
		return ""
	case a == ApprovalNever && mode == sandbox.Off:
		return ""
	case a == ApprovalNever:
		return "no sandbox works on this server, and OFFCUT_APPROVAL=never runs commands without one only with OFFCUT_SANDBOX=off. An admin can install bubblewrap, allow user namespaces, or set OFFCUT_SANDBOX=off"
	}
	return "the command would run outside a sandbox, about which OFFCUT_APPROVAL=auto asks, and nobody can be asked. An admin can install bubblewrap, allow user namespaces, or set OFFCUT_APPROVAL=never with OFFCUT_SANDBOX=off, which runs every command with all rights of the server"
}

// refuseChange says why a file may not be changed; empty: it may.
func (a Approval) refuseChange() string {
	if a == ApprovalAsk {
		return "OFFCUT_APPROVAL=ask asks before each change of a file, and nobody can be asked. An admin can set OFFCUT_APPROVAL=auto"
	}
	return ""
}
