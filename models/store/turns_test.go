package store

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"

	"offcut/models"
)

func TestTheSameClientIDGivesTheSameTurn(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	addSession(t, s, "ann", "other", start)
	ask := models.NewTurn{SessionID: "s", OwnerID: "ann", Content: "hello", ClientID: "c1", Now: later(1)}

	first, message, created, err := s.Enqueue(ctx, ask)
	must(t, err)
	if !created || message.Content != "hello" || message.State != models.StateQueued || message.TurnID != first.ID || first.Seq != 1 {
		t.Errorf("created %v: %+v, %+v", created, first, message)
	}
	ask.Content, ask.Now = "hello again", later(2)
	again, same, created, err := s.Enqueue(ctx, ask)
	must(t, err)
	if created || !reflect.DeepEqual(again, first) || !reflect.DeepEqual(same, message) {
		t.Errorf("created %v: %+v, %+v", created, again, same)
	}
	if at := got(s.Session(ctx, "ann", "s"))(t).UpdatedAt; !at.Equal(later(1)) {
		t.Errorf("the session was last used at %v", at)
	}

	if sent := got(s.SentTurn(ctx, ask))(t); !reflect.DeepEqual(sent, first) {
		t.Errorf("what was sent before is %+v", sent)
	}
	for _, other := range []models.NewTurn{
		{SessionID: "s", OwnerID: "bob", ClientID: "c1"}, {SessionID: "other", OwnerID: "ann", ClientID: "c1"}, {SessionID: "s", OwnerID: "ann"},
	} {
		_, err := s.SentTurn(ctx, other)
		wantKind(t, err, models.ErrNotFound, "turn_not_found")
	}

	ask.SessionID = "other"
	if _, _, created, err = s.Enqueue(ctx, ask); err != nil || !created {
		t.Errorf("in another session: created %v, %v", created, err)
	}
	for range 2 {
		ask.ClientID = ""
		if _, _, created, err = s.Enqueue(ctx, ask); err != nil || !created {
			t.Errorf("without a client id: created %v, %v", created, err)
		}
	}
}

func TestTheSameClientIDAtOnceMakesOneTurn(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	var group sync.WaitGroup
	ids := make([]string, 12)
	for i := range ids {
		group.Go(func() {
			turn, _, _, err := s.Enqueue(context.Background(), models.NewTurn{SessionID: "s", OwnerID: "ann", Content: "x", ClientID: "c", Now: start})
			if err != nil {
				t.Error(err)
			}
			ids[i] = turn.ID
		})
	}
	group.Wait()
	if distinct := slices.Compact(ids); distinct[0] == "" || len(distinct) != 1 {
		t.Errorf("turns are %v", distinct)
	}
}

func TestATurnGoesFromTheQueueToItsEnd(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	addSession(t, s, "ann", "s", start)
	first, second := send(t, s, "s", "one", start), send(t, s, "s", "two", later(1))

	if next := got(s.NextQueued(ctx, "s"))(t); next.ID != first.ID {
		t.Errorf("next is %s", next.ID)
	}
	turn := got(s.StartTurn(ctx, first.ID, later(2)))(t)
	if turn.State != models.StateRunning || !turn.StartedAt.Equal(later(2)) {
		t.Errorf("started as %+v", turn)
	}
	_, err := s.StartTurn(ctx, second.ID, later(2))
	wantKind(t, err, models.ErrConflict, "session_busy")
	_, err = s.StartTurn(ctx, first.ID, later(2))
	wantKind(t, err, models.ErrConflict, "turn_not_queued")
	_, err = s.StartTurn(ctx, "never", later(2))
	wantKind(t, err, models.ErrNotFound, "turn_not_found")
	wantKind(t, s.RemoveQueuedTurn(ctx, first.ID), models.ErrConflict, "turn_not_queued")

	if n := got(s.UnfinishedTurns(ctx, "ann"))(t); n != 2 {
		t.Errorf("%d turns are unfinished", n)
	}
	if ids := got(s.UnrestedSessions(ctx))(t); !slices.Equal(ids, []string{"s"}) {
		t.Errorf("turns wait in %v", ids)
	}

	answer := say(t, s, turn, "half an ans")
	answer.State = models.StateRunning
	must(t, s.SaveMessage(ctx, answer))
	turn.Error, turn.ErrorCode = "the model did not answer", models.CodeProviderError
	turn.Continuations, turn.Retries = 2, 1
	turn.Usage = models.Usage{InputTokens: 1, OutputTokens: 2, ReasoningTokens: 3, CachedTokens: 4, Cost: 0.5}
	turn.State, turn.EndedAt = models.StateError, models.Ptr(later(9))
	must(t, s.FinishTurn(ctx, turn))
	if read := got(s.Turn(ctx, "ann", turn.ID))(t); !reflect.DeepEqual(read, turn) {
		t.Errorf("read  %+v\nwrote %+v", read, turn)
	}
	if at := got(s.Session(ctx, "ann", "s"))(t).UpdatedAt; !at.Equal(later(9)) {
		t.Errorf("the session was last used at %v", at)
	}
	must(t, s.RemoveQueuedTurn(ctx, second.ID))
	want := []string{"one", "half an ans (error)", "two (stopped)"}
	if now := contents(got(messages(t, s, "s"))(t)); !slices.Equal(now, want) {
		t.Errorf("messages are %v, want %v", now, want)
	}
	_, err = s.NextQueued(ctx, "s")
	wantKind(t, err, models.ErrNotFound, "turn_not_found")
	if n := got(s.UnfinishedTurns(ctx, "ann"))(t); n != 0 {
		t.Errorf("%d turns are unfinished", n)
	}
	if turns := got(s.Turns(ctx, "s", []string{second.ID, first.ID, "x"}))(t); len(turns) != 2 || turns[0].ID != first.ID {
		t.Errorf("turns are %v", turns)
	}
}

