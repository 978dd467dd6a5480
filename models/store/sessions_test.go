package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"offcut/models"
)

func TestASessionIsReadAsItWasWritten(t *testing.T) {
	s := openNew(t)
	want := models.Session{
		ID: "s", OwnerID: "ann", OwnerName: "ann", Title: "Größe “ж” 数", Model: "m-1", Archived: true, Pinned: true,
		ForkedFrom: "r", CreatedAt: start, UpdatedAt: later(3),
	}
	must(t, s.CreateSession(t.Context(), want))
	if read := got(s.Session(t.Context(), "ann", "s"))(t); read != want {
		t.Errorf("read  %+v\nwrote %+v", read, want)
	}
	err := s.CreateSession(t.Context(), models.Session{ID: "x", OwnerID: "nobody"})
	wantKind(t, err, models.ErrNotFound, "user_not_found")
}

func TestWhatIsAnothersIsNotFound(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "other", start)
	turn := run(t, s, "s", "hello", start)
	answer := say(t, s, turn, "", "call")
	keep(t, s, "s", "out", []byte("kept"))

	for name, try := range map[string]struct {
		code string
		do   func() error
	}{
		"session":           {"session_not_found", func() error { _, err := s.Session(ctx, "bob", "s"); return err }},
		"session, no owner": {"session_not_found", func() error { _, err := s.Session(ctx, "", "s"); return err }},
		"change session": {"session_not_found", func() error {
			_, err := s.UpdateSession(ctx, "bob", "s", models.SessionPatch{Pinned: models.Ptr(true)}, start)
			return err
		}},
		"change nothing": {"session_not_found", func() error { _, err := s.UpdateSession(ctx, "bob", "s", models.SessionPatch{}, start); return err }},
		"fork session":   {"session_not_found", func() error { _, err := s.ForkSession(ctx, "bob", "s", "", start); return err }},
		"send to session": {"session_not_found", func() error {
			_, _, _, err := s.Enqueue(ctx, models.NewTurn{SessionID: "s", OwnerID: "bob"})
			return err
		}},
		"turn":              {"turn_not_found", func() error { _, err := s.Turn(ctx, "bob", turn.ID); return err }},
		"turn, no owner":    {"turn_not_found", func() error { _, err := s.Turn(ctx, "", turn.ID); return err }},
		"transcript":        {"turn_not_found", func() error { _, err := s.Transcript(ctx, "other", turn.ID); return err }},
		"message":           {"message_not_found", func() error { _, err := s.Message(ctx, "other", answer.ID); return err }},
		"fork at a message": {"message_not_found", func() error { _, err := s.ForkSession(ctx, "ann", "other", answer.ID, start); return err }},
		"call":              {"call_not_found", func() error { _, _, err := s.Call(ctx, "other", "call"); return err }},
		"output":            {"output_not_found", func() error { _, err := s.Output(ctx, "other", "out"); return err }},
		"output by call":    {"output_not_found", func() error { _, err := s.OutputByCall(ctx, "other", "call_out"); return err }},
		"output's bytes":    {"output_not_found", func() error { _, err := s.ReadOutput(ctx, "other", "out", models.StreamText, 0, 9); return err }},
		"output's reads":    {"output_not_found", func() error { _, err := s.Reads(ctx, "other", "out", 9); return err }},
		"output's coverage": {"output_not_found", func() error { _, err := s.Coverage(ctx, "other", "out"); return err }},
		"write output": {"output_not_found", func() error {
			return s.WriteOutput(ctx, models.RetainedOutput{SessionID: "other", ID: "out"}, models.OutputWrite{})
		}},
		"delete output": {"output_not_found", func() error { return s.DeleteOutput(ctx, "other", "out", start) }},
		"drop output":   {"output_not_found", func() error { return s.DropOutput(ctx, "other", "out") }},
		"append to a turn": {"turn_not_found", func() error {
			_, err := s.AppendMessage(ctx, models.Message{SessionID: "other", TurnID: turn.ID, Role: models.RoleAssistant})
			return err
		}},
		"save a message":     {"message_not_found", func() error { answer.SessionID = "other"; return s.SaveMessage(ctx, answer) }},
		"an id nobody had":   {"output_not_found", func() error { _, err := s.Output(ctx, "s", "out_never"); return err }},
		"delete what is not": {"session_not_found", func() error { return s.DeleteSession(ctx, "never") }},
	} {
		t.Run(name, func(t *testing.T) { wantKind(t, try.do(), models.ErrNotFound, try.code) })
	}

	if list, _, err := s.Sessions(ctx, models.SessionQuery{OwnerID: "bob"}); err != nil || len(list) != 0 {
		t.Errorf("bob sees %v, %v", list, err)
	}
	if turns := got(s.Turns(ctx, "other", []string{turn.ID}))(t); len(turns) != 0 {
		t.Errorf("the other session has turns %v", turns)
	}
	if read := got(s.ReadOutput(ctx, "s", "out", models.StreamText, 0, 9))(t); string(read) != "kept" {
		t.Errorf("the output was changed to %q", read)
	}
}

