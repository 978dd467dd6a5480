package views

import (
	"context"
	"strconv"
	"time"
)

// AdminUsers is the page of the users.
type AdminUsers struct {
	Users []Account
	New   NewUser
	Steps Steps
}

// NewUser is the form that adds one, as it was sent where it was refused.
type NewUser struct {
	Name    string
	Admin   bool
	Problem string
}

// Account is a user as administrators see them.
type Account struct {
	ID          string
	Name        string
	Admin       bool
	Disabled    bool
	HasPassword bool
	AddedAt     time.Time
	SignedInAt  time.Time // zero: never
	Sessions    int
	Tokens      int // API tokens
	StoredBytes int64
}

func (a Account) role(ctx context.Context) string {
	if a.Admin {
		return t(ctx, "users.role.admin")
	}
	return t(ctx, "users.role.user")
}

// AdminUser is the page of one user.
type AdminUser struct {
	Account Account
	// Self: it is the reader's own.
	Self bool
	// Tokens and Cost are what they have used in all.
	Tokens int64
	Cost   float64
	// Link is a sign-in link, which is shown this once.
	Link string
	// Problem is why the last change was refused.
	Problem string
}

// dollars writes a cost: small ones with four decimals, so that one answer is
// seen to cost something.
func dollars(ctx context.Context, cost float64) string {
	decimals := 2
	if cost > 0 && cost < 1 {
		decimals = 4
	}
	if cost > 0 && cost < 0.0001 {
		return t(ctx, "cost", "amount", "<0.0001")
	}
	return t(ctx, "cost", "amount", strconv.FormatFloat(cost, 'f', decimals, 64))
}
