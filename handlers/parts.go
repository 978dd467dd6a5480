package handlers

import (
	"context"
	"slices"
	"strings"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
)

// parts are the last parts of an answer, as many as fit the bounds of a page and
// at least one; before: of those before that of this message. earlier is the
// message of the first of them, where there are others before it.
func (h *Handlers) parts(ctx context.Context, sess models.Session, t turnMessages, before string, live events.Live, newest bool) (parts []views.Part, earlier string, err error) {
	replies := slices.DeleteFunc(models.JoinReplies(t.messages), func(m models.Message) bool {
		return m.Role != models.RoleAssistant || saysNothing(m)
	})
	if before != "" {
		at := slices.IndexFunc(replies, func(m models.Message) bool { return m.ID == before })
		if at < 0 {
			return nil, "", errNoMessage
		}
		replies = replies[:at]
	}
	results := map[string]models.Message{}
	for _, m := range t.messages {
		if m.Role == models.RoleTool {
			results[m.ToolCallID] = m
		}
	}
	size := 0
	for _, m := range slices.Backward(replies) {
		part, err := h.part(ctx, sess, m, results, live, newest)
		if err != nil {
			return nil, "", err
		}
		if size += sizeOfPart(part); size > firstHTML && len(parts) > 0 {
			earlier = parts[len(parts)-1].MessageID
			break
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return parts, earlier, nil
}

// part is one reply, joined with those that went on with it, and the tools that
// it called. A reply that is being written, or was cut off and will go on, is as
// far as the live snapshot has it: what came since is sent after the page.
func (h *Handlers) part(ctx context.Context, sess models.Session, m models.Message, results map[string]models.Message, live events.Live, newest bool) (views.Part, error) {
	part := views.Part{SessionID: sess.ID, MessageID: m.ID}
	switch running := m.State == models.StateRunning; {
	case m.ID == live.MessageID && (running || m.CutOff()):
		part.HTML, part.From, part.Upto = live.HTML, live.From, live.Upto
		part.Tail, part.Reasoning = live.Rest, live.Reasoning
	case !running:
		part.HTML, part.From = h.endOf(m.Content)
		part.Upto = int64(len(m.Content))
		part.Reasoning, part.ReasoningBytes = shortened(m.Reasoning, maxReasoning)
	}
	for _, call := range m.ToolCalls {
		var result *models.Message
		if r, ok := results[call.ID]; ok {
			result = &r
		}
		card, err := h.card(ctx, sess, call, result, live, newest)
		if err != nil {
			return views.Part{}, err
		}
		part.Cards = append(part.Cards, card)
	}
	return part, nil
}

// sizeOf is about how much HTML the entries take, in bytes.
func sizeOf(entries []views.Entry) (size int) {
	for _, entry := range entries {
		if entry.User != nil {
			size += sizeOfText(entry.User.Content)
		}
		if entry.Answer == nil {
			continue
		}
		for _, part := range entry.Answer.Parts {
			size += sizeOfPart(part)
		}
	}
	return size
}

// cardHTML is about what a closed card takes, in bytes.
const cardHTML = 2 << 10

func sizeOfPart(part views.Part) int {
	size := len(part.HTML) + sizeOfText(part.Tail) + sizeOfText(part.Reasoning) + cardHTML*len(part.Cards)
	for _, card := range part.Cards {
		if card.Live != nil {
			size += 2 * sizeOfText(card.Live.Tail) // the terminal's script gets it too
		}
		if card.Body != nil {
			for _, piece := range card.Body.Pieces {
				size += sizeOfText(piece.Text)
			}
		}
	}
	return size
}

// sizeOfText is about how much HTML a text becomes that is shown as it is: what
// is escaped gets longer, and so do colours.
func sizeOfText(text string) int {
	const entity, span = 4, 32
	return len(text) + entity*(strings.Count(text, "<")+strings.Count(text, ">")+strings.Count(text, "&")) + span*strings.Count(text, "\x1b")
}
