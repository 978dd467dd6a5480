package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"offcut/models"

	gocmp "github.com/google/go-cmp/cmp"
	"gorm.io/gorm"
)

// calls appends a call of a tool and its result, of which a copy of total bytes
// is kept under "out_" and the call's id where total is not 0.
func calls(t testing.TB, s *Store, turn models.Turn, id, tool, arguments string, total int64, meta models.ResultMetadata) {
	t.Helper()
	call := models.ToolCall{ID: id, Name: tool, Arguments: arguments}
	got(s.AppendMessage(t.Context(), models.Message{
		SessionID: turn.SessionID, TurnID: turn.ID, Role: models.RoleAssistant, ToolCalls: []models.ToolCall{call}, State: models.StateDone, CreatedAt: *turn.StartedAt,
	}))(t)
	if total > 0 {
		keep(t, s, turn.SessionID, "out_"+id, make([]byte, total))
		meta.Truncated, meta.Retention = true, models.RetentionKept
		meta.OutputID, meta.TotalBytes = "out_"+id, &total
	}
	result := toolMessage(turn, id, "0123456789")
	result.Metadata, result.CreatedAt = &meta, *turn.StartedAt
	must(t, s.AppendResults(t.Context(), []models.Message{result}))
}

// asks starts a turn of a model.
func asks(t testing.TB, s *Store, session, model string, at time.Time) models.Turn {
	t.Helper()
	turn := run(t, s, session, "go", at)
	turn.Model = model
	must(t, s.SaveTurn(t.Context(), turn))
	return turn
}

func readsLater(turn models.Turn, id string, kind models.ReadKind, from, to int64) models.OutputRead {
	return models.OutputRead{OutputID: "out_" + id, TurnID: turn.ID, CallID: "r", Kind: kind, Range: models.Range{Start: from, End: to}, At: start}
}

func proves(t testing.TB, s *Store, turn models.Turn, proof models.Proof) {
	t.Helper()
	m := models.Message{SessionID: turn.SessionID, TurnID: turn.ID, Role: models.RoleAssistant, State: models.StateDone, CreatedAt: start}
	got(s.AppendReply(t.Context(), m, proof))(t)
}

func TestWhatBecameOfResultsIsSummedAndOutlivesItsSessions(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	turn := asks(t, s, "s", "small", start)
	shown := []models.Range{{Start: 0, End: 100}, {Start: 900, End: 1000}}
	calls(t, s, turn, "whole", "read_file", `{"path":"a"}`, 0, models.ResultMetadata{})
	calls(t, s, turn, "cut", "run_command", `{"command":"make"}`, 1000, models.ResultMetadata{Shown: shown, OmittedBytes: models.Ptr(int64(50)), Complete: models.Ptr(false)})
	calls(t, s, turn, "again", "run_command", `{"timeout_s":9,"command":"make"}`, 0, models.ResultMetadata{ArgumentsTruncated: true})
	calls(t, s, turn, "lost", "run_command", `{"command":"ls"}`, 0, models.ResultMetadata{
		Truncated: true, Retention: models.RetentionFailed,
		Passage: &models.Passage{Produced: 500, Captured: 500, Retained: 20, Shown: 20},
	})
	calls(t, s, turn, "made up", "frobnicate", `{}`, 0, models.ResultMetadata{IsError: true, UnknownTool: true})
	calls(t, s, turn, "search", "search_tool_output", `{"output_id":"out_cut"}`, 0, models.ResultMetadata{})
	proves(t, s, turn, models.Proof{
		Reads: []models.OutputRead{
			readsLater(turn, "cut", models.ReadPreview, 0, 100), readsLater(turn, "cut", models.ReadPage, 50, 200), // 50 of it were shown
			readsLater(turn, "cut", models.ReadSearch, 150, 210), readsLater(turn, "cut", models.ReadPage, 950, 1000),
		},
		Sent: map[string]int64{"cut": models.SentWhole, "whole": 4, "lost": 5000},
	})
	turn.Continuations, turn.Retries, turn.ErrorCode = 3, 2, models.CodeOutputLimit
	finish(t, s, turn, models.StateError, later(1))
	got(s.ForkSession(ctx, "ann", "s", "", later(2)))(t)
	must(t, s.DeleteSession(ctx, "s"))

	list := func(by models.FiguresBy, q models.FiguresQuery) []models.Figures {
		return all(t, 1, func(ctx context.Context, p models.Page) ([]models.Figures, string, error) {
			return s.Figures(ctx, models.FiguresList{FiguresQuery: q, By: by, Page: p})
		})
	}
	want := []models.Figures{
		{Continuations: 3, Retries: 2, CapHits: 1},
		{Tool: models.OtherTools, Calls: 1, Produced: 10, Captured: 10, Retained: 10, Shown: 10, Sent: 10},
		{Tool: "read_file", Calls: 1, Produced: 10, Captured: 10, Retained: 10, Shown: 10, Sent: 4},
		{
			Tool: "run_command", Calls: 3, Truncated: 2, Produced: 1050 + 10 + 500, Captured: 1050 + 10 + 500, Retained: 1000 + 10 + 20,
			Shown: 200 + 10 + 20, Sent: 200 + 10 + 20, Recovered: 110, Consulted: 1, Reruns: 1, Incomplete: 1, FailedSaves: 1, Repaired: 1,
		},
		{Tool: "search_tool_output", Calls: 1, Produced: 10, Captured: 10, Retained: 10, Shown: 10, Sent: 10},
	}
	byTool := list(models.FiguresByTool, models.FiguresQuery{})
	if diff := gocmp.Diff(want, byTool); diff != "" {
		t.Errorf("the sums by tool (-want +got):\n%s", diff)
	}
	for what, sums := range map[string][]models.Figures{
		"by day": list(models.FiguresByDay, models.FiguresQuery{From: start, To: start}), "ever": got(s.FiguresEver(ctx))(t),
	} {
		for i := range sums {
			sums[i].Day, sums[i].Model = "", ""
		}
		if diff := gocmp.Diff(want, sums); diff != "" {
			t.Errorf("the sums %s (-want +got):\n%s", what, diff)
		}
	}
	if none := list(models.FiguresByDay, models.FiguresQuery{From: start.AddDate(0, 0, 1)}); len(none) != 0 {
		t.Errorf("of the day after there is %+v", none)
	}
	total := got(s.FiguresTotal(ctx, models.FiguresQuery{Tool: "run_command", Model: "small"}))(t)
	days := got(s.FiguresByDays(ctx, models.FiguresQuery{Tool: "run_command"}))(t)
	if len(days) != 1 || days[0].Day != "2026-03-01" || days[0].Calls != total.Calls || total.Hidden() != 1330 {
		t.Errorf("of one tool there are %+v and in all %+v", days, total)
	}
}

