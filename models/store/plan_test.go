package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"offcut/models"

	"gorm.io/gorm"
)

// statement is one that ran, to be explained.
type statement struct {
	sql  string
	vars []any
}

// watch collects the statements that run on db from now on.
func watch(t testing.TB, db *gorm.DB) func() []statement {
	t.Helper()
	var mu sync.Mutex
	var seen []statement
	note := func(db *gorm.DB) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, statement{db.Statement.SQL.String(), db.Statement.Vars})
	}
	callbacks := db.Callback()
	for _, err := range []error{
		callbacks.Query().After("gorm:query").Register("watch", note),
		callbacks.Row().After("gorm:row").Register("watch", note),
		callbacks.Raw().After("gorm:raw").Register("watch", note),
		callbacks.Update().After("gorm:update").Register("watch", note),
		callbacks.Delete().After("gorm:delete").Register("watch", note),
	} {
		must(t, err)
	}
	return func() []statement {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// Every statement finds its rows through an index, and every list comes in the
// order of one: what it costs does not grow with the table.
func TestNoStatementScansATable(t *testing.T) {
	s := openNew(t)
	must(t, s.Compact(t.Context())) // the first upkeep is over
	read, searched, written := watch(t, s.readers), watch(t, s.seekers), watch(t, s.writer)
	useEverything(t, s)

	statements := slices.Concat(read(), searched(), written())
	if len(statements) < 60 {
		t.Fatalf("only %d statements were seen", len(statements))
	}
	for _, one := range statements {
		if strings.HasPrefix(one.sql, "PRAGMA") {
			continue
		}
		for _, step := range explain(t, s, one) {
			switch {
			case step == "SCAN CONSTANT ROW":
			case strings.HasPrefix(step, "SCAN trash"), strings.HasPrefix(step, "SCAN messages USING INDEX messages_unplaced"): // queues: their first rows are taken
			case step == "SCAN sessions USING INDEX sessions_building": // an index of those alone
			case strings.HasPrefix(step, "SCAN path"): // the turns of one path, which are what is asked for
			case step == "SCAN newest": // one day of each month
			case strings.HasPrefix(step, "SCAN search VIRTUAL TABLE INDEX"): // what the index of words was asked for
			case strings.HasPrefix(step, "SCAN (subquery"): // what was found
			case strings.HasPrefix(step, "SEARCH turns") && strings.HasSuffix(step, " (session_id=?)") && strings.Contains(one.sql, "id IN (?"):
				t.Errorf("%s\n\treads a whole session in %s", step, one.sql)
			case strings.Contains(step, "SCAN"), strings.Contains(step, "TEMP B-TREE FOR ORDER BY") && !sortsAFew(one.sql):
				t.Errorf("%s\n\tin %s", step, one.sql)
			}
		}
	}
}

// untold are the methods that have no statement of their own to explain, and the
// sum over all sessions, which reads the row of each.
var untold = []string{"ReviewTotals", "Close", "Ping", "WebSessions", "FindCtx", "CommitCtx", "DeleteCtx"}

// What useEverything calls is all that there is: a method that it forgets could
// scan whatever it likes.
func TestEveryMethodIsExplained(t *testing.T) {
	source := string(got(os.ReadFile("plan_test.go"))(t))
	body := source[strings.LastIndex(source, "func useEverything("):] + string(got(os.ReadFile("helpers_test.go"))(t))
	for _, of := range []struct {
		kind reflect.Type
		call string
	}{{reflect.TypeFor[*Store](), "s."}, {reflect.TypeFor[*WebSessionStore](), "s.WebSessions()."}} {
		for i := range of.kind.NumMethod() {
			name := of.kind.Method(i).Name
			if !strings.Contains(body, of.call+name+"(") && !slices.Contains(untold, name) {
				t.Errorf("useEverything does not call %s%s", of.call, name)
			}
		}
	}
}

// sortsAFew is true of look-ups by a list of ids, which sort what they found, and
// of sums, of which there are as many as tools.
func sortsAFew(sql string) bool {
	return strings.Contains(sql, "id IN (") || strings.Contains(sql, "GROUP BY tool") || strings.Contains(sql, "GROUP BY model")
}

func explain(t *testing.T, s *Store, one statement) []string {
	t.Helper()
	rows, err := s.readers.Raw("EXPLAIN QUERY PLAN "+one.sql, one.vars...).Rows()
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		must(t, rows.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	must(t, rows.Err())
	return steps
}

// useEverything calls each method that reads or changes rows.
func useEverything(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "one", start)
	m := say(t, s, turn, "", "c1")
	keep(t, s, "s", "o", make([]byte, 10))
	must(t, s.WriteOutput(ctx, models.RetainedOutput{SessionID: "s", ID: "o"}, models.OutputWrite{Text: []byte("x"), SetSpill: true}))
	must(t, s.AppendResults(ctx, []models.Message{toolMessage(turn, "c1", "r")}))
	shows(t, s, turn, models.OutputRead{OutputID: "o", TurnID: turn.ID, Range: models.Range{End: 4}})
	got(s.Replied(ctx, m))(t)
	_, _, heldErr := s.Held(ctx, "s", "c")
	must(t, heldErr)
	m.Shown = false
	got(s.Replied(ctx, m))(t)
	must(t, s.SaveMessage(ctx, m))
	ask(t, s, turn, "asked")
	must(t, s.Lapse(ctx, "s", "asked", start))
	_, _, err := s.Ask(ctx, models.Approval{SessionID: "s", TurnID: turn.ID, CallID: "asked again", Tool: "run_command", CreatedAt: start})
	must(t, err)
	got(s.Waiting(ctx, turn.ID))(t)
	got(s.Approval(ctx, "s", "asked"))(t)
	got(s.Decide(ctx, verdict(turn, "asked again", models.DecisionSession)))(t)
	got(s.Grants(ctx, "s"))(t)
	must(t, s.Revoke(ctx, "s", "run_command", start))
	got(s.NextTurn(ctx, "s"))
	send(t, s, "s", "two", start)
	must(t, s.CreateSignInLink(ctx, models.SignInLink{Hash: "h", UserID: "ann", ExpiresAt: later(1)}))
	must(t, s.CreateToken(ctx, models.APIToken{ID: "t", UserID: "ann", Hash: "h"}))
	must(t, s.AddAuditOnce(ctx, models.AuditEntry{ActorID: "root", Action: "a", Target: "b"}))
	must(t, s.WebSessions().Bind(ctx, "another token", got(s.User(ctx, "ann"))(t)))
	must(t, s.WebSessions().Commit("token", []byte("x"), later(1)))

	_, err = s.UserByTokenHash(ctx, "h")
	must(t, err)
	_, err = s.UseSignInLink(ctx, "h", start)
	must(t, err)
	_, _, err = s.WebSessions().Find("token")
	must(t, err)
	for _, archived := range []*bool{nil, models.Ptr(true)} {
		for _, text := range []string{"x", "word 合计 other"} {
			_, _, err = s.Sessions(ctx, models.SessionQuery{OwnerID: "ann", Archived: archived, Text: text})
			must(t, err)
		}
		for _, owner := range []string{"", "ann"} {
			_, _, err = s.SessionStats(ctx, models.SessionQuery{OwnerID: owner, Archived: archived})
			must(t, err)
		}
	}
	indexAll(t, s)
	for _, text := range []string{"two one", "合计"} {
		got(s.Places(ctx, models.SessionQuery{OwnerID: "ann", Text: text}, []string{"s"}, 3, func(models.Place) {}))(t)
	}
	got(s.Storage(ctx, "ann"))(t)
	for _, newest := range []bool{false, true} {
		for _, versions := range []bool{false, true} {
			_, _, err = s.Messages(ctx, models.MessageQuery{SessionID: "s", Newest: newest, IncludeVersions: versions})
			must(t, err)
		}
	}
	got(s.User(ctx, "ann"))(t)
	got(s.UserByName(ctx, "ann"))(t)
	got(s.Session(ctx, "ann", "s"))(t)
	got(s.UpdateSession(ctx, "ann", "s", models.SessionPatch{Pinned: models.Ptr(true)}, start))(t)
	got(s.Turn(ctx, "ann", turn.ID))(t)
	_, err = s.SentTurn(ctx, models.NewTurn{OwnerID: "ann", SessionID: "s", ClientID: "never"})
	wantKind(t, err, models.ErrNotFound, "turn_not_found")
	page := make([]string, 30) // ids as a page asks for
	got(s.Versions(ctx, "s", append(page, turn.ID)))(t)
	got(s.Turns(ctx, "s", append(page, turn.ID)))(t)
	got(s.Grounds(ctx, "s", append(page, turn.ID)))(t)
	got(s.NextQueued(ctx, "s"))(t)
	got(s.UnrestedSessions(ctx))(t)
	got(s.UnfinishedTurns(ctx, "ann"))(t)
	got(s.TurnsOfDisabled(ctx))(t)
	got(s.Message(ctx, "s", m.ID))(t)
	_, _, err = s.After(ctx, "s", turn.ID)
	must(t, err)
	got(s.MarkSessions(ctx, "ann", []string{"s"}, models.SessionPatch{Archived: models.Ptr(true)}))(t)
	got(s.Transcript(ctx, "s", turn.ID))(t)
	got(s.TurnMessages(ctx, "s", turn.ID))(t)
	got(s.CallIDs(ctx, "s", []string{"c1", "c2"}))(t)
	got(s.OutputByCall(ctx, "s", "call_o"))(t)
	got(s.Output(ctx, "s", "o"))(t)
	got(s.ReadOutput(ctx, "s", "o", models.StreamText, 0, 9))(t)
	got(s.Reads(ctx, "s", "o", 9))(t)
	got(s.Coverage(ctx, "s", "o"))(t)
	got(s.RunningOutputs(ctx))(t)
	got(s.StorageUsed(ctx, "ann"))(t)
	_, _, err = s.Call(ctx, "s", "c1")
	must(t, err)
	_, _, err = s.Users(ctx, models.Page{})
	must(t, err)
	for _, q := range []models.AuditQuery{
		{}, {Actor: "ann"}, {Action: "session"}, {Action: "session.delete"}, {Target: "s"}, {From: start, To: start},
	} {
		_, _, err = s.Audit(ctx, q)
		must(t, err)
	}
	got(s.AuditActions(ctx))(t)
	got(s.FileSizes(ctx))(t)
	for _, order := range []models.SessionOrder{models.ByUse, models.ByMessages, models.ByOutputs, models.ByBytes, models.ByPinned} {
		for _, q := range []models.ReviewQuery{
			{}, {Ascending: true}, {OwnerID: "ann"}, {Text: "x"}, {Archived: models.Ptr(true)}, {UsedBefore: start},
		} {
			q.Order = order
			_, _, err = s.ReviewSessions(ctx, q)
			must(t, err)
		}
	}
	got(s.SessionsByID(ctx, []string{"s", "x"}))(t)
	_, _, err = s.UserStats(ctx, models.Page{})
	must(t, err)
	got(s.Tokens(ctx, "ann"))(t)
	must(t, s.CreateToken(ctx, models.APIToken{ID: "t2", UserID: "ann", Hash: "h2"}))
	must(t, s.DeleteToken(ctx, "ann", "t2"))
	must(t, s.WebSessions().Bind(ctx, "token", got(s.User(ctx, "ann"))(t)))
	got(s.SessionUsage(ctx, "s"))(t)
	got(s.UsageTotal(ctx, models.UsageQuery{Month: "2026-03"}))(t)
	got(s.UsageMonths(ctx))(t)
	for _, q := range []models.UsageQuery{{}, {ByDay: true}, {UserID: "ann"}, {Month: "2026-03", UserID: "ann", ByDay: true}} {
		_, next, err := s.Usage(ctx, q)
		must(t, err)
		q.Cursor = encodeCursor("usage", "2026-03-09", "ann", "m")
		_, _, err = s.Usage(ctx, q)
		if must(t, err); next != "" {
			t.Error("a page of one line goes on")
		}
	}
	got(s.UserWithStats(ctx, "ann"))(t)
	got(s.AnySession(ctx, "s"))(t)
	got(s.AnyTurn(ctx, turn.ID))(t)
	must(t, s.SaveTurn(ctx, turn))
	got(s.BackgroundOutputs(ctx, "s", start))(t)
	must(t, s.LengthenReply(ctx, m.ID, "longer", ""))
	must(t, s.NoteNested(ctx, turn, "c1", models.NestedCall{ID: "nested"}, start))
	must(t, s.AddAudit(ctx, models.AuditEntry{ActorID: "root", Action: "a"}))
	number := got(s.SaveRequest(ctx, models.SentRequest{SessionID: "s", TurnID: turn.ID}, 0, []models.SentPart{{MessageID: m.ID}}))(t)
	must(t, s.SaveRequestTokens(ctx, "s", number, 1))
	got(s.Requests(ctx, "s", 0, 9))(t)
	got(s.Request(ctx, "s", number))(t)
	got(s.SentMessages(ctx, "s", number, 0, 9))(t)
	must(t, s.ImportSession(ctx, models.Session{ID: "imported", OwnerID: "ann"}, talk(2), nil))
	_, _, err = s.Outputs(ctx, "s", models.Page{})
	must(t, err)

	calls(t, s, turn, "cut", "run_command", `{"command":"ls"}`, 9, models.ResultMetadata{})
	calls(t, s, turn, "read", "read_tool_output", `{"output_id":"out_cut"}`, 0, models.ResultMetadata{})
	proves(t, s, turn, models.Proof{
		Reads: []models.OutputRead{readsLater(turn, "cut", models.ReadPage, 2, 4)}, Sent: map[string]int64{"cut": 3, "read": models.SentWhole},
	})
	got(s.Sent(ctx, "s"))(t)
	for _, by := range []models.FiguresBy{models.FiguresByDay, models.FiguresByTool, models.FiguresByModel} {
		_, _, err = s.Figures(ctx, models.FiguresList{FiguresQuery: models.FiguresQuery{From: start, Tool: "run_command"}, By: by})
		must(t, err)
	}
	got(s.FiguresByDays(ctx, models.FiguresQuery{}))(t)
	got(s.FiguresTotal(ctx, models.FiguresQuery{Model: "m"}))(t)
	got(s.FiguresEver(ctx))(t)

	must(t, s.SaveSummary(ctx, models.Summary{SessionID: "s", UptoTurn: turn.ID}))
	got(s.Summaries(ctx, "s", []string{turn.ID}))(t)
	if _, err = s.LastSummary(ctx, "s", turn.ID); !errors.Is(err, models.ErrNotFound) {
		t.Error(err)
	}
	got(s.Rest(ctx, "s", turn.ID, turn.ID))(t)
	got(s.OutputIDs(ctx, "s"))(t)
	must(t, s.SavePrunings(ctx, "s", map[string]int{"c1": 0}))
	got(s.Prunings(ctx, "s"))(t)
	must(t, s.SaveWindow(ctx, models.Window{SessionID: "s", Model: "m", RefusedAt: start}))
	got(s.Window(ctx, "s", "m"))(t)

	_, err = s.TitleSession(ctx, "s", "t")
	must(t, err)
	must(t, s.SetPassword(ctx, "ann", "h"))
	must(t, s.SetSettings(ctx, "ann", models.Settings{}))
	must(t, s.SetTheme(ctx, "ann", models.ThemeDark))
	must(t, s.ResetUser(ctx, models.SignInLink{Hash: "r", UserID: "ann"}, true, true))
	must(t, s.SetRole(ctx, "ann", models.RoleUser))
	must(t, s.SetDisabled(ctx, "ann", true))
	must(t, s.RecordSignIn(ctx, "ann", start))
	got(s.ForkSession(ctx, "ann", "s", m.ID, start))(t)
	must(t, s.RemoveUnbuilt(ctx))
	got(s.RemoveDrafts(ctx, start))(t)
	got(s.RemoveOtherDrafts(ctx, "ann", "s", start))(t)
	must(t, s.Backup(ctx, filepath.Join(t.TempDir(), "backup.db")))
	must(t, s.InterruptRunning(ctx, start, "interrupted"))
	must(t, s.RemoveQueuedTurn(ctx, got(s.NextQueued(ctx, "s"))(t).ID))
	finish(t, s, turn, models.StateDone, start)
	again := retry(t, s, turn)
	must(t, s.RemoveQueuedTurn(ctx, again.ID))
	_, _, err = s.ShowTurn(ctx, "ann", turn.ID)
	must(t, err)
	must(t, s.DeleteOutput(ctx, "s", "o", start))
	must(t, s.WebSessions().DeleteForUser(ctx, "ann"))
	must(t, s.WebSessions().Delete("token"))
	keep(t, s, "s", "o2", make([]byte, 10))
	must(t, s.DropOutput(ctx, "s", "o2"))
	must(t, s.DeleteSession(ctx, "s"))
	must(t, s.Compact(ctx))
}
