package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"offcut/models"
)

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "a\x00b", start)

	for _, m := range []models.Message{
		{
			Role: models.RoleAssistant, Content: "nul \x00 in it", Reasoning: "\x00", ReasoningData: `{"signature":"s"}`, Model: "m", FinishReason: models.FinishToolCalls,
			ToolCalls: []models.ToolCall{{ID: "c1", Name: "run_command", Arguments: `{"command":"pri`}, {ID: "c2", Name: "read_file", Arguments: "\x00"}},
		},
		{Role: models.RoleTool, ToolCallID: "c1", Content: "out\x00put", Metadata: &models.ResultMetadata{Shown: []models.Range{{Start: 0, End: 9}}, ExitCode: models.Ptr(1)}},
		{Role: models.RolePerson, IsMeta: true, Content: "go on 💚 \u2028"},
	} {
		m.SessionID, m.TurnID, m.State, m.CreatedAt = "s", turn.ID, models.StateDone, later(1)
		stored := got(s.AppendMessage(t.Context(), m))(t)
		if stored.ID == "" || stored.Seq == 0 {
			t.Errorf("stored as %+v", stored)
		}
		if read := got(s.Message(t.Context(), "s", stored.ID))(t); !reflect.DeepEqual(read, stored) {
			t.Errorf("read  %+v\nwrote %+v", read, stored)
		}
	}
	first := got(messages(t, s, "s"))(t)[0]
	if first.Content != "a\x00b" {
		t.Errorf("the user's message is %q", first.Content)
	}
}

func TestAQueuedMessageStandsAfterWhatTheRunningTurnStillSays(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "one", start)
	say(t, s, turn, "answer")
	send(t, s, "s", "two", later(1))
	hidden := say(t, s, turn, "hidden")
	must(t, s.writer.Exec("UPDATE messages SET is_meta = 1 WHERE id = ?", hidden.ID).Error)
	say(t, s, turn, "more")

	for name, test := range map[string]struct {
		query models.MessageQuery
		want  []string
	}{
		"all":     {models.MessageQuery{IncludeHidden: true}, []string{"one", "answer", "hidden", "more", "two (queued)"}},
		"visible": {models.MessageQuery{}, []string{"one", "answer", "more", "two (queued)"}},
	} {
		t.Run(name, func(t *testing.T) {
			for limit := 1; limit <= 6; limit++ {
				list := func(newest bool) []string {
					var pages [][]string
					query := test.query
					query.SessionID, query.Newest, query.Limit = "s", newest, limit
					for {
						page, next, err := s.Messages(t.Context(), query)
						must(t, err)
						pages = append(pages, contents(page))
						if next == "" {
							break
						}
						query.Cursor = next
					}
					if newest {
						slices.Reverse(pages)
					}
					return slices.Concat(pages...)
				}
				for _, newest := range []bool{false, true} {
					if now := list(newest); !slices.Equal(now, test.want) {
						t.Errorf("by %d, newest %v: %v, want %v", limit, newest, now, test.want)
					}
				}
			}
		})
	}
}

func TestACursorForwardIsNoneBackward(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	send(t, s, "s", "one", start)
	send(t, s, "s", "two", start)
	query := models.MessageQuery{SessionID: "s", Page: models.Page{Limit: 1}}
	_, next, err := s.Messages(t.Context(), query)
	must(t, err)
	query.Cursor, query.Newest = next, true
	_, _, err = s.Messages(t.Context(), query)
	wantKind(t, err, models.ErrMalformed, "invalid_cursor")
}

func TestTheTranscriptLeavesOutWhatNeverRan(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	first := run(t, s, "s", "one", start)
	say(t, s, first, "answer one")
	finish(t, s, first, models.StateStopped, start) // stopped while it ran: sent
	dropped := send(t, s, "s", "never mind", start)
	must(t, s.RemoveQueuedTurn(t.Context(), dropped.ID))
	second := run(t, s, "s", "two", start)
	third := send(t, s, "s", "three", start)
	say(t, s, second, "answer two")

	for turn, want := range map[string][]string{
		second.ID: {"one", "answer one", "two", "answer two"},
		third.ID:  {"one", "answer one", "two", "answer two", "three (queued)"},
	} {
		if now := contents(got(s.Transcript(t.Context(), "s", turn))(t)); !slices.Equal(now, want) {
			t.Errorf("sent are %v, want %v", now, want)
		}
	}
}

