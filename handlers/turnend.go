package handlers

import (
	"slices"
	"strings"

	"offcut/models"
	"offcut/views"
)

// turnEnd is what stands under an answer.
func (h *Handlers) turnEnd(t turnMessages) views.TurnEnd {
	end := views.TurnEnd{
		TurnID: t.turn.ID, State: string(t.turn.State), Error: t.turn.Error, Code: string(t.turn.ErrorCode),
		Tokens: t.turn.Usage.Tokens(), Cost: t.turn.Usage.Cost,
	}
	if t.turn.StartedAt != nil {
		end.At = *t.turn.StartedAt
	}
	if t.turn.EndedAt != nil {
		if t.turn.StartedAt != nil {
			end.Took = t.turn.EndedAt.Sub(*t.turn.StartedAt)
		}
		end.At = *t.turn.EndedAt
	}
	for _, m := range t.messages {
		switch {
		case m.Role == models.RoleAssistant:
			end.Said = end.Said || m.Content != ""
			if m.Model != "" {
				end.Model = m.Model
			}
		case m.Role == models.RoleTool && m.State == models.StateInterrupted && !m.NotStarted():
			end.OpenCalls++
		}
	}
	if t.turn.Error != "" && h.Dumps != nil {
		if found, ok := h.Dumps.OfTurn(t.turn.ID); ok {
			end.Dump = views.DumpLink{Name: found.Name, Path: found.Path}
		}
	}
	if t.turn.State.Final() {
		end.Rests = h.rests(t)
	}
	end.Versions = answers(t.turn, t.versions)
	end.Continue = continuable(t)
	end.Silent = t.turn.State == models.StateDone && endsSilent(t.messages)
	return end
}

// endsSilent reports whether the last reply has neither text nor calls, or
// there is none.
func endsSilent(messages []models.Message) bool {
	for _, m := range slices.Backward(models.JoinReplies(messages)) {
		if m.Role == models.RoleAssistant {
			return strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0
		}
	}
	return true
}
