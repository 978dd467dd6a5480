package handlers

import (
	"context"

	"offcut/models"
	"offcut/views"
)

// movedNotes say of the commands with which a turn ended, because a person
// moved them to the background, what has become of them.
func (h *Handlers) movedNotes(ctx context.Context, sess models.Session, t turnMessages) ([]views.MovedNote, error) {
	if t.turn.State != models.StateDone {
		return nil, nil
	}
	var notes []views.MovedNote
	for _, m := range t.messages {
		if m.Role != models.RoleTool || metadataOf(&m).Background != models.BackgroundMoved {
			continue
		}
		out, err := h.keptOutput(ctx, sess.ID, metadataOf(&m).OutputID)
		if err != nil {
			return nil, err
		}
		note := views.MovedNote{SessionID: sess.ID, CallID: m.ToolCallID}
		if !out.gone {
			note.Subject, note.OutputID, note.Running = out.Title, out.ID, out.Running
		}
		notes = append(notes, note)
	}
	return notes, nil
}
