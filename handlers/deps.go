package handlers

import (
	"context"
	"io"
	"os"
	"time"

	"offcut/agent/events"
	"offcut/models"

	"github.com/alexedwards/scs/v2"
)

// Reader reads kept outputs in bounded pages.
type Reader interface {
	// Page is at most limit bytes from offset on. An offset inside a character
	// or past the end is models.ErrMalformed, with before and after, or
	// totalBytes, among its details.
	Page(ctx context.Context, sessionID, outputID string, offset int64, limit int) (models.OutputPage, error)
	// Search is models.ErrLimited where the asker has too many of them running.
	Search(ctx context.Context, asker, sessionID, outputID, pattern string, regexp bool, most int) ([]models.Match, error)
	// Raw is the original bytes.
	Raw(ctx context.Context, sessionID, outputID string) (models.RetainedOutput, io.Reader, error)
}

// Querier answers jq filters over kept outputs.
type Querier interface {
	// Query is one JSON value per line. What the filter or the output is at
	// fault for is models.ErrInvalid, with where it broke among its details; it
	// is models.ErrLimited where the asker has one running.
	Query(ctx context.Context, asker, sessionID, outputID, filter string) ([]byte, error)
}

// Runner owns the turns.
type Runner interface {
	// Send stores a message and starts its turn, or queues it. The same client
	// id gives the same turn.
	Send(ctx context.Context, t models.NewTurn) (models.Turn, error)
	Stop(ctx context.Context, turnID string) error
	// Edit, Retry and Continue begin a turn beside or after the given one, which
	// they return; Retry returns the turn itself where it ended its wait for the
	// next try. Show shows another version. What the conversation does not permit
	// now is models.ErrConflict.
	Edit(ctx context.Context, turn models.Turn, content string) (models.Turn, error)
	Retry(ctx context.Context, turn models.Turn) (models.Turn, error)
	Continue(ctx context.Context, turn models.Turn) (models.Turn, error)
	Show(ctx context.Context, turn models.Turn) error
	StopCall(ctx context.Context, sessionID, callID string) error
	// MoveCall lets a running call go on in the background; an empty turn is any.
	MoveCall(ctx context.Context, sessionID, turnID, callID string) error
	// StopOutput stops the background command that prints an output.
	StopOutput(sessionID, outputID string) error
	// EndBackground stops all background commands of a session.
	EndBackground(sessionID string)
	// Decide answers a call that waits for somebody, and writes the lines of the
	// audit log, or neither.
	Decide(ctx context.Context, v models.Verdict, audit ...models.AuditEntry) error
	// Wait returns the turn once it rests or waits for somebody, or as it is when most has passed.
	Wait(ctx context.Context, turnID string, most time.Duration) (models.Turn, error)
	// Live is what has come of a running turn, and of background commands, and
	// is not stored yet.
	Live(sessionID string) events.Live
}

// Broker tells of what happens in a session.
type Broker interface {
	// Subscribe begins after the event with that number; false where what came
	// after it is no longer held.
	Subscribe(sessionID string, after int64) (*events.Subscription, bool)
	Publish(e events.Event) events.Event
	Seq(sessionID string) int64
}

// Workspaces holds the folders of sessions.
type Workspaces interface {
	// Copy gives session to the files of session from as they are, within the
	// owner's quota (models.ErrTooLarge).
	Copy(ctx context.Context, owner, from, to string) error
	// Remove deletes a session's folder; one that is not there is no error.
	// What could not be removed is tried again later.
	Remove(ctx context.Context, sessionID string) error
	// Size is the number of bytes in a session's folder; 0 where it has none.
	Size(ctx context.Context, sessionID string) (int64, error)
	// Known is about that number, counted beside the caller: an error where the
	// first count takes longer than ctx allows.
	Known(ctx context.Context, sessionID string) (int64, error)
	// TotalBytes is the number of bytes in all of them.
	TotalBytes(ctx context.Context) (int64, error)
}

// Files reaches what is in workspaces, by paths from the workspace on. What is
// not there is models.ErrNotFound; a path that leads anywhere else is refused.
type Files interface {
	// Open opens a file for reading, or a folder.
	Open(ctx context.Context, sessionID, name string) (*os.File, models.FileInfo, error)
	// Look tells of what stands under a path itself, also of a link.
	Look(ctx context.Context, sessionID, name string) (models.FileInfo, error)
	// List is a page of a folder: folders first, by name.
	List(ctx context.Context, sessionID, folder string, p models.Page) ([]models.FileInfo, string, error)
	// Put writes a file whole, or leaves all as it was. announced is how many bytes
	// are said to come; below 0: nobody said it.
	Put(ctx context.Context, owner, sessionID, name string, content io.Reader, announced int64) error
	// Add is Put of a new file under a name that a browser sends, or one like it
	// that is free, and returns its path.
	Add(ctx context.Context, owner, sessionID, folder, name string, content io.Reader, announced int64) (string, error)
	// Remove deletes a file, or a folder with all that is in it.
	Remove(ctx context.Context, owner, sessionID, name string) error
}

// Remover removes sessions.
type Remover interface {
	// Remove ends what runs in a session and removes it with its outputs and
	// files, whether or not ctx ends. reason is told to the browsers that have it
	// open; deed is what the audit log says.
	Remove(ctx context.Context, sessionID, reason string, deed models.AuditEntry) error
}

// Retention tells of the policy by which sessions go by themselves.
type Retention interface {
	Policy() models.RetentionPolicy
	// LastSweep is false where there was none since the start.
	LastSweep() (models.RetentionSweep, bool)
}

// SkillFact is a skill, or a folder that was to be one.
type SkillFact struct {
	Name        string
	Description string
	Why         string // it cannot be used; empty: it can
}

// Servers are the configured servers of tools.
type Servers interface {
	Status() []models.ToolServer
	// Restart begins to start a server anew; it is models.ErrNotFound where there
	// is none of that name.
	Restart(name string) error
}

// Dumps reads what was written down of requests that providers refused.
type Dumps interface {
	// List is newest first.
	List() ([]models.Dump, error)
	// Open reads one; it is models.ErrNotFound where it is not there any more.
	Open(name string) (models.Dump, io.ReadCloser, error)
	// OfTurn is the last one of a turn, by its name and path.
	OfTurn(turnID string) (models.Dump, bool)
}

// WebSessions keeps who is signed in.
type WebSessions interface {
	scs.Store
	// Bind begins the sign-in of a token; ErrUnauthorized where the user's
	// password was changed, or they were disabled, since user was read.
	Bind(ctx context.Context, token string, user models.User) error
	// DeleteForUser signs a user out everywhere.
	DeleteForUser(ctx context.Context, userID string) error
}

// Markdown renders a whole message as safe HTML.
type Markdown func(text string) string