func TestSessionsArePagedPinnedFirstThenByLastUse(t *testing.T) {
	s := openNew(t)
	for i := range 13 {
		must(t, s.CreateSession(t.Context(), models.Session{
			ID: fmt.Sprintf("s%02d", i), OwnerID: "ann", Pinned: i%5 == 0, Archived: i == 7,
			CreatedAt: start, UpdatedAt: later(i / 3), // three share each time
		}))
	}
	addSession(t, s, "bob", "b", later(99))
	want := strings.Fields("s10 s05 s00 s12 s11 s09 s08 s07 s06 s04 s03 s02 s01")

	for limit := 1; limit <= 14; limit++ {
		if ids := sessionIDs(t, s, limit, models.SessionQuery{OwnerID: "ann"}); !slices.Equal(ids, want) {
			t.Errorf("by pages of %d: %v, want %v", limit, ids, want)
		}
	}
	for name, test := range map[string]struct {
		query models.SessionQuery
		want  string
	}{
		"of all owners":         {models.SessionQuery{}, "s10 s05 s00 b s12 s11 s09 s08 s07 s06 s04 s03 s02 s01"},
		"archived":              {models.SessionQuery{OwnerID: "ann", Archived: models.Ptr(true)}, "s07"},
		"archived of all":       {models.SessionQuery{Archived: models.Ptr(true)}, "s07"},
		"of all, not archived":  {models.SessionQuery{Archived: models.Ptr(false)}, "s10 s05 s00 b s12 s11 s09 s08 s06 s04 s03 s02 s01"},
		"of ann, not archived":  {models.SessionQuery{OwnerID: "ann", Archived: models.Ptr(false)}, "s10 s05 s00 s12 s11 s09 s08 s06 s04 s03 s02 s01"},
		"one of them":           {models.SessionQuery{OwnerID: "ann", ID: "s05"}, "s05"},
		"one of another":        {models.SessionQuery{OwnerID: "ann", ID: "b"}, ""},
		"of nobody in the list": {models.SessionQuery{OwnerID: "root"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if ids := sessionIDs(t, s, 4, test.query); strings.Join(ids, " ") != test.want {
				t.Errorf("listed %v, want %s", ids, test.want)
			}
		})
	}
}

func sessionIDs(t *testing.T, s *Store, limit int, q models.SessionQuery) []string {
	t.Helper()
	var ids []string
	for _, session := range all(t, limit, func(ctx context.Context, p models.Page) ([]models.Session, string, error) {
		q.Page = p
		return s.Sessions(ctx, q)
	}) {
		ids = append(ids, session.ID)
	}
	return ids
}

