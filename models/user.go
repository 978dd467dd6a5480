package models

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// UserRole is what a user may do.
type UserRole string

// The two roles.
const (
	RoleAdmin UserRole = "admin"
	RoleUser  UserRole = "user"
)

// Valid reports whether r is one of the two roles.
func (r UserRole) Valid() bool { return r == RoleAdmin || r == RoleUser }

// User is somebody who can sign in.
type User struct {
	ID           string
	Name         string
	Role         UserRole
	PasswordHash string // argon2id in PHC form; empty: no password sign-in
	Disabled     bool
	CreatedAt    time.Time
	LastSignInAt *time.Time
	Settings     Settings
}

// UserStats is a user with what they have and use.
type UserStats struct {
	User
	Sessions    int
	StoredBytes int64 // messages, kept outputs, and workspaces where they count
	Tokens      int   // API tokens
}

// Admin reports whether u may see the admin's pages.
func (u User) Admin() bool { return u.Role == RoleAdmin }

// MinPasswordLength is the shortest password, in characters: NIST SP 800-63B
// asks for eight.
const MinPasswordLength = 8

// MaxPasswordLength bounds, in bytes, what a sign-in costs to hash.
const MaxPasswordLength = 1024

// ValidatePassword refuses passwords outside the two limits, and blank ones.
func ValidatePassword(password string) error {
	if utf8.RuneCountInString(password) < MinPasswordLength || len(password) > MaxPasswordLength || strings.TrimSpace(password) == "" {
		return Errorf(ErrInvalid, "invalid_password", "a password has at least %d characters and at most %d bytes, and is not only spaces",
			Arg("least", MinPasswordLength), Arg("most", MaxPasswordLength))
	}
	return nil
}

// MaxTokensPerUser bounds the API tokens of one user.
const MaxTokensPerUser = 100

// ValidateTokenName refuses names of API tokens that are empty, longer than 100
// characters or more than one line.
func ValidateTokenName(name string) error {
	n := utf8.RuneCountInString(name)
	if strings.TrimSpace(name) == "" || n > 100 || strings.ContainsFunc(name, unicode.IsControl) {
		return Errorf(ErrInvalid, "invalid_name", "the name of a token is one line of 1 to 100 characters, such as what the token is for")
	}
	return nil
}

// APIToken lets a program act as a user. Only its hash is stored.
type APIToken struct {
	ID         string
	UserID     string
	Name       string
	Hash       string // SHA-256 of the token, in hex
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// SignInLink is a one-use sign-in link. Only the hash of its secret is stored.
type SignInLink struct {
	Hash      string
	UserID    string
	ExpiresAt time.Time
}

// AuditEntry is one line of the audit log: who did what to what.
type AuditEntry struct {
	ID        int64
	At        time.Time
	ActorID   string // empty: the program itself
	ActorName string
	Action    string // such as session.delete; see the Audit constants
	Target    string // the id of what it was done to
	Detail    string // a sentence, in English; never contents
	Code      string // of the sentence in other languages, with what it names; empty: there is none
	Args      map[string]any
	Address   string // the remote address; empty for the command line
}

// AuditActorCommandLine is the actor of what is done on the command line.
const AuditActorCommandLine = "command line"

// AuditActorRetention is the actor of what the retention policy did, who is no
// user: such a line has no actor id.
const AuditActorRetention = "retention"

// The actions that are audited.
const (
	AuditSignIn        = "user.sign_in"
	AuditSignInFailed  = "user.sign_in_failed"
	AuditSignOut       = "user.sign_out"
	AuditUserAdd       = "user.add"
	AuditUserPassword  = "user.password"
	AuditUserDisable   = "user.disable"
	AuditUserEnable    = "user.enable"
	AuditUserRole      = "user.role"
	AuditUserReset     = "user.reset"
	AuditTokenCreate   = "token.create"
	AuditTokenRevoke   = "token.revoke"
	AuditSessionView   = "session.view" // an admin's first view of another's session
	AuditSessionDelete = "session.delete"
	AuditCallAllow     = "call.allow"
	AuditCallDeny      = "call.deny"
	AuditCallRevoke    = "call.revoke" // what was allowed for a session is asked about again
	AuditOutputDelete  = "output.delete"
	AuditServerRestart = "server.restart" // of tools
	AuditDumpView      = "dump.view"      // an admin's first view of a refused request
)
