package views

import (
	"net/url"
	"time"
)

// AdminAudit is the page of the audit log.
type AdminAudit struct {
	Filter  AuditFilter
	Actions []string // those that are in the log
	Entries []AuditEntry
	Steps   Steps
}

// AuditFilter is what of the log is shown. The days are those of the form, as
// 2026-11-30, in UTC.
type AuditFilter struct {
	Actor, Action, Target, From, To string
}

// Params are the parameters of an address that asks for the same.
func (f AuditFilter) Params() url.Values {
	params := url.Values{}
	for name, value := range map[string]string{
		"actor": f.Actor, "action": f.Action, "target": f.Target, "from": f.From, "to": f.To,
	} {
		if value != "" {
			params.Set(name, value)
		}
	}
	return params
}

func (f AuditFilter) csv() string { return addressOf("/admin/audit.csv", f.Params()) }

// AuditEntry is a line of the log.
type AuditEntry struct {
	At                                     time.Time
	Actor, Action, Target, Detail, Address string
	Program                                bool // Actor is the command line, and no user
}
