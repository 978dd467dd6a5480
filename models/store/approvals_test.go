package store

import (
	"strings"
	"testing"

	"offcut/models"
)

// ask stores that somebody is asked about a call of run_command.
func ask(t *testing.T, s *Store, turn models.Turn, callID string) (models.Approval, bool) {
	t.Helper()
	asked, granted, err := s.Ask(t.Context(), models.Approval{
		SessionID: turn.SessionID, TurnID: turn.ID, CallID: callID, Tool: "run_command", Arguments: `{"command":"ls"}`,
		Folder: "/w", Deed: "command", Unconfined: true, CreatedAt: start,
	})
	must(t, err)
	return asked, granted
}

func verdict(turn models.Turn, callID string, d models.Decision) models.Verdict {
	return models.Verdict{TurnID: turn.ID, CallID: callID, Decision: d, By: "ann", Now: later(1)}
}

func TestADecisionIsStoredOnce(t *testing.T) {
	s := openNew(t)
	must(t, s.CreateSession(t.Context(), models.Session{ID: "s", OwnerID: "ann", CreatedAt: start}))
	turn := run(t, s, "s", "go", start)
	ask(t, s, turn, "c1")
	ask(t, s, turn, "c2")
	if waiting := got(s.Waiting(t.Context(), turn.ID))(t); len(waiting) != 2 || waiting[0].CallID != "c1" || !waiting[0].Unconfined || waiting[0].Folder != "/w" {
		t.Fatalf("wait: %+v", waiting)
	}
	decided := got(s.Decide(t.Context(), verdict(turn, "c1", models.DecisionDeny), models.AuditEntry{Action: "a", At: start}))(t)
	if len(decided) != 1 || decided[0].CallID != "c1" {
		t.Errorf("decided: %+v", decided)
	}
	_, err := s.Decide(t.Context(), verdict(turn, "c1", models.DecisionOnce))
	wantKind(t, err, models.ErrConflict, "not_waiting")
	if !strings.Contains(err.Error(), "it was ") {
		t.Errorf("it does not say what was decided: %v", err)
	}
	_, err = s.Decide(t.Context(), verdict(turn, "c9", models.DecisionOnce))
	wantKind(t, err, models.ErrNotFound, "approval_not_found")
	if again, granted := ask(t, s, turn, "c1"); granted || again.Decision != models.DecisionDeny || again.DecidedBy != "ann" || !again.DecidedAt.Equal(later(1)) {
		t.Errorf("asked again after a restart: %+v", again)
	}
	finish(t, s, turn, models.StateStopped, start)
	if a := got(s.Approval(t.Context(), "s", "c2"))(t); a.Decision != models.DecisionLapsed {
		t.Errorf("after the end of its turn it is %q", a.Decision)
	}
}

func TestASessionsGrantHoldsUntilItIsRevoked(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	for _, id := range []string{"s", "other"} {
		must(t, s.CreateSession(ctx, models.Session{ID: id, OwnerID: "ann", CreatedAt: start}))
	}
	turn, other := run(t, s, "s", "go", start), run(t, s, "other", "go", start)
	ask(t, s, turn, "c1")
	ask(t, s, turn, "c2")
	if decided := got(s.Decide(ctx, verdict(turn, "c1", models.DecisionSession)))(t); len(decided) != 2 {
		t.Errorf("decided: %+v, want both that wait", decided)
	}
	if _, granted := ask(t, s, turn, "c3"); !granted {
		t.Error("a later call is asked about")
	}
	if _, granted := ask(t, s, other, "c3"); granted {
		t.Error("another session's call runs without asking")
	}
	if grants := got(s.Grants(ctx, "s"))(t); len(grants) != 1 || grants[0].Tool != "run_command" || grants[0].By != "ann" || !grants[0].At.Equal(later(1)) {
		t.Errorf("granted: %+v", grants)
	}
	_, granted, err := s.Ask(ctx, models.Approval{SessionID: "s", TurnID: turn.ID, CallID: "confined", Tool: "write_file", CreatedAt: start})
	must(t, err)
	if granted {
		t.Error("another tool runs without asking")
	}
	got(s.Decide(ctx, verdict(turn, "confined", models.DecisionSession)))(t)
	if _, granted, err = s.Ask(ctx, models.Approval{SessionID: "s", TurnID: turn.ID, CallID: "outside", Tool: "write_file", Unconfined: true, CreatedAt: start}); err != nil || granted {
		t.Errorf("what was allowed in the sandbox runs outside it: %v, %v", granted, err)
	}
	for range 2 { // a second time changes nothing
		must(t, s.Revoke(ctx, "s", "run_command", later(2), models.AuditEntry{Action: "revoked", At: start}))
	}
	if _, granted := ask(t, s, turn, "c4"); granted || len(got(s.Grants(ctx, "s"))(t)) != 1 {
		t.Error("it holds after it was revoked")
	}
	entries, _, err := s.Audit(ctx, models.AuditQuery{})
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("audited: %+v", entries)
	}
	must(t, s.DeleteSession(ctx, "s"))
	_, err = s.Approval(ctx, "s", "c1")
	wantKind(t, err, models.ErrNotFound, "approval_not_found")
}

