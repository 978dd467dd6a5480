package models

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// AuditQuery asks for a page of the audit log, newest first. An empty field
// asks for all.
type AuditQuery struct {
	Actor  string // a user's name, as it was then
	Action string // one of the Audit constants, or all that begin with it and a dot, such as session
	Target string // an id
	// From and To are the first moment and the one after the last.
	From, To time.Time
	Page
}

// AuditActions are all actions that the program writes down.
var AuditActions = []string{
	AuditSignIn, AuditSignInFailed, AuditSignOut, AuditUserAdd, AuditUserPassword, AuditUserDisable, AuditUserEnable, AuditUserRole,
	AuditUserReset, AuditTokenCreate, AuditTokenRevoke, AuditSessionView, AuditSessionDelete, AuditCallAllow, AuditCallDeny,
	AuditCallRevoke, AuditOutputDelete, AuditServerRestart, AuditDumpView,
}

// AuditNames reports whether a filter for an action finds one of the actions.
func AuditNames(action string, actions []string) bool {
	return slices.ContainsFunc(actions, func(known string) bool { return known == action || strings.HasPrefix(known, action+".") })
}

// Deed is what somebody did, as the audit log says it.
type Deed struct {
	Detail string // a sentence, in English; never contents
	Code   string
	Args   map[string]any
}

// Deedf makes a Deed with a formatted sentence. Its code finds the sentence in
// another language; an argument that it needs is given a name by Arg.
func Deedf(code, format string, args ...any) Deed {
	e := Errorf(nil, code, format, args...)
	for name, value := range e.Args {
		e.Args[name] = fmt.Sprint(value) // as it is written, also after it was stored
	}
	return Deed{Detail: e.Message, Code: code, Args: e.Args}
}

// Of is the entry with the deed in it.
func (d Deed) Of(e AuditEntry) AuditEntry {
	e.Detail, e.Code, e.Args = d.Detail, d.Code, d.Args
	return e
}
