package handlers

import (
	"regexp"
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

// absenceIn marks an answer that says that something is not there, and does not
// say that it may be mistaken, while it may well be in what the model did not have
// before it; nil where it does not.
func absenceIn(said string, t turnMessages) *views.Absence {
	about := aboutOf(t)
	if len(about) == 0 || absence.NamesGap(said) {
		return nil
	}
	var mark *views.Absence
	for _, claim := range absence.In(said) {
		doubted := doubtedOf(about, claim)
		switch {
		case len(doubted) == 0:
		case mark != nil:
			mark.More++
		default:
			mark = markOf(claim, doubted)
		}
	}
	return mark
}

func markOf(claim absence.Claim, doubted []models.Ground) *views.Absence {
	mark := &views.Absence{Sentence: claim.Sentence}
	for _, g := range doubted[:min(len(doubted), mostDoubted)] {
		mark.Outputs = append(mark.Outputs, restOf(g))
	}
	for _, term := range claim.Terms {
		if !names(doubted, term) {
			mark.Term = term
			break
		}
	}
	return mark
}

// aboutOf are the outputs that an answer is about of which the model has not seen
// all: one that came with results of its own is about those, and else about what
// was there before.
func aboutOf(t turnMessages) []models.Ground {
	worked := slices.ContainsFunc(t.messages, func(m models.Message) bool { return m.Role == models.RoleTool })
	var about []models.Ground
	for _, g := range t.grounds {
		if !g.Whole() && g.Earlier != worked {
			about = append(about, g)
		}
	}
	return about
}

// doubtedOf are the outputs in which what a claim misses could be: those that
// were not searched for it, and such as nobody can search, since bytes of them
// were not kept. What a filter or a script made of one says
// nothing of what else is in it.
func doubtedOf(about []models.Ground, claim absence.Claim) []models.Ground {
	var doubted []models.Ground
	for _, g := range about {
		var searches []*regexp.Regexp
		for _, sought := range g.Sought {
			if expr := sought.Expression(); expr != nil {
				searches = append(searches, expr)
			}
		}
		if g.Lacking() || !claim.SoughtBy(searches) {
			doubted = append(doubted, g)
		}
	}
	return doubted
}

// names reports whether a term names one of the outputs and not what is in them.
func names(grounds []models.Ground, term string) bool {
	return slices.ContainsFunc(grounds, func(g models.Ground) bool {
		return strings.Contains(g.Title, term) || term == g.OutputID || term == g.Tool
	})
}
