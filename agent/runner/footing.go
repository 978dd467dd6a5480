package runner

import (
	"context"
	"slices"
	"strings"

	"offcut/models"
	"offcut/models/absence"
)

// noteFooting tells with a turn that is done what its answer rests on, for the
// figures. What cannot be read is counted as if the model had had it all.
func (j *journal) noteFooting(ctx context.Context, turn *models.Turn) {
	if turn.State != models.StateDone {
		return
	}
	said, worked := j.answer()
	if said == "" {
		return
	}
	turn.Footing.Answered = true
	stored, err := j.r.cfg.Store.Grounds(ctx, turn.SessionID, []string{turn.ID})
	if err != nil {
		j.log.Error("what an answer rests on cannot be read", "error", err)
	}
	grounds := stored[turn.ID]
	turn.Footing.Unread = slices.ContainsFunc(grounds, func(g models.Ground) bool { return !g.Whole() })
	turn.Footing.GapNamed = turn.Footing.Unread && absence.NamesGap(said)
	turn.Footing.Doubted = absence.MarkIn(said, worked, grounds) != nil
}

// answer is what was said in the turn, and whether tools ran in it. It is the
// loop's alone, like the outbox.
func (j *journal) answer() (said string, worked bool) {
	var parts []string
	id := j.started().ID
	for _, m := range j.outbox.store {
		switch {
		case m.TurnID != id:
		case m.Role == models.RoleTool:
			worked = true
		case m.Role == models.RoleAssistant && strings.TrimSpace(m.Content) != "":
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n\n"), worked
}
