package handlers

import (
	"slices"
	"strings"

	"offcut/agent"
	"offcut/models"
	"offcut/models/absence"
	"offcut/views"
)

// rests is what an answer rests on of which the model did not have all before it;
// nil where there is nothing, or nothing was said. A claim in it that something is
// absent comes along.
func (h *Handlers) rests(t turnMessages) *views.Rests {
	said := answerOf(t.messages)
	if said == "" {
		return nil
	}
	r := &views.Rests{SessionID: t.turn.SessionID}
	for _, g := range t.grounds {
		switch {
		case g.Whole():
		case g.Earlier:
			r.Earlier = append(r.Earlier, restOf(g))
		default:
			r.Own = append(r.Own, restOf(g))
		}
	}
	if len(r.Own)+len(r.Earlier) == 0 {
		return nil
	}
	if !h.AbsenceUnmarked {
		r.Absence = absenceIn(said, t)
	}
	return r
}

// answerOf is what was said in a turn, its parts one after the other.
func answerOf(messages []models.Message) string {
	var parts []string
	for _, m := range models.JoinReplies(messages) {
		if m.Role == models.RoleAssistant && strings.TrimSpace(m.Content) != "" {
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n\n")
}

func restOf(g models.Ground) views.Rest {
	r := views.Rest{
		OutputID: g.OutputID, Tool: g.Tool, Title: g.Title, Gone: g.Gone,
		Seen: g.SeenBytes, Total: g.TotalBytes, First: g.FirstUnseen(), Taken: g.TakenBytes,
		Lacking: g.Lacking(), Omitted: g.OmittedBytes, Running: g.Running, Searched: g.Searched, Queried: g.Queried,
		Read: viewRanges(g.Seen),
	}
	if callID, ok := agent.CallOfOutputID(g.OutputID); ok {
		r.CallID, r.Gone = callID, false // it stands in the conversation
	}
	return r
}

// mostDoubted bounds the outputs that a mark names.
const mostDoubted = 3

// absenceIn marks an answer whose claim of an absence may be mistaken; nil where
// there is none.
func absenceIn(said string, t turnMessages) *views.Absence {
	worked := slices.ContainsFunc(t.messages, func(m models.Message) bool { return m.Role == models.RoleTool })
	found := absence.MarkIn(said, worked, t.grounds)
	if found == nil {
		return nil
	}
	mark := &views.Absence{Sentence: found.Claim.Sentence, More: found.More}
	for _, g := range found.Doubted[:min(len(found.Doubted), mostDoubted)] {
		mark.Outputs = append(mark.Outputs, restOf(g))
	}
	mark.Unnamed = len(found.Doubted) - len(mark.Outputs)
	for _, term := range found.Claim.Terms {
		if !names(found.Doubted, term) {
			mark.Term = term
			break
		}
	}
	return mark
}

// names reports whether a term names one of the outputs and not what is in them.
func names(grounds []models.Ground, term string) bool {
	return slices.ContainsFunc(grounds, func(g models.Ground) bool {
		return strings.Contains(g.Title, term) || term == g.OutputID || term == g.Tool
	})
}