// A page of a longer file is what was asked for; one of which the preview left
// something out is not all of it.
func TestAPageOfAFileIsNotCut(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := asks(t, s, "s", "small", start)
	page := models.ResultMetadata{Truncated: true, FileHasMore: models.Ptr(true), Reasons: []models.Reason{models.ReasonPreview}}
	calls(t, s, turn, "page", "read_file", `{"path":"a"}`, 0, page)
	calls(t, s, turn, "long", "read_file", `{"path":"b"}`, 1000, page)
	if total := got(s.FiguresTotal(t.Context(), models.FiguresQuery{}))(t); total.Calls != 2 || total.Truncated != 1 {
		t.Errorf("%+v", total)
	}
}

// However often the end of a turn is stored, its answer counts once; so does that of
// a fork, which is the original's.
func TestAnAnswerIsCountedOnceByWhatItRestsOn(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	for i, footing := range []models.Footing{
		{}, {Answered: true}, {Answered: true, Unread: true, GapNamed: true}, {Answered: true, Unread: true, Doubted: true},
	} {
		turn := asks(t, s, "s", "small", later(i))
		turn.Footing = footing
		finish(t, s, turn, models.StateDone, later(i))
		finish(t, s, turn, models.StateDone, later(i))
		if stored := got(s.AnyTurn(t.Context(), turn.ID))(t); stored.Footing != footing {
			t.Errorf("%+v is stored as %+v", footing, stored.Footing)
		}
	}
	got(s.ForkSession(t.Context(), "ann", "s", "", later(9)))(t)
	total := got(s.FiguresTotal(t.Context(), models.FiguresQuery{Model: "small"}))(t)
	if total.Answers != 3 || total.Unread != 2 || total.GapsNamed != 1 || total.Doubted != 1 {
		t.Errorf("%+v", total)
	}
}

func TestACopyThatLacksBytesIsCountedOnce(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := asks(t, s, "s", "small", start)
	lacks := models.ResultMetadata{Complete: models.Ptr(false)}
	calls(t, s, turn, "log", "run_command", `{"command":"make"}`, 1000, lacks)
	calls(t, s, turn, "page", "read_tool_output", `{"output_id":"out_log"}`, 0, lacks)
	calls(t, s, turn, "hits", "search_tool_output", `{"output_id":"out_log"}`, 0, lacks)
	if total := got(s.FiguresTotal(t.Context(), models.FiguresQuery{}))(t); total.Incomplete != 1 {
		t.Errorf("one copy that was read twice counts as %d", total.Incomplete)
	}
}

func TestWhatIsAskedAgainIsWhatNothingHasChangedSince(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	reruns := func() int64 {
		return got(s.FiguresTotal(t.Context(), models.FiguresQuery{Tool: "run_command"}))(t).Reruns
	}
	turn := asks(t, s, "s", "small", start)
	calls(t, s, turn, "first", "run_command", `{"command":"make"}`, 1000, models.ResultMetadata{})
	calls(t, s, turn, "write", "write_file", `{"path":"a"}`, 0, models.ResultMetadata{})
	calls(t, s, turn, "built", "run_command", `{"command":"make"}`, 1000, models.ResultMetadata{})
	if n := reruns(); n != 0 {
		t.Errorf("after a file was written, %d were asked again", n)
	}
	calls(t, s, turn, "tail", "run_command", `{"command":"make | tail -5"}`, 0, models.ResultMetadata{})
	if n := reruns(); n != 1 {
		t.Errorf("after the end of a cut output was asked for, %d were asked again", n)
	}

	// In another version of the turn nothing was asked before.
	finish(t, s, turn, models.StateDone, later(1))
	must(t, s.write(t.Context(), "hide", func(tx *gorm.DB) error { return tx.Exec("UPDATE turns SET shown = 0 WHERE id = ?", turn.ID).Error }))
	retry := asks(t, s, "s", "small", later(2))
	calls(t, s, retry, "retried", "run_command", `{"command":"make"}`, 1000, models.ResultMetadata{})
	if n := reruns(); n != 1 {
		t.Errorf("after a retry, %d were asked again", n)
	}
}

