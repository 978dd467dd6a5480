package contextwin

import (
	"slices"

	"offcut/agent"
	"offcut/models"
)

// span is a turn's messages within a history: from the first to before the
// second. A summary is a span of its own, under the last turn that it covers.
type span struct {
	turn     string
	from, to int
}

// spans are the turns of a history, in its order.
func spans(history []models.Message) []span {
	var all []span
	for i, m := range history {
		if last := len(all) - 1; last >= 0 && all[last].turn == m.TurnID {
			all[last].to = i + 1
			continue
		}
		all = append(all, span{m.TurnID, i, i + 1})
	}
	return all
}

// earlierTurns is how many spans stand before the turn that runs.
func (p *pruner) earlierTurns() int { return max(0, len(spans(p.sent))-1) }

// unprotectedTurns is how many spans stand wholly before the last replies,
// those that keep their results.
func (p *pruner) unprotectedTurns() int {
	n := len(p.replies) - p.limits.Pruning.KeepLastAssistants
	if n < 0 {
		return 0
	}
	count := 0
	for _, s := range spans(p.sent) {
		if s.to > p.replies[n].at {
			break
		}
		count++
	}
	return min(count, p.earlierTurns())
}

// after is where a history goes on behind a turn; -1 where the turn is not in it.
func after(history []models.Message, turn string) int {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].TurnID == turn {
			return i + 1
		}
	}
	return -1
}

// condensed is a history behind the summary of what it begins with, or of what
// came before it.
func (w *Window) condensed(history []models.Message) []models.Message {
	s := w.before
	if w.made != nil {
		s, history = w.made, history[max(0, after(history, w.made.UptoTurn)):]
	}
	if s == nil {
		return history
	}
	return append([]models.Message{summaryMessage(*s)}, history...)
}

func summaryMessage(s models.Summary) models.Message {
	return models.Message{
		SessionID: s.SessionID, TurnID: s.UptoTurn, Role: models.RolePerson, IsMeta: true,
		Content: s.Content, State: models.StateDone, CreatedAt: s.CreatedAt,
	}
}

// opened is a copy of a history that begins with a user's message.
func opened(history []models.Message) []models.Message {
	if len(history) == 0 || history[0].Role == models.RolePerson {
		return slices.Clone(history)
	}
	first := models.Message{Role: models.RolePerson, IsMeta: true, Content: agent.OpeningText, State: models.StateDone, CreatedAt: history[0].CreatedAt}
	return append([]models.Message{first}, history...)
}
