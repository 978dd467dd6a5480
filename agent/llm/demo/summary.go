package demo

import (
	"encoding/json"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// summarises reports whether the model is asked for a summary of an older part
// of a conversation.
func (c conversation) summarises() bool {
	return len(c.messages) > 0 && c.messages[0].Role == models.RoleSystem && strings.HasPrefix(c.messages[0].Content, agent.SummaryTask)
}

// summary goes on with the summary so far by what the user asked in the messages
// that follow it, one JSON object a line.
func (c conversation) summary() string {
	const soFar, heading = "Summary so far:\n", "The user asked, oldest first:"
	text, _ := c.question()
	before, lines, _ := strings.Cut(text, "Messages:\n")
	summary := strings.TrimSpace(strings.TrimPrefix(before, soFar))
	if !strings.Contains(summary, heading) {
		summary = strings.TrimSpace(summary + "\n\n" + heading)
	}
	for line := range strings.Lines(lines) {
		var m message
		if json.Unmarshal([]byte(line), &m) == nil && m.Role == models.RolePerson {
			summary += "\n- " + models.TitleFrom(m.Content)
		}
	}
	return summary
}

// summarised is the summary that stands for an older part of the conversation;
// empty where none does.
func (c conversation) summarised() string {
	for _, m := range c.messages {
		if m.Role == models.RolePerson && strings.HasPrefix(m.Content, agent.SummaryHead) {
			return m.Content
		}
	}
	return ""
}

// listedOutput is the id of the last kept output that a summary lists, in a line
// of JSON.
func listedOutput(summary string) (id string) {
	for line := range strings.Lines(summary) {
		var listed struct {
			OutputID string `json:"output_id"`
		}
		if json.Unmarshal([]byte(line), &listed) == nil && listed.OutputID != "" {
			id = listed.OutputID
		}
	}
	return id
}