func TestTheNamesOfToolsAreBounded(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := asks(t, s, "s", "small", start)
	for i := range maxFigureTools + 5 {
		calls(t, s, turn, fmt.Sprint("c", i), fmt.Sprint("tool_", i), `{}`, 0, models.ResultMetadata{})
	}
	ever := got(s.FiguresEver(t.Context()))(t)
	others := slices.IndexFunc(ever, func(f models.Figures) bool { return f.Tool == models.OtherTools })
	if len(ever) != maxFigureTools+1 || others < 0 || ever[others].Calls != 5 {
		t.Errorf("there are the figures of %d tools", len(ever))
	}
}

// Whatever is stored, read, sent and pruned, in whatever order: the figures of
// every result add up, and the sums are those of the results.
func TestTheSumsHoldOfRandomResults(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	random := rand.New(rand.NewPCG(3, 4))
	tools, askable := []string{"run_command", "read_file", "grep"}, []string{"small", "large"}
	type kept struct {
		id     string
		total  int64
		hidden []models.Range
		read   []models.Range
	}
	for session := range 4 {
		id := fmt.Sprint("s", session)
		addSession(t, s, "ann", id, start)
		var copies []kept
		turn := asks(t, s, id, askable[session%2], start.AddDate(0, 0, session%3))
		for i := range 25 {
			c := kept{id: fmt.Sprintf("%s_%d", id, i), total: random.Int64N(300)}
			meta := models.ResultMetadata{Retention: models.RetentionNotNeeded}
			for range random.IntN(3) {
				if c.total > 0 {
					from := random.Int64N(c.total)
					meta.Shown = append(meta.Shown, models.Range{Start: from, End: from + random.Int64N(c.total-from+1)})
				}
			}
			calls(t, s, turn, c.id, tools[random.IntN(3)], fmt.Sprintf(`{"n":%d}`, random.IntN(9)), c.total, meta)
			c.hidden = models.Subtract([]models.Range{{End: c.total}}, meta.Shown)
			copies = append(copies, c)
			at := random.IntN(len(copies))
			proof := models.Proof{Sent: map[string]int64{copies[at].id: random.Int64N(60) - 1}}
			if total := copies[at].total; total > 0 {
				from := random.Int64N(total)
				r := readsLater(turn, copies[at].id, models.ReadPage, from, from+random.Int64N(total-from+1))
				proof.Reads, copies[at].read = append(proof.Reads, r), append(copies[at].read, r.Range)
			}
			proves(t, s, turn, proof)
		}
		for _, c := range copies {
			var row passageRow
			must(t, s.readers.Where("session_id = ? AND call_id = ?", id, c.id).Take(&row).Error)
			p := models.Passage{Produced: row.Produced, Captured: row.Captured, Retained: row.Retained, Shown: row.Shown, Sent: row.Sent}
			for i, l := range p.Layers()[:6] {
				if l.Hidden() < 0 || (i > 0 && l.In != p.Layers()[i-1].Out) {
					t.Fatalf("the layers of %s: %+v", c.id, p.Layers())
				}
			}
			recovered := models.Length(models.Intersect(c.hidden, c.read))
			if c.total > 0 && (p.Hidden() != models.Length(c.hidden) || row.Recovered != recovered) {
				t.Fatalf("of %+v are hidden %d, and read later %d, want %d", c, p.Hidden(), row.Recovered, recovered)
			}
		}
	}
	sum := `count(*) AS calls, sum(truncated) AS truncated, sum(produced) AS produced, sum(captured) AS captured, sum(retained) AS retained,
		sum(shown) AS shown, sum(coalesce(sent, shown)) AS sent, sum(recovered) AS recovered, sum(consulted) AS consulted, sum(rerun) AS reruns`
	summed := got(s.sums(ctx, "SELECT day, tool, model, "+sum+" FROM passages GROUP BY 1, 2, 3 ORDER BY day DESC, 2, 3"))(t)
	listed, _, err := s.Figures(ctx, models.FiguresList{By: models.FiguresByDay, Page: models.Page{Limit: models.MaxPageLimit}})
	must(t, err)
	if diff := gocmp.Diff(summed, listed); diff != "" || len(listed) < 6 {
		t.Errorf("the results sum up to (-), and the figures are (+):\n%s", diff)
	}
	if slices.IndexFunc(listed, func(f models.Figures) bool { return f.Reruns > 0 && f.Recovered > 0 }) < 0 {
		t.Error("the random results tell nothing")
	}
}
