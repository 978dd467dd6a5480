package store

import (
	"testing"

	"offcut/models"

	"github.com/google/go-cmp/cmp"
)

func TestAnImportedSessionIsWholeAndOver(t *testing.T) {
	s := openNew(t)
	said := func(role models.Role, content string, state models.State) models.Message {
		return models.Message{Role: role, Content: content, State: state, CreatedAt: later(1)}
	}
	asked := said(models.RoleAssistant, "", models.StateRunning)
	asked.ToolCalls = []models.ToolCall{{ID: "c1", Name: "run_command", Arguments: "{}"}, {ID: "c2", Name: "run_command", Arguments: "{}"}}
	result := said(models.RoleTool, "the result", models.StateDone)
	result.ToolCallID, result.Metadata = "c2", &models.ResultMetadata{OutputID: "out_of_another"}
	must(t, s.ImportSession(t.Context(), models.Session{ID: "s", OwnerID: "ann", Title: "T", CreatedAt: start}, [][]models.Message{
		{said(models.RolePerson, "one", models.StateDone), said(models.RoleAssistant, "two", models.StateDone)},
		{said(models.RolePerson, "three", models.StateQueued), asked, result},
	}, map[int][]models.Ground{1: {{OutputID: "out_of_another", Tool: "run_command", TotalBytes: 100, Complete: true, Seen: []models.Range{{End: 7}}, SeenBytes: 7}}}))

	messages, _, err := s.Messages(t.Context(), models.MessageQuery{SessionID: "s"})
	must(t, err)
	want := []string{"one", "two", "three (interrupted)", " (interrupted)", NoImportedResult + " (interrupted)", "the result"}
	if diff := cmp.Diff(want, contents(messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if messages[4].ToolCallID != "c1" || !messages[4].Metadata.IsError {
		t.Errorf("the call without a result got %+v", messages[4])
	}
	if messages[2].TurnID == messages[1].TurnID || messages[2].TurnID != messages[5].TurnID {
		t.Error("the turns are not what they were")
	}
	turns := got(s.Turns(t.Context(), "s", []string{messages[0].TurnID, messages[2].TurnID}))(t)
	if turns[0].State != models.StateDone || turns[1].State != models.StateDone || turns[1].ParentID != turns[0].ID || !turns[1].Shown {
		t.Errorf("turns %+v", turns)
	}
	_, err = s.Output(t.Context(), "s", "out_of_another")
	wantKind(t, err, models.ErrNotFound, "output_not_found")
	grounds := got(s.Grounds(t.Context(), "s", []string{messages[0].TurnID, messages[2].TurnID}))(t)
	if on := grounds[messages[2].TurnID]; len(grounds) != 1 || len(on) != 1 || on[0].Unseen() != 93 || on[0].Seen[0].End != 7 || !on[0].Gone {
		t.Errorf("the answers rest on %+v", grounds)
	}
	transcript := got(s.Transcript(t.Context(), "s", run(t, s, "s", "four", later(9)).ID))(t)
	if len(transcript) != 7 {
		t.Errorf("the model is sent %d messages", len(transcript))
	}
}

func TestSessionsAreMarkedManyAtATime(t *testing.T) {
	s := openNew(t)
	for _, id := range []string{"a", "b"} {
		addSession(t, s, "ann", id, start)
	}
	addSession(t, s, "bob", "bobs", start)
	archive := models.SessionPatch{Archived: models.Ptr(true)}
	if marked := got(s.MarkSessions(t.Context(), "ann", []string{"a"}, archive))(t); len(marked) != 1 {
		t.Errorf("marked %q", marked)
	}
	if marked := got(s.MarkSessions(t.Context(), "ann", []string{"a", "b", "bobs", "none"}, archive))(t); len(marked) != 1 || marked[0] != "b" {
		t.Errorf("marked %q, want those that were not so before", marked)
	}
	if one := got(s.Session(t.Context(), "ann", "b"))(t); !one.Archived || !one.UpdatedAt.Equal(start) {
		t.Errorf("it is %+v now", one)
	}
	if got(s.Session(t.Context(), "bob", "bobs"))(t).Archived {
		t.Error("a session of bob's was archived")
	}
	if kept := got(s.Storage(t.Context(), "ann"))(t); kept.Sessions != 2 || kept.Archived != 2 || kept.QuotaBytes != DefaultQuotaBytes {
		t.Errorf("stored: %+v", kept)
	}
}
