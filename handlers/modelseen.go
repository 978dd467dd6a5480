package handlers

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"offcut/agent/events"
	"offcut/models"
	"offcut/views"
)

// seen is what people see of a message.
func (s *sideBySide) seen(ctx context.Context, m models.Message, said saidInTurn) (views.Seen, error) {
	stored, is := said.messages[m.ID]
	switch {
	case m.Role == models.RoleTool:
		return s.seenCall(ctx, m, said)
	case !is && m.Role == models.RolePerson && m.TurnID != "":
		return s.seenSummary(ctx, m.TurnID)
	case !is || (m.Role == models.RolePerson && m.IsMeta):
		return views.Seen{Kind: views.SeenNothing}, nil
	case m.Role == models.RolePerson:
		seen := views.Seen{Kind: views.SeenQuestion, MessageID: stored.ID, At: stored.CreatedAt}
		seen.Text, seen.Bytes = beginning(stored.Content, maxSentBody)
		for _, a := range stored.Attachments {
			seen.Files = append(seen.Files, a.Path)
		}
		return seen, nil
	}
	answer, first := said.answers[m.ID]
	seen := views.Seen{Kind: views.SeenAnswer, MessageID: stored.ID, At: stored.CreatedAt}
	switch {
	case !first:
		seen.Kind = views.SeenPart
	case answer.Content == "":
		seen.Kind = views.SeenCalls
	case len(answer.Content) > maxSentBody:
		seen.Text, seen.Bytes = beginning(answer.Content, maxSentBody)
	default:
		seen.HTML = s.h.Markdown(answer.Content)
	}
	seen.Joined = first && answer.Content != stored.Content
	return seen, nil
}

// seenCall is the row of a call's card.
func (s *sideBySide) seenCall(ctx context.Context, m models.Message, said saidInTurn) (views.Seen, error) {
	call, known := said.calls[m.ToolCallID]
	if !known {
		return views.Seen{Kind: views.SeenNothing}, nil
	}
	var result *models.Message
	if r, ok := said.results[m.ToolCallID]; ok {
		result = &r
	}
	card, err := s.h.card(ctx, s.sess, call, result, events.Live{}, false)
	seen := views.Seen{Kind: views.SeenCard, Card: &card}
	if result != nil && result.Metadata != nil {
		meta := result.Metadata
		seen.Preview = int64(len(result.Content))
		if meta.TotalBytes != nil {
			seen.Kept = *meta.TotalBytes
		}
		if meta.OmittedBytes != nil {
			seen.Lost = *meta.OmittedBytes
		}
	}
	return seen, err
}

// seenSummary is what stands in the conversation where a summary was sent.
func (s *sideBySide) seenSummary(ctx context.Context, uptoTurn string) (views.Seen, error) {
	seen := views.Seen{Kind: views.SeenSummarised}
	list, err := s.h.Store.Summaries(ctx, s.sess.ID, []string{uptoTurn})
	if len(list) > 0 {
		seen.Messages = list[0].Messages
	}
	return seen, err
}

// beginning is shortened to so many bytes of HTML: what is escaped, or shown by a
// picture, takes more room there than it has.
func beginning(text string, most int) (string, int64) {
	room := most
	for i, r := range text {
		switch {
		case strings.ContainsRune("<>&\"'", r):
			room -= len("&quot;")
		case !unicode.IsPrint(r) && r != '\n' && r != '\t':
			room -= pictured
		default:
			room -= utf8.RuneLen(r)
		}
		if room < 0 {
			return shortened(text, i)
		}
	}
	return text, 0
}

// pictured is about what a character takes that is shown by a picture, in bytes.
const pictured = 80
