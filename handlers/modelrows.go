package handlers

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
	"offcut/views"
)

// The names, in addresses, of the places of a request beside its messages.
const (
	placeInstructions = "instructions"
	placeTools        = "tools"
)

// maxAfter bounds what is shown of what came after a request.
const maxAfter = 30

// sideBySide makes rows of a request: what people see, beside what was sent.
type sideBySide struct {
	h       *Handlers
	sess    models.Session
	request models.SentRequest
	whole   bool // no text is shortened
	turns   map[string]saidInTurn
}

func (h *Handlers) sideBySide(sess models.Session, r models.SentRequest, whole bool) *sideBySide {
	return &sideBySide{h: h, sess: sess, request: r, whole: whole, turns: map[string]saidInTurn{}}
}

// saidInTurn is what was said in a turn, as it is stored.
type saidInTurn struct {
	messages map[string]models.Message
	answers  map[string]models.Message // as people read them: see models.JoinReplies
	calls    map[string]models.ToolCall
	results  map[string]models.Message // by their calls
}

func (s *sideBySide) turn(ctx context.Context, id string) (saidInTurn, error) {
	if said, known := s.turns[id]; known {
		return said, nil
	}
	said := saidInTurn{map[string]models.Message{}, map[string]models.Message{}, map[string]models.ToolCall{}, map[string]models.Message{}}
	all, err := s.h.Store.TurnMessages(ctx, s.sess.ID, id)
	if err != nil && !isNotFound(err) { // of a message that was made for the request
		return said, err
	}
	for _, m := range all {
		said.messages[m.ID] = m
		for _, call := range m.ToolCalls {
			said.calls[call.ID] = call
		}
		if m.Role == models.RoleTool {
			said.results[m.ToolCallID] = m
		}
	}
	for _, m := range models.JoinReplies(all) {
		said.answers[m.ID] = m
	}
	s.turns[id] = said
	return said, nil
}

