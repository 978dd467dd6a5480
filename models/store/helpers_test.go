package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"offcut/models"
)

// start is the time at which the stories of the tests begin.
var start = time.Date(2026, 3, 1, 9, 30, 0, 123_456_000, time.UTC)

func open(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s, err := Open(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openNew opens a store with the users ann, bob, and root, who is an admin;
// their ids are their names.
func openNew(t testing.TB) *Store {
	t.Helper()
	s := open(t, t.TempDir(), Options{})
	addUsers(t, s)
	return s
}

func addUsers(t testing.TB, s *Store) {
	t.Helper()
	for i, name := range []string{"ann", "bob", "root"} {
		role := models.RoleUser
		if name == "root" {
			role = models.RoleAdmin
		}
		must(t, s.CreateUser(t.Context(), models.User{ID: name, Name: name, Role: role, CreatedAt: later(i)}))
	}
}

// later is n seconds after the start.
func later(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// got is for calls that return a value and an error: got(s.Session(...))(t).
func got[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return value
	}
}

// wantKind checks that err is of a kind and a code, and reads as a sentence.
func wantKind(t testing.TB, err, kind error, code string) {
	t.Helper()
	var told *models.Error
	if !errors.Is(err, kind) || !errors.As(err, &told) {
		t.Fatalf("error is %v, want one of kind %v", err, kind)
	}
	if told.Code != code {
		t.Errorf("code is %q, want %q", told.Code, code)
	}
}

func addSession(t testing.TB, s *Store, owner, id string, at time.Time) {
	t.Helper()
	must(t, s.CreateSession(t.Context(), models.Session{ID: id, OwnerID: owner, CreatedAt: at}))
}

// send queues a message to a session of ann.
func send(t testing.TB, s *Store, session, content string, at time.Time) models.Turn {
	t.Helper()
	turn, _, _, err := s.Enqueue(t.Context(), models.NewTurn{SessionID: session, OwnerID: "ann", Content: content, Now: at})
	must(t, err)
	return turn
}

// run queues and starts a turn.
func run(t testing.TB, s *Store, session, content string, at time.Time) models.Turn {
	t.Helper()
	return got(s.StartTurn(t.Context(), send(t, s, session, content, at).ID, at))(t)
}

// say appends an answer of the agent, with calls of these ids.
func say(t testing.TB, s *Store, turn models.Turn, content string, calls ...string) models.Message {
	t.Helper()
	m := models.Message{SessionID: turn.SessionID, TurnID: turn.ID, Role: models.RoleAssistant, Content: content, State: models.StateDone, CreatedAt: start}
	for _, id := range calls {
		m.ToolCalls = append(m.ToolCalls, models.ToolCall{ID: id, Name: "run_command", Arguments: `{"command":"ls"}`})
	}
	return got(s.AppendMessage(t.Context(), m))(t)
}

func toolMessage(turn models.Turn, callID, content string) models.Message {
	return models.Message{
		SessionID: turn.SessionID, TurnID: turn.ID, Role: models.RoleTool, Content: content, ToolCallID: callID,
		Metadata: &models.ResultMetadata{ExitCode: models.Ptr(0)}, State: models.StateDone, CreatedAt: start,
	}
}

func reply(t testing.TB, s *Store, turn models.Turn, callID, content string) {
	t.Helper()
	must(t, s.AppendResults(t.Context(), []models.Message{toolMessage(turn, callID, content)}))
}

// shows appends a reply that proves that the model was shown these ranges.
func shows(t testing.TB, s *Store, turn models.Turn, reads ...models.OutputRead) {
	t.Helper()
	m := models.Message{SessionID: turn.SessionID, TurnID: turn.ID, Role: models.RoleAssistant, State: models.StateDone, CreatedAt: start}
	got(s.AppendReply(t.Context(), m, models.Proof{Reads: reads}))(t)
}

func finish(t testing.TB, s *Store, turn models.Turn, state models.State, at time.Time) {
	t.Helper()
	turn.State, turn.EndedAt = state, &at
	must(t, s.FinishTurn(t.Context(), turn))
}

// keep stores an ended output with this text.
func keep(t testing.TB, s *Store, session, id string, text []byte) models.RetainedOutput {
	t.Helper()
	o := models.RetainedOutput{ID: id, SessionID: session, CallID: "call_" + id, Tool: "run_command", Title: "make", Running: true, CreatedAt: start}
	must(t, s.CreateOutput(t.Context(), o))
	o.Running, o.Complete = false, true
	o.TotalBytes, o.CapturedBytes, o.EndedAt = int64(len(text)), int64(len(text)), models.Ptr(later(1))
	must(t, s.WriteOutput(t.Context(), o, models.OutputWrite{Text: text}))
	return o
}

// contents are the contents of messages, with the state of those not done.
func contents(messages []models.Message) []string {
	var list []string
	for _, m := range messages {
		text := m.Content
		if m.State != models.StateDone {
			text = fmt.Sprintf("%s (%s)", text, m.State)
		}
		list = append(list, text)
	}
	return list
}

// all follows a list's cursor to its end by pages of limit.
func all[T any](t testing.TB, limit int, list func(context.Context, models.Page) ([]T, string, error)) []T {
	t.Helper()
	var items []T
	page := models.Page{Limit: limit}
	for {
		more, next, err := list(t.Context(), page)
		must(t, err)
		if len(more) > limit {
			t.Fatalf("a page of %d has %d rows", limit, len(more))
		}
		items = append(items, more...)
		if next == "" {
			return items
		}
		page.Cursor = next
	}
}