func TestACallAndItsResultAreFoundAndUnique(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "go", start)
	m := say(t, s, turn, "", "c1", "c2")

	call, result, err := s.Call(ctx, "s", "c2")
	if must(t, err); call.ID != "c2" || call.Arguments != `{"command":"ls"}` || result != nil {
		t.Errorf("call is %+v, result %+v", call, result)
	}
	reply(t, s, turn, "c2", "listed")
	if _, result, err = s.Call(ctx, "s", "c2"); err != nil || result.Content != "listed" {
		t.Errorf("result is %+v, %v", result, err)
	}
	used := got(s.CallIDs(ctx, "s", []string{"c1", "c3"}))(t)
	if want := map[string]bool{"c1": true}; !reflect.DeepEqual(used, want) {
		t.Errorf("used are %v", used)
	}

	err = s.AppendResults(ctx, []models.Message{toolMessage(turn, "c1", "x"), toolMessage(turn, "c2", "again")})
	wantKind(t, err, models.ErrConflict, "call_answered")
	if _, result, err = s.Call(ctx, "s", "c1"); err != nil || result != nil {
		t.Errorf("half of the step was stored: %+v, %v", result, err)
	}
	_, err = s.AppendMessage(ctx, models.Message{SessionID: "s", TurnID: turn.ID, Role: models.RoleAssistant, ToolCalls: []models.ToolCall{{ID: "c1"}}})
	wantKind(t, err, models.ErrConflict, "call_id_taken")

	m.ToolCalls = []models.ToolCall{{ID: "c2", Name: "n", Arguments: "{}"}, {ID: "c9", Name: "n", Arguments: "{}"}}
	m.ReasoningData = `{"signature":"s"}`
	must(t, s.SaveMessage(ctx, m))
	if saved := got(s.Message(ctx, "s", m.ID))(t); saved.ReasoningData != m.ReasoningData {
		t.Errorf("the reasoning's data became %q", saved.ReasoningData)
	}
	used = got(s.CallIDs(ctx, "s", []string{"c1", "c2", "c9"}))(t)
	if want := map[string]bool{"c2": true, "c9": true}; !reflect.DeepEqual(used, want) {
		t.Errorf("after a change used are %v", used)
	}
}

func TestForkCopiesWholeStepsOnly(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	must(t, func() error { _, err := s.TitleSession(ctx, "s", "Title"); return err }())
	first := run(t, s, "s", "one", start)
	step := say(t, s, first, "step", "a", "b")
	must(t, s.AppendResults(ctx, []models.Message{toolMessage(first, "a", "result a"), toolMessage(first, "b", "result b")}))
	say(t, s, first, "end")
	first.Usage.InputTokens = 7
	finish(t, s, first, models.StateDone, later(2))
	keep(t, s, "s", "out", []byte("x"))
	second := run(t, s, "s", "two", start)
	say(t, s, second, "whole", "c")
	reply(t, s, second, "c", "result c")
	open := say(t, s, second, "open", "d", "e")
	reply(t, s, second, "d", "result d")
	send(t, s, "s", "three", start)
	all := got(messages(t, s, "s"))(t)

	for name, test := range map[string]struct {
		upto string
		want []string
	}{
		"all of it":           {"", []string{"one", "step", "result a", "result b", "end", "two", "whole", "result c"}},
		"a user's message":    {all[0].ID, []string{"one"}},
		"a step with results": {step.ID, []string{"one", "step", "result a", "result b"}},
		"one of two results":  {all[2].ID, []string{"one", "step", "result a", "result b"}},
		"an open step":        {open.ID, []string{"one", "step", "result a", "result b", "end", "two", "whole", "result c"}},
	} {
		t.Run(name, func(t *testing.T) {
			fork := got(s.ForkSession(ctx, "ann", "s", test.upto, later(50)))(t)
			if fork.ForkedFrom != "s" || fork.Title != "Title" || fork.OwnerID != "ann" || fork.Running {
				t.Errorf("the fork is %+v", fork)
			}
			copied := got(messages(t, s, fork.ID))(t)
			if !slices.Equal(contents(copied), test.want) {
				t.Errorf("copied are %v, want %v", contents(copied), test.want)
			}
			for _, m := range copied {
				if slices.ContainsFunc(all, func(old models.Message) bool { return old.ID == m.ID || old.TurnID == m.TurnID }) {
					t.Errorf("message %s has an old id", m.ID)
				}
				if turn := got(s.Turn(ctx, "ann", m.TurnID))(t); turn.State != models.StateDone || turn.Usage.InputTokens != 0 {
					t.Errorf("the turn is %+v", turn)
				}
			}
			_, err := s.Output(ctx, fork.ID, "out")
			wantKind(t, err, models.ErrNotFound, "output_not_found")
			next, _, _, err := s.Enqueue(ctx, models.NewTurn{SessionID: fork.ID, OwnerID: "ann", Content: "next", Now: later(60)})
			must(t, err)
			if sent := got(s.Transcript(ctx, fork.ID, next.ID))(t); len(sent) != len(test.want)+1 {
				t.Errorf("sent in the fork are %v", contents(sent))
			}
		})
	}
}

func TestAForkKeepsResultsByTheirCall(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "go", start)
	fill(t, s, turn, 1200)
	finish(t, s, turn, models.StateError, start)
	fork := got(s.ForkSession(t.Context(), "ann", "s", "", later(1)))(t)
	if list := all(t, 200, func(ctx context.Context, p models.Page) ([]models.Message, string, error) {
		return s.Messages(ctx, models.MessageQuery{SessionID: fork.ID, Page: p})
	}); len(list) != 1201 {
		t.Errorf("%d messages were copied", len(list))
	}
	for i := range 600 {
		_, result, err := s.Call(t.Context(), fork.ID, fmt.Sprint("call", i))
		if err != nil || result == nil || result.Metadata == nil {
			t.Fatalf("call %d: %+v, %v", i, result, err)
		}
	}
}
