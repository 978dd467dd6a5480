package handlers

import (
	"context"
	"slices"

	"offcut/models"
	"offcut/views"
)

// versionsOf are the versions of the places of turns, by the turns before them.
func (h *Handlers) versionsOf(ctx context.Context, sessionID string, turns ...models.Turn) (map[string][]models.Version, error) {
	parents := make([]string, 0, len(turns))
	for _, turn := range turns {
		parents = append(parents, turn.ParentID)
	}
	slices.Sort(parents)
	list, err := h.Store.Versions(ctx, sessionID, slices.Compact(parents))
	places := map[string][]models.Version{}
	for _, v := range list {
		places[v.ParentID] = append(places[v.ParentID], v)
	}
	return places, err
}

// questions leads between the questions that were asked at a turn's place; nil
// where there was one.
func questions(turn models.Turn, versions []models.Version) *views.Versions {
	var asked [][]models.Version // by question, in the order in which each was first asked
	here := 0
	for _, v := range versions {
		at := slices.IndexFunc(asked, func(group []models.Version) bool { return group[0].Question == v.Question })
		if at < 0 {
			at, asked = len(asked), append(asked, nil)
		}
		asked[at] = append(asked[at], v)
		if v.TurnID == turn.ID {
			here = at
		}
	}
	return among(asked, here)
}

// answers leads between the answers to a turn's question; nil where there is one.
func answers(turn models.Turn, versions []models.Version) *views.Versions {
	var given [][]models.Version
	here := 0
	asked := slices.IndexFunc(versions, func(v models.Version) bool { return v.TurnID == turn.ID })
	for _, v := range versions {
		if asked < 0 || v.Question != versions[asked].Question {
			continue
		}
		if v.TurnID == turn.ID {
			here = len(given)
		}
		given = append(given, []models.Version{v})
	}
	return among(given, here)
}

// among stands at one of several choices. Of a question that was asked more than
// once it leads to the newest answer.
func among(choices [][]models.Version, here int) *views.Versions {
	if len(choices) < 2 {
		return nil
	}
	v := &views.Versions{At: here + 1, Of: len(choices)}
	newest := func(choice []models.Version) string { return choice[len(choice)-1].TurnID }
	if here > 0 {
		v.Prev = newest(choices[here-1])
	}
	if here+1 < len(choices) {
		v.Next = newest(choices[here+1])
	}
	for i, choice := range choices {
		if i != here && slices.ContainsFunc(choice, func(one models.Version) bool { return one.GoesOn }) {
			v.Elsewhere = append(v.Elsewhere, i+1)
		}
	}
	return v
}

// continuable reports whether going on from where an answer broke off makes
// sense: it is the last of the conversation, and something came of it or might
// have.
func continuable(t turnMessages) bool {
	last := !slices.ContainsFunc(t.versions, func(v models.Version) bool { return v.TurnID == t.turn.ID && v.GoesOn })
	if !last || !began(t.turn) {
		return false
	}
	replied := slices.ContainsFunc(t.messages, func(m models.Message) bool { return m.Role == models.RoleAssistant })
	switch t.turn.State {
	case models.StateInterrupted:
		return true
	case models.StateStopped:
		return replied
	case models.StateError:
		return replied && t.turn.ErrorCode != models.CodeContextOverflow && t.turn.ErrorCode != models.CodeProviderRefused
	}
	return false
}
