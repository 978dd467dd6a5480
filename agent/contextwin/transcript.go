package contextwin

import (
	"encoding/json"

	"offcut/models"
)

// details are how many characters of each text a model that summarises is shown:
// fewer where a conversation would else take too many requests.
var details = []int{6000, 1500, 400}

// transcript is a stretch of history for whoever summarises it, in pieces of at
// most so many bytes, and in about so many pieces.
func transcript(history []models.Message, bytes, pieces int) []string {
	for i, detail := range details {
		if all := packed(lines(history, detail), bytes); len(all) <= pieces || i == len(details)-1 {
			return all
		}
	}
	return nil
}

// packed joins lines to pieces of at most so many bytes. A line that is longer
// has a piece of its own.
func packed(lines []string, bytes int) []string {
	var pieces []string
	for _, line := range lines {
		if last := len(pieces) - 1; last >= 0 && len(pieces[last])+len(line) <= bytes {
			pieces[last] += line
			continue
		}
		pieces = append(pieces, line)
	}
	return pieces
}

func lines(history []models.Message, detail int) []string {
	tools := map[string]string{}
	all := make([]string, 0, len(history))
	for _, m := range history {
		for _, c := range m.ToolCalls {
			tools[c.ID] = c.Name
		}
		all = append(all, line(m, tools[m.ToolCallID], detail))
	}
	return all
}

// middled is a text with its middle left out where it has more than most
// characters: a result is known by its ends.
func middled(text string, most int) string {
	short, _ := Decision{Keep: most / 2}.body(text)
	return short
}

// line writes a message as one line of JSON for whoever summarises it: nothing
// in it can pass for another message.
func line(m models.Message, tool string, most int) string {
	type call struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	one := struct {
		Role       models.Role `json:"role"`
		Tool       string      `json:"tool,omitempty"`
		OutputID   string      `json:"output_id,omitempty"`
		TotalBytes *int64      `json:"total_bytes,omitempty"`
		IsError    bool        `json:"is_error,omitempty"`
		Content    string      `json:"content"`
		Calls      []call      `json:"calls,omitempty"`
	}{Role: m.Role, Tool: tool, Content: middled(m.Content, most)}
	if meta := m.Metadata; meta != nil && m.Role == models.RoleTool {
		one.OutputID, one.TotalBytes, one.IsError = meta.OutputID, meta.TotalBytes, meta.IsError
	}
	for _, c := range m.ToolCalls {
		one.Calls = append(one.Calls, call{c.Name, middled(c.Arguments, most)})
	}
	text, err := json.Marshal(one)
	if err != nil {
		return "" // plain values always marshal
	}
	return string(text) + "\n"
}
