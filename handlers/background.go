package handlers

import (
	"context"

	"offcut/agent/events"
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
			note.Stopped = out.BackgroundState() == models.BackgroundStopped
		}
		notes = append(notes, note)
	}
	return notes, nil
}

// behind are the commands of a session that run in the background now.
func (h *Handlers) behind(ctx context.Context, sess models.Session) (views.Behind, error) {
	list := views.Behind{SessionID: sess.ID}
	outputs, err := h.Store.BackgroundOutputs(ctx, sess.ID, h.now())
	for _, o := range outputs {
		if o.Running {
			list.Commands = append(list.Commands, views.MovedNote{SessionID: sess.ID, CallID: o.CallID, Subject: o.Title, OutputID: o.ID, Running: true})
		}
	}
	return list, err
}

// background shows what else than its card tells of a command that goes on, or
// went on, after its call: the list of those that run and, where the turn ended
// with it, the end of that.
func (f *framer) background(ctx context.Context, result *models.Message, e events.Event) ([]frame, error) {
	meta := models.ResultMetadata{}
	if result != nil {
		meta = metadataOf(result)
	}
	if meta.Background == "" && e.CallState != string(models.CallBackground) {
		return nil, nil
	}
	behind, err := f.h.behind(ctx, f.sess)
	if err != nil {
		return nil, err
	}
	list, err := f.html(ctx, "#behind", "outerHTML", views.BehindList(behind))
	list.Optional = true
	if err != nil || meta.Background != models.BackgroundMoved {
		return []frame{list}, err
	}
	footer, err := f.footer(ctx, result.TurnID)
	return append(footer, list), err
}

// footer is the end of a turn that ended with a command that was moved to the
// background: it says what has become of that.
func (f *framer) footer(ctx context.Context, turnID string) ([]frame, error) {
	turn, err := f.h.Store.AnyTurn(ctx, turnID)
	if err != nil || turn.State != models.StateDone {
		return nil, err
	}
	t, err := f.h.turnMessages(ctx, turn)
	if err != nil {
		return nil, err
	}
	end := f.h.turnEnd(t)
	if end.Moved, err = f.h.movedNotes(ctx, f.sess, t); err != nil {
		return nil, err
	}
	content, err := f.html(ctx, "#f-"+turnID, "outerHTML", views.TurnFooter(end))
	content.Optional = true
	return []frame{content}, err
}
