package contextwin

import (
	"errors"

	"offcut/agent"
	"offcut/models"
)

// pair makes a history well formed for every provider: each tool call is
// followed by its result, in the order of the calls; no result stands without
// its call; no message is empty; a message that was never handed to a turn is
// left out. What is well formed already stays as it is. It holds the calls of the
// history so far, by their ids.
type pair map[string]bool

// messages makes the next stretch of the history well formed. The results of its
// calls stand in the same stretch.
func (seen pair) messages(history []models.Message) []models.Message {
	results := firstResults(history)
	out := make([]models.Message, 0, len(history))
	for _, m := range history {
		switch m.Role {
		case models.RolePerson:
			if sendable(m) {
				out = append(out, m)
			}
		case models.RoleAssistant:
			m.ToolCalls = unseen(m.ToolCalls, seen)
			if m, ok := spoken(m); ok {
				out = append(out, m)
				out = appendAnswers(out, m, history, results)
			}
		}
	}
	return out
}

// sendable: a user's message that waits in the queue, or was taken out of it,
// was never said to the model.
func sendable(m models.Message) bool {
	return m.Content != "" && m.State != models.StateQueued && m.State != models.StateStopped
}

// spoken makes a reply one that can be sent; false where there is nothing in it.
func spoken(m models.Message) (models.Message, bool) {
	switch {
	case m.Content != "" || len(m.ToolCalls) > 0:
		return m, true
	case m.Reasoning == "" || (m.State == models.StateDone && m.FinishReason != models.FinishLength):
		return m, false
	}
	m.Content = agent.UnfinishedThinking
	return m, true
}

// unseen keeps the calls that can be told from each other by their ids.
func unseen(calls []models.ToolCall, seen map[string]bool) []models.ToolCall {
	var kept []models.ToolCall
	for _, c := range calls {
		if c.ID == "" || c.Name == "" || seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		kept = append(kept, c)
	}
	return kept
}

// firstResults are the places of the results in a history, by their calls.
func firstResults(history []models.Message) map[string]int {
	results := make(map[string]int, len(history)/2)
	for i, m := range history {
		if m.Role != models.RoleTool {
			continue
		}
		if _, twice := results[m.ToolCallID]; !twice {
			results[m.ToolCallID] = i
		}
	}
	return results
}

// appendAnswers appends the results of a reply's calls. A call that has none
// gets one that says so: one unanswered call would lock the session for good.
func appendAnswers(out []models.Message, m models.Message, history []models.Message, results map[string]int) []models.Message {
	for _, c := range m.ToolCalls {
		if at, ok := results[c.ID]; ok {
			out = append(out, history[at])
		} else {
			out = append(out, missing(m, c))
		}
	}
	return out
}

var errNoResult = errors.New("no result was stored")

func missing(m models.Message, c models.ToolCall) models.Message {
	r := agent.EffectsUnknown(c.ID, errNoResult)
	return models.Message{
		SessionID: m.SessionID, TurnID: m.TurnID, Role: models.RoleTool, ToolCallID: c.ID,
		Content: r.Content, Metadata: &r.Metadata, State: models.StateInterrupted, CreatedAt: m.CreatedAt,
	}
}
