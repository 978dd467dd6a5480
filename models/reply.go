package models

// ThoughtBreak stands between the reasoning of a reply whose text was cut and
// that of the reply that goes on with it: it is a new thought.
const ThoughtBreak = "\n\n"

// CutOff reports whether a reply hit the output-token limit in what it said:
// the next reply of its turn goes on where it stopped, in the middle of a word
// if need be. After tool calls a new text begins, and where nothing was said
// there is nothing to go on with.
func (m Message) CutOff() bool {
	return m.Role == RoleAssistant && m.FinishReason == FinishLength && len(m.ToolCalls) == 0 && (m.Content != "" || m.Reasoning != "")
}

// Continued is m, which was cut off, together with the reply that goes on with
// it: one text under the id of m, which stands and ended as next does.
func (m Message) Continued(next Message) Message {
	if m.Content != "" && m.Reasoning != "" && next.Reasoning != "" {
		m.Reasoning += ThoughtBreak
	}
	m.Content += next.Content
	m.Reasoning += next.Reasoning
	m.ToolCalls, m.State, m.FinishReason, m.Model = next.ToolCalls, next.State, next.FinishReason, next.Model
	return m
}

// JoinReplies is the messages of one turn as people read them: a reply that was
// cut off and those that went on with it are one. The messages of which the
// model was asked to go on may be there or not.
func JoinReplies(messages []Message) []Message {
	joined := make([]Message, 0, len(messages))
	open := -1 // the reply in joined that was cut off
	for _, m := range messages {
		switch {
		case m.Role != RoleAssistant:
			joined = append(joined, m)
			continue
		case open >= 0:
			joined[open] = joined[open].Continued(m)
		default:
			open = len(joined)
			joined = append(joined, m)
		}
		if !joined[open].CutOff() {
			open = -1
		}
	}
	return joined
}
