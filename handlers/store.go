package handlers

import (
	"context"
	"time"

	"offcut/models"
)

// Store is what the handlers read and write: the parts below together.
type Store interface {
	Users
	Accounts
	Usage
	Figures
	Sessions
	Turns
	Messages
	Outputs
	Ping(ctx context.Context) error
	FileSizes(ctx context.Context) (models.StorageSizes, error)
}

// Users finds people, and remembers what they did.
type Users interface {
	User(ctx context.Context, id string) (models.User, error)
	UserByName(ctx context.Context, name string) (models.User, error)
	Users(ctx context.Context, p models.Page) ([]models.User, string, error)
	RecordSignIn(ctx context.Context, userID string, at time.Time) error
	// UserByTokenHash is models.ErrUnauthorized for a token that is unknown or
	// whose user is disabled.
	UserByTokenHash(ctx context.Context, hash string) (models.User, error)
	// UseSignInLink works once for each link; then, and for an unknown or
	// expired one, it is models.ErrUnauthorized.
	UseSignInLink(ctx context.Context, hash string, now time.Time) (models.User, error)
	AddAudit(ctx context.Context, e models.AuditEntry) error
	// AddAuditOnce writes no second entry of the same actor, action and target.
	AddAuditOnce(ctx context.Context, e models.AuditEntry) error
	Audit(ctx context.Context, q models.AuditQuery) ([]models.AuditEntry, string, error)
	// AuditActions are the actions that are in the log, by name.
	AuditActions(ctx context.Context) ([]string, error)
}

// Accounts changes people. What is given of the audit log is written with the
// change, or neither is.
type Accounts interface {
	UserStats(ctx context.Context, p models.Page) ([]models.UserStats, string, error)
	UserWithStats(ctx context.Context, id string) (models.UserStats, error)
	CreateUser(ctx context.Context, u models.User, audit ...models.AuditEntry) error
	CreateSignInLink(ctx context.Context, l models.SignInLink) error
	// SetDisabled and SetRole are models.ErrConflict where nobody would be left
	// who can administer.
	SetDisabled(ctx context.Context, userID string, disabled bool, audit ...models.AuditEntry) error
	SetRole(ctx context.Context, userID string, role models.UserRole, audit ...models.AuditEntry) error
	// ResetUser signs out everywhere and stores the only link that works; where
	// it is said, password and tokens end too.
	ResetUser(ctx context.Context, link models.SignInLink, password, tokens bool, audit ...models.AuditEntry) error
	// SetPassword signs out everywhere.
	SetPassword(ctx context.Context, userID, hash string, audit ...models.AuditEntry) error
	// StorageUsed is how many bytes a user stores.
	StorageUsed(ctx context.Context, owner string) (int64, error)
	SetSettings(ctx context.Context, userID string, s models.Settings) error
	// SetTheme stores the theme alone.
	SetTheme(ctx context.Context, userID string, theme models.Theme) error
	Tokens(ctx context.Context, userID string) ([]models.APIToken, error)
	CreateToken(ctx context.Context, t models.APIToken, audit ...models.AuditEntry) error
	DeleteToken(ctx context.Context, userID, id string, audit ...models.AuditEntry) error
}

// Usage sums what was used.
type Usage interface {
	Usage(ctx context.Context, q models.UsageQuery) ([]models.UsageSum, string, error)
	UsageTotal(ctx context.Context, q models.UsageQuery) (models.UsageSum, error)
	UsageMonths(ctx context.Context) ([]string, error)
	SessionUsage(ctx context.Context, sessionID string) ([]models.UsageSum, error)
}

// Figures sums what became of tool results.
type Figures interface {
	Figures(ctx context.Context, q models.FiguresList) ([]models.Figures, string, error)
	FiguresByDays(ctx context.Context, q models.FiguresQuery) ([]models.Figures, error)
	FiguresTotal(ctx context.Context, q models.FiguresQuery) (models.Figures, error)
	FiguresEver(ctx context.Context) ([]models.Figures, error)
}