func TestFinishingATurnWithAStateThatIsNotFinalIsRefused(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	if err := s.FinishTurn(t.Context(), run(t, s, "s", "x", start)); err == nil {
		t.Error("a running turn was finished")
	}
}

func messages(t testing.TB, s *Store, session string) ([]models.Message, error) {
	list, _, err := s.Messages(t.Context(), models.MessageQuery{SessionID: session, IncludeHidden: true, Page: models.Page{Limit: models.MaxPageLimit}})
	return list, err
}

func TestAKillLeavesTurnsInterruptedAndEveryCallAnswered(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	ctx := t.Context()
	addUsers(t, s)
	for _, id := range []string{"s", "waits", "rests"} {
		addSession(t, s, "ann", id, start)
	}
	done := run(t, s, "rests", "finished", start)
	say(t, s, done, "", "never answered") // of a turn that is over: not looked at
	finish(t, s, done, models.StateDone, start)
	turn := run(t, s, "s", "build it", start)
	say(t, s, turn, "", "c1", "c2", "c3")
	reply(t, s, turn, "c2", "ok")
	keepRunning(t, s, turn, "c3", "so far")
	half := say(t, s, turn, "I ha")
	half.State = models.StateRunning
	must(t, s.SaveMessage(ctx, half))
	send(t, s, "s", "and then", later(1))
	approval := run(t, s, "waits", "may I", start)
	say(t, s, approval, "", "c1")
	approval.State = models.StateAwaitingApproval
	must(t, s.SaveTurn(ctx, approval))
	must(t, s.Close())

	s = open(t, dir, Options{})
	for range 2 { // a second time changes nothing
		must(t, s.InterruptRunning(ctx, later(60), "it may or may not have taken effect"))
	}
	for session, want := range map[string][]string{
		"s": {
			"build it", "", "ok", "I ha (interrupted)",
			"it may or may not have taken effect (interrupted)", "it may or may not have taken effect (interrupted)", "and then (queued)",
		},
		"waits": {"may I", "", "it may or may not have taken effect (interrupted)"},
		"rests": {"finished", ""},
	} {
		if now := contents(got(messages(t, s, session))(t)); !slices.Equal(now, want) {
			t.Errorf("messages of %s are %q, want %q", session, now, want)
		}
	}
	for _, id := range []string{turn.ID, approval.ID} {
		read := got(s.AnyTurn(ctx, id))(t)
		if read.State != models.StateInterrupted || read.Error != "The server stopped while this was being answered." || !read.EndedAt.Equal(later(60)) {
			t.Errorf("the turn is %+v", read)
		}
	}
	if _, result, err := s.Call(ctx, "s", "c1"); err != nil || !result.Metadata.IsError || result.Metadata.OutputID != "" {
		t.Errorf("c1 is answered %+v, %v", result, err)
	}
	_, result, err := s.Call(ctx, "s", "c3")
	must(t, err)
	meta := result.Metadata
	if meta.OutputID != "out_c3" || *meta.TotalBytes != 6 || *meta.Complete || !meta.Truncated || meta.Retention != models.RetentionKept {
		t.Errorf("c3 is answered with %s", meta.Line())
	}
	if ids := got(s.UnrestedSessions(ctx))(t); !slices.Equal(ids, []string{"s"}) {
		t.Errorf("turns wait in %v", ids)
	}
	got(s.StartTurn(ctx, got(s.NextQueued(ctx, "s"))(t).ID, later(61)))(t)
}

// keepRunning keeps text of a call whose command still runs.
func keepRunning(t testing.TB, s *Store, turn models.Turn, callID, text string) {
	t.Helper()
	o := models.RetainedOutput{ID: "out_" + callID, SessionID: turn.SessionID, TurnID: turn.ID, CallID: callID, Running: true, CreatedAt: start}
	must(t, s.CreateOutput(t.Context(), o))
	o.TotalBytes = int64(len(text))
	must(t, s.WriteOutput(t.Context(), o, models.OutputWrite{Text: []byte(text), Spill: []byte("tail"), SetSpill: true}))
}
