package models

import "time"

// Decision is what somebody said of a tool call that had to be allowed.
type Decision string

// The decisions. A call that waits has none.
const (
	DecisionOnce    Decision = "once"
	DecisionSession Decision = "session" // and so may later calls of the tool in the session
	DecisionDeny    Decision = "deny"
	// DecisionLapsed: the call's turn ended before anybody decided.
	DecisionLapsed Decision = "lapsed"
)

// ParseDecision reads a decision as clients send it.
func ParseDecision(s string) (Decision, error) {
	switch d := Decision(s); d {
	case DecisionOnce, DecisionSession, DecisionDeny:
		return d, nil
	}
	return "", Errorf(ErrInvalid, "invalid_decision", "a decision is once, session or deny; %q is none of them", s)
}

// Allows reports whether the call may run.
func (d Decision) Allows() bool { return d == DecisionOnce || d == DecisionSession }

// Approval is a tool call about which somebody is asked, or was.
type Approval struct {
	SessionID string
	TurnID    string
	CallID    string
	Tool      string
	Arguments string // JSON, as the call has them
	Folder    string // where it runs, on the server
	Deed      string // what kind of thing the tool does
	// Unconfined: it would run outside the sandbox.
	Unconfined bool
	Decision   Decision // empty: it waits
	DecidedBy  string   // a user's id
	CreatedAt  time.Time
	DecidedAt  *time.Time
}

// SameCall reports whether two approvals are about one call: an id alone does not
// tell, since who makes calls chooses it.
func (a Approval) SameCall(b Approval) bool {
	return a.SessionID == b.SessionID && a.TurnID == b.TurnID && a.CallID == b.CallID && a.Tool == b.Tool && a.Arguments == b.Arguments
}

// Grant says that calls of a tool in a session run without asking.
type Grant struct {
	Tool string
	By   string // the name of who allowed it
	At   time.Time
}

// Verdict decides about one call.
type Verdict struct {
	TurnID   string
	CallID   string
	Decision Decision
	By       string // the user's id
	Now      time.Time
}