// Sessions finds and changes conversations. The owner is part of every
// question; AnySession alone has none, and is for admins.
type Sessions interface {
	CreateSession(ctx context.Context, s models.Session) error
	Session(ctx context.Context, owner, id string) (models.Session, error)
	AnySession(ctx context.Context, id string) (models.Session, error)
	Sessions(ctx context.Context, q models.SessionQuery) ([]models.Session, string, error)
	SessionStats(ctx context.Context, q models.SessionQuery) ([]models.SessionStats, string, error)
	// ReviewSessions lists everybody's sessions, and SessionsByID are those that
	// are still there of the ids; both for admins.
	ReviewTotals(ctx context.Context, q models.ReviewQuery) (models.ReviewTotals, error)
	ReviewSessions(ctx context.Context, q models.ReviewQuery) ([]models.SessionStats, string, error)
	SessionsByID(ctx context.Context, ids []string) ([]models.SessionStats, error)
	UpdateSession(ctx context.Context, owner, id string, p models.SessionPatch, now time.Time) (models.Session, error)
	// MarkSessions archives, restores, pins or unpins, and returns the sessions
	// that were not so before.
	MarkSessions(ctx context.Context, owner string, ids []string, p models.SessionPatch) ([]string, error)
	// Places shows where the words of a text stand in some sessions of an owner, at
	// most most of each, and returns how many each has.
	Places(ctx context.Context, query models.SessionQuery, sessions []string, most int, show func(models.Place)) (map[string]int, error)
	Storage(ctx context.Context, owner string) (models.Storage, error)
	// DeleteSession deletes and writes the lines of the audit log, or neither.
	DeleteSession(ctx context.Context, id string, audit ...models.AuditEntry) error
	// RemoveOtherDrafts removes an owner's drafts of before a time, but for one that
	// stays, and returns their ids.
	RemoveOtherDrafts(ctx context.Context, owner, stays string, before time.Time) ([]string, error)
	// ImportSession adds a session with the messages of its turns, and what their
	// answers rest on, by the places of the turns.
	ImportSession(ctx context.Context, s models.Session, turns [][]models.Message, rests map[int][]models.Ground) error
	// ForkSession copies the messages up to the given one, or all where none
	// is given, and no kept output.
	ForkSession(ctx context.Context, owner, id, uptoMessageID string, now time.Time) (models.Session, error)
}

// Turns finds turns. AnyTurn is for admins.
type Turns interface {
	Turn(ctx context.Context, owner, id string) (models.Turn, error)
	AnyTurn(ctx context.Context, id string) (models.Turn, error)
	Turns(ctx context.Context, sessionID string, ids []string) ([]models.Turn, error)
	// Versions are the turns that follow the named ones, in their order.
	Versions(ctx context.Context, sessionID string, parents []string) ([]models.Version, error)
	// Grounds are what the answers of turns rest on, by the turns.
	Grounds(ctx context.Context, sessionID string, turnIDs []string) (map[string][]models.Ground, error)
	// Waiting are the calls of a turn that wait for somebody.
	Waiting(ctx context.Context, turnID string) ([]models.Approval, error)
	// Approval is a call about which somebody is asked, or was.
	Approval(ctx context.Context, sessionID, callID string) (models.Approval, error)
	// Grants are the tools that run in a session without asking.
	Grants(ctx context.Context, sessionID string) ([]models.Grant, error)
	// Revoke ends a grant and writes the lines of the audit log, or neither.
	Revoke(ctx context.Context, sessionID, tool string, now time.Time, audit ...models.AuditEntry) error
}

// Messages reads what was said in a session.
type Messages interface {
	Messages(ctx context.Context, q models.MessageQuery) ([]models.Message, string, error)
	Message(ctx context.Context, sessionID, id string) (models.Message, error)
	// After is the cursor before which a turn and what was said before it
	// stand, and the first message after the turn; both empty at the end.
	After(ctx context.Context, sessionID, turnID string) (cursor, message string, err error)
	// TurnMessages are those of one turn, hidden ones too, whether or not the turn
	// is shown.
	TurnMessages(ctx context.Context, sessionID, turnID string) ([]models.Message, error)
	// Call is a tool call and its result, nil where there is none yet.
	Call(ctx context.Context, sessionID, callID string) (models.ToolCall, *models.Message, error)
	// Summaries are those that end with one of the turns.
	Summaries(ctx context.Context, sessionID string, turnIDs []string) ([]models.Summary, error)
	// Requests are what models were sent in a session, newest first and at most
	// most; Request is one of them, with instructions and tools: by its number, or
	// 0 for the last of the conversation; SentMessages are its messages from a
	// place on.
	Requests(ctx context.Context, sessionID string, upto int64, most int) ([]models.SentRequest, error)
	Request(ctx context.Context, sessionID string, number int64) (models.SentRequest, error)
	SentMessages(ctx context.Context, sessionID string, number int64, from, most int) ([]models.SentMessage, error)
	// Held is how many bytes of the body of a call's result the model's last request
	// held, and how many it shows.
	Held(ctx context.Context, sessionID, callID string) (held, shown int64, err error)
	// Replied reports whether a reply of the model stands after the message.
	Replied(ctx context.Context, m models.Message) (bool, error)
}

// Outputs finds kept outputs by the session that made them.
type Outputs interface {
	Outputs(ctx context.Context, sessionID string, p models.Page) ([]models.RetainedOutput, string, error)
	// Output is without its coverage, which Coverage has.
	Output(ctx context.Context, sessionID, id string) (models.RetainedOutput, error)
	Coverage(ctx context.Context, sessionID, id string) ([]models.Range, error)
	// DeleteOutput deletes and writes the lines of the audit log, or neither.
	DeleteOutput(ctx context.Context, sessionID, id string, now time.Time, audit ...models.AuditEntry) error
	// BackgroundOutputs are those of background commands that run, or ended at
	// that time or later; without coverage.
	BackgroundOutputs(ctx context.Context, sessionID string, since time.Time) ([]models.RetainedOutput, error)
	// Reads are what the model was shown last, at most most of them, in order.
	Reads(ctx context.Context, sessionID, outputID string, most int) ([]models.OutputRead, error)
}