func TestSessionsAreFoundByTheirTitle(t *testing.T) {
	s := openNew(t)
	for id, title := range map[string]string{"a": "Deploy 100% now", "b": "deploy 1000", "c": "a_b", "d": "axb"} {
		must(t, s.CreateSession(t.Context(), models.Session{ID: id, OwnerID: "ann", Title: title, CreatedAt: start}))
	}
	for text, want := range map[string]string{"DEPLOY": "b a", "100%": "a", "a_b": "c", `\`: "", "": "d c b a"} {
		if ids := sessionIDs(t, s, 50, models.SessionQuery{OwnerID: "ann", Text: text}); strings.Join(ids, " ") != want {
			t.Errorf("%q finds %v, want %s", text, ids, want)
		}
	}
}

func TestCursorsThatAreNotOursAreRefused(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	for _, cursor := range []string{
		"x", "!!!", "bnVsbA", encodeCursor("outputs", int64(1)), encodeCursor("sessions"), encodeCursor("sessions", "1", 2, "3"),
		encodeCursor("sessions", 1, 2, 3), encodeCursor("sessions", 1, 2, "3", 4), encodeCursor("sessions", nil, nil, nil),
		strings.Repeat("A", 100_000),
	} {
		page := models.Page{Cursor: cursor}
		_, _, err := s.Sessions(ctx, models.SessionQuery{Page: page})
		wantKind(t, err, models.ErrMalformed, "invalid_cursor")
		_, _, err = s.Messages(ctx, models.MessageQuery{Page: page})
		wantKind(t, err, models.ErrMalformed, "invalid_cursor")
		_, _, err = s.Users(ctx, page)
		wantKind(t, err, models.ErrMalformed, "invalid_cursor")
		_, _, err = s.Audit(ctx, models.AuditQuery{Page: page})
		wantKind(t, err, models.ErrMalformed, "invalid_cursor")
	}
	_, _, err := s.Outputs(ctx, "s", models.Page{Cursor: encodeCursor("audit", 1)})
	wantKind(t, err, models.ErrMalformed, "invalid_cursor")
}

func TestASessionRunsWhileATurnWaitsOrRuns(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	running := func() bool {
		listed, _, err := s.Sessions(t.Context(), models.SessionQuery{OwnerID: "ann"})
		must(t, err)
		if one := got(s.Session(t.Context(), "ann", "s"))(t); one.Running != listed[0].Running {
			t.Errorf("the list says %v, the session %v", listed[0].Running, one.Running)
		}
		return listed[0].Running
	}
	if running() {
		t.Error("runs without a turn")
	}
	turn := send(t, s, "s", "hi", start)
	if !running() {
		t.Error("does not run with a queued turn")
	}
	turn = got(s.StartTurn(t.Context(), turn.ID, start))(t)
	turn.State = models.StateAwaitingApproval
	must(t, s.SaveTurn(t.Context(), turn))
	if !running() {
		t.Error("does not run with a turn that awaits approval")
	}
	finish(t, s, turn, models.StateDone, later(5))
	if running() {
		t.Error("runs with a turn that is done")
	}
}

func TestChangingASession(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)

	if !got(s.TitleSession(ctx, "s", "First"))(t) || got(s.TitleSession(ctx, "s", "Second"))(t) {
		t.Error("a title comes by itself once")
	}
	session := got(s.UpdateSession(ctx, "ann", "s", models.SessionPatch{}, later(5)))(t)
	if session.Title != "First" || !session.UpdatedAt.Equal(start) {
		t.Errorf("an empty patch made it %+v", session)
	}
	session = got(s.UpdateSession(ctx, "ann", "s", models.SessionPatch{
		Title: models.Ptr("T"), Archived: models.Ptr(true), Pinned: models.Ptr(true), Model: models.Ptr("m"),
	}, later(5)))(t)
	want := models.Session{ID: "s", OwnerID: "ann", OwnerName: "ann", Title: "T", Model: "m", Archived: true, Pinned: true, CreatedAt: start, UpdatedAt: later(5)}
	if session != want {
		t.Errorf("changed to %+v, want %+v", session, want)
	}
	if got(s.AnySession(ctx, "s"))(t) != want {
		t.Error("the change was not stored")
	}
}

func TestStatsOfSessions(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "bob", "empty", start)
	turn := run(t, s, "s", "hi", start)
	say(t, s, turn, "hello")
	keep(t, s, "s", "o1", make([]byte, 100_000))
	keep(t, s, "s", "o2", make([]byte, 50))
	must(t, s.DeleteOutput(t.Context(), "s", "o2", later(1)))

	stats, next, err := s.SessionStats(t.Context(), models.SessionQuery{})
	must(t, err)
	figures := map[string][4]int64{}
	for _, one := range stats {
		figures[one.ID+" of "+one.OwnerName] = [4]int64{int64(one.Messages), int64(one.Outputs), one.OutputBytes, one.Files}
	}
	want := map[string][4]int64{"s of ann": {2, 1, 100_000, -1}, "empty of bob": {0, 0, 0, -1}}
	if !reflect.DeepEqual(figures, want) || next != "" {
		t.Errorf("figures are %v, want %v", figures, want)
	}
}

func TestWhatIsDeletedIsAuditedOrStays(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	keep(t, s, "s", "o", []byte("text"))
	deed := func(action string) models.AuditEntry {
		return models.AuditEntry{At: start, ActorID: "ann", Action: action, Target: "it"}
	}
	must(t, s.writer.Exec("CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'the disk is full'); END").Error)
	if err := s.DeleteOutput(ctx, "s", "o", start, deed("delete output")); err == nil {
		t.Error("an output was deleted without a line in the audit log")
	}
	if err := s.DeleteSession(ctx, "s", deed("delete session")); err == nil {
		t.Error("a session was deleted without a line in the audit log")
	}
	got(s.Session(ctx, "ann", "s"))(t)
	if text := got(s.ReadOutput(ctx, "s", "o", models.StreamText, 0, 9))(t); string(text) != "text" {
		t.Errorf("the output is %q", text)
	}
	must(t, s.writer.Exec("DROP TRIGGER broken").Error)
	must(t, s.DeleteOutput(ctx, "s", "o", start, deed("delete output")))
	must(t, s.DeleteSession(ctx, "s", deed("delete session")))
	entries, _, err := s.Audit(ctx, models.AuditQuery{})
	must(t, err)
	if len(entries) != 2 || entries[0].Action != "delete session" || entries[1].Action != "delete output" {
		t.Errorf("the audit log is %+v", entries)
	}
}

func TestDeletingASessionOfTenThousandMessagesIsOneQuickTransaction(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "stays", start)
	run(t, s, "stays", "hello", start)
	var turn models.Turn
	took := quickest(time.Second, func() time.Duration {
		addSession(t, s, "ann", "s", start)
		turn = run(t, s, "s", "hello", start)
		fill(t, s, turn, 10_000)
		keep(t, s, "s", "o", make([]byte, 3*PieceBytes))

		began := time.Now()
		must(t, s.DeleteSession(t.Context(), "s"))
		return time.Since(began)
	})
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
	must(t, s.Compact(t.Context()))
	for table, want := range map[string]int64{
		"sessions": 1, "turns": 1, "messages": 1, "calls": 0, "outputs": 0, "output_reads": 0, "pieces": 0, "trash": 0,
	} {
		var count int64
		must(t, s.readers.Table(table).Count(&count).Error)
		if count != want {
			t.Errorf("%s has %d rows, want %d", table, count, want)
		}
	}
	wantKind(t, s.SaveTurn(t.Context(), turn), models.ErrNotFound, "turn_not_found")
}

// quickest is the time that the quickest of at most three tries took. One alone
// may have met a busy machine; a try within the limit is the last.
func quickest(limit time.Duration, try func() time.Duration) time.Duration {
	least := try()
	for tries := 1; tries < 3 && least > limit; tries++ {
		least = min(least, try())
	}
	return least
}

// fill adds n messages to a turn, calls and results by turns.
func fill(t testing.TB, s *Store, turn models.Turn, n int) {
	t.Helper()
	messages := make([]models.Message, 0, n)
	for i := range n {
		m := toolMessage(turn, fmt.Sprint("call", i/2), strings.Repeat("result ", 50))
		if i%2 == 0 {
			m.Role, m.ToolCallID, m.Metadata = models.RoleAssistant, "", nil
			m.ToolCalls = []models.ToolCall{{ID: fmt.Sprint("call", i/2), Name: "read_file", Arguments: "{}"}}
		}
		messages = append(messages, m)
	}
	must(t, s.AppendResults(t.Context(), messages))
}