// A parked turn stays at a start, and is the next to run; its session's queue
// comes after it.
func TestAParkedTurnIsNotInterrupted(t *testing.T) {
	s := openNew(t)
	ctx := t.Context()
	must(t, s.CreateSession(ctx, models.Session{ID: "s", OwnerID: "ann", CreatedAt: start}))
	turn := run(t, s, "s", "go", start)
	send(t, s, "s", "and then", later(1))
	ask(t, s, turn, "c1")
	turn.State, turn.Parked = models.StateAwaitingApproval, true
	must(t, s.SaveTurn(ctx, turn))
	must(t, s.InterruptRunning(ctx, later(2), "cut off"))
	next := got(s.NextTurn(ctx, "s"))(t)
	if next.ID != turn.ID || next.State != models.StateAwaitingApproval || !next.Parked {
		t.Errorf("next is %+v", next)
	}
	if ids := got(s.UnrestedSessions(ctx))(t); len(ids) != 1 {
		t.Errorf("sessions %v have something to do", ids)
	}
	turn.Parked = false // a tool waits in it, which would not go on
	must(t, s.SaveTurn(ctx, turn))
	must(t, s.InterruptRunning(ctx, later(3), "cut off"))
	if a := got(s.Approval(ctx, "s", "c1"))(t); a.Decision != models.DecisionLapsed {
		t.Errorf("the call is %q", a.Decision)
	}
	if next := got(s.NextTurn(ctx, "s"))(t); next.State != models.StateQueued {
		t.Errorf("next is %+v", next)
	}
}

func TestADecisionIsFoundByTheSameCallAlone(t *testing.T) {
	s := openNew(t)
	addSession(t, s, "ann", "s", start)
	turn := run(t, s, "s", "go", start)
	call := models.Approval{SessionID: "s", TurnID: turn.ID, CallID: "c", Tool: "run_command", Arguments: `{"command":"ls"}`, CreatedAt: start}
	_, _, err := s.Ask(t.Context(), call)
	must(t, err)
	got(s.Decide(t.Context(), models.Verdict{TurnID: turn.ID, CallID: "c", Decision: models.DecisionOnce, By: "ann", Now: start}))(t)
	if again, _, err := s.Ask(t.Context(), call); err != nil || again.Decision != models.DecisionOnce {
		t.Errorf("the same call: %+v, %v", again, err)
	}
	for name, change := range map[string]func(*models.Approval){
		"other arguments": func(a *models.Approval) { a.Arguments = `{"command":"rm"}` },
		"another tool":    func(a *models.Approval) { a.Tool = "write_file" },
		"another turn":    func(a *models.Approval) { a.TurnID = "trn_other" },
	} {
		other := call
		change(&other)
		_, granted, err := s.Ask(t.Context(), other)
		if wantKind(t, err, models.ErrConflict, "call_asked"); granted {
			t.Errorf("%s: granted", name)
		}
	}
	if used := got(s.CallIDs(t.Context(), "s", []string{"c", "d"}))(t); !used["c"] || used["d"] {
		t.Errorf("a tool's call has an id that counts as %v", used)
	}
}