// rows are the rows of messages of the request.
func (s *sideBySide) rows(ctx context.Context, sent []models.SentMessage) ([]views.ModelRow, error) {
	rows := make([]views.ModelRow, 0, len(sent))
	for _, m := range sent {
		said, err := s.turn(ctx, m.TurnID)
		if err != nil {
			return nil, err
		}
		row := s.row(strconv.Itoa(m.Place))
		if row.Seen, err = s.seen(ctx, m.Message, said); err != nil {
			return nil, err
		}
		row.Sent = s.sent(m, said)
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *sideBySide) row(place string) views.ModelRow {
	return views.ModelRow{SessionID: s.sess.ID, Request: s.request.Number, Place: place}
}

// sent is a message as the model was sent it.
func (s *sideBySide) sent(m models.SentMessage, said saidInTurn) *views.Sent {
	v := &views.Sent{Role: string(m.Role), Hidden: m.IsMeta, Made: m.ID == "", Tokens: tokensOf(m)}
	for _, p := range m.Pictures {
		v.Pictures = append(v.Pictures, views.SentPicture(p))
	}
	switch m.Role {
	case models.RoleTool:
		s.sentResult(v, m, said)
	case models.RoleAssistant:
		v.Finish = string(said.messages[m.ID].FinishReason)
		if s.request.Reasoning {
			v.Reasoning = s.cut(v, m.Reasoning, maxSentExtra)
		}
		for _, call := range m.ToolCalls {
			v.Calls = append(v.Calls, views.SentCall{ID: call.ID, Name: call.Name, Arguments: s.cut(v, call.ArgumentsOrEmpty(), maxSentExtra)})
		}
		v.Body = s.cut(v, m.Content, maxSentBody)
	default:
		v.Body = s.cut(v, m.Content, maxSentBody)
	}
	return v
}

// sentResult is a tool's result: its line of metadata and what was left of its
// body.
func (s *sideBySide) sentResult(v *views.Sent, m models.SentMessage, said saidInTurn) {
	meta := metadataOf(&m.Message)
	v.Meta, v.Tool = meta.Line(), said.calls[m.ToolCallID].Name
	v.Cleared = m.Content == contextwin.ClearedText
	if left := contextwin.Left(m.Message); left == models.SentWhole || v.Cleared {
		v.Body = s.cut(v, m.Content, maxSentBody)
		return
	}
	v.Pruned = true
	whole := said.results[m.ToolCallID].Content
	head, ok := trimmedAt(m.Content, whole)
	if !ok {
		v.Body = s.cut(v, m.Content, maxSentBody)
		return
	}
	v.Body, v.Tail = m.Content[:head], m.Content[head:]
	v.Gap = int64(len(whole) - len(m.Content) + len(contextwin.Gap))
	v.CallID = m.ToolCallID
	if id := said.results[m.ToolCallID].Metadata; id != nil {
		v.OutputID = id.OutputID
	}
}

// trimmedAt is where the tail of a result begins that was cut to its ends; false
// where it is no such result of the whole.
func trimmedAt(trimmed, whole string) (at int, ok bool) {
	same := 0
	for same < len(trimmed) && same < len(whole) && trimmed[same] == whole[same] {
		same++
	}
	at = strings.LastIndex(trimmed[:min(same+len(contextwin.Gap), len(trimmed))], contextwin.Gap)
	if at < 0 {
		return 0, false
	}
	at += len(contextwin.Gap)
	return at, strings.HasSuffix(whole, trimmed[at:])
}

// cut is a text as far as the page shows it, which it notes.
func (s *sideBySide) cut(v *views.Sent, text string, most int) string {
	if s.whole {
		return text
	}
	head, bytes := beginning(text, most)
	if bytes > 0 {
		v.LeftOut += bytes - int64(len(head))
	}
	return head
}

// tokensOf is about how many tokens a message takes.
func tokensOf(m models.SentMessage) int64 {
	return int64(contextwin.Estimate(agent.Request{Messages: []models.Message{m.Message}}) - contextwin.Estimate(agent.Request{}))
}

// sentText is a message as one text: all of it that is no picture.
func sentText(m models.SentMessage) string {
	if m.Role == models.RoleTool {
		return agent.ToolText(m.Message)
	}
	text := m.Content
	for _, call := range m.ToolCalls {
		text += "\n" + call.Name + " " + call.ArgumentsOrEmpty()
	}
	return strings.TrimPrefix(text, "\n")
}

func (s *sideBySide) instructions() views.ModelRow {
	row := s.row(placeInstructions)
	row.Seen.Kind = views.SeenNothing
	row.Sent = &views.Sent{Role: string(models.RoleSystem), Tokens: int64(len(s.request.System) / agent.BytesPerToken)}
	row.Sent.Body = s.cut(row.Sent, s.request.System, maxSentExtra)
	return row
}

func (s *sideBySide) tools() views.ModelRow {
	row, lines := s.row(placeTools), toolLines(s.request.Tools)
	row.Seen.Kind = views.SeenNothing
	row.Sent = &views.Sent{Role: "tools", Offered: len(s.request.Tools), Tokens: int64(len(lines) / agent.BytesPerToken)}
	row.Sent.Body = s.cut(row.Sent, lines, maxSentExtra)
	return row
}

// toolLines are the tools that were offered, as JSON, one a line.
func toolLines(tools []models.SentTool) string {
	var b strings.Builder
	for _, t := range tools {
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false) // people read it
		_ = encoder.Encode(t)        // it was read as JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// after is what came of the conversation after the request, and the model was
// not sent yet; or wrote itself.
func (s *sideBySide) after(ctx context.Context, sent []models.SentMessage) ([]views.ModelRow, error) {
	upto, err := s.lastSeq(ctx, sent)
	if err != nil {
		return nil, err
	}
	newest, _, err := s.h.backward(ctx, s.sess.ID, "", maxAfter)
	if err != nil {
		return nil, err
	}
	var rows []views.ModelRow
	for _, m := range newest {
		said, err := s.turn(ctx, m.TurnID)
		if err != nil {
			return nil, err
		}
		if m.Seq <= upto || (m.Role == models.RoleAssistant && saysNothing(m)) {
			continue
		}
		row := s.row("")
		if row.Seen, err = s.seen(ctx, m, said); err != nil {
			return nil, err
		}
		row.Unsent = views.UnsentYet
		switch {
		case m.Role == models.RoleAssistant && m.State == models.StateRunning:
			row.Unsent, row.Seen.HTML, row.Seen.Kind = views.UnsentWriting, "", views.SeenCalls
		case m.Role == models.RoleAssistant:
			row.Unsent = views.UnsentWritten
		case m.State == models.StateQueued:
			row.Unsent = views.UnsentQueued
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// lastSeq is the place in the session of the last message that was sent.
func (s *sideBySide) lastSeq(ctx context.Context, sent []models.SentMessage) (seq int64, err error) {
	for _, m := range sent {
		said, err := s.turn(ctx, m.TurnID)
		if err != nil {
			return 0, err
		}
		seq = max(seq, m.Seq, said.messages[m.ID].Seq)
	}
	return seq, nil
}
