package views

import "time"

// OwnAccount is the page of the user's own account.
type OwnAccount struct {
	Sidebar Sidebar
	Name    string
	Admin   bool
	// NeedsOld: a new password needs the old one.
	NeedsOld bool
	// PasswordSet: it has just been changed. PasswordProblem is why it was not.
	PasswordSet     bool
	PasswordProblem string

	Tokens []Token
	// NewToken is a token that was just made, which is shown this once.
	NewToken     string
	TokenName    string // as it was written, where it was refused
	TokenProblem string

	// What the user has used this month.
	MonthTokens int64
	MonthCost   float64
}

// Token is an API token as its owner sees it.
type Token struct {
	ID        string
	Name      string
	CreatedAt time.Time
	UsedAt    *time.Time // nil: never
}
