package runner

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"offcut/models"
	"offcut/models/absence"
)

// noteFooting tells with a turn that is done what its answer rests on, for the
// figures. What cannot be read is counted as if the model had had it all. A panic in
// it costs the figures, and not the end of the turn.
func (j *journal) noteFooting(ctx context.Context, turn *models.Turn) {
	if turn.State != models.StateDone {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			j.log.Error("what an answer rests on is not counted", "error", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
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
	id := j.started().ID
	first := slices.IndexFunc(j.outbox.store, func(m models.Message) bool { return m.TurnID == id })
	if first < 0 {
		return "", false
	}
	var parts []string
	for _, m := range models.JoinReplies(j.outbox.store[first:]) { // what comes after it is the turn's too
		switch {
		case m.Role == models.RoleTool:
			worked = true
		case m.Role == models.RoleAssistant && strings.TrimSpace(m.Content) != "":
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n\n"), worked
}
