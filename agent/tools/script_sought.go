package tools

import (
	"encoding/json"
	"strings"

	"offcut/agent"
	"offcut/agent/retain"
	"offcut/agent/script"
	"offcut/models"
)

// soughtInScript is a search that a script made of all of an output.
type soughtInScript struct {
	what  models.NestedSought
	found string // its hits, a line each; empty: there is none
}

// sought notes a search of a script that has shown the script every hit.
func (s *scriptCalls) sought(made script.Call, result agent.ToolResult) {
	sought := retain.SoughtBy(agent.Call{Tool: made.Tool, Arguments: made.Arguments}, result)
	if sought == nil {
		return
	}
	outputID := models.ToolCall{Arguments: string(made.Arguments)}.Reads()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches[made.N] = soughtInScript{models.NestedSought{OutputID: outputID, Sought: *sought}, result.Content}
}

// tell marks the searches among calls of which the model learns what they found
// from a body: that it was nothing, or each line of it. What a script kept to
// itself, nobody has looked at.
func (s *scriptCalls) tell(calls []models.NestedCall, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, search := range s.searches {
		for i := range calls {
			if calls[i].ID == models.NestedCallID(s.parent.ID, n) && toldOfAll(search.found, body) {
				calls[i].Sought = &search.what
			}
		}
	}
}

// toldOfAll reports whether each line of a text stands in a body, as it is or
// within a string of JSON.
func toldOfAll(text, body string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.Contains(body, line) && !strings.Contains(body, inJSON(line)) {
			return false
		}
	}
	return true
}

// inJSON is a text as a string of JSON holds it. A
// script's JSON leaves the characters of HTML as they are.
func inJSON(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)         // a string always has a JSON form
	return b.String()[1 : b.Len()-2] // its quotation marks, and the end of the line
}
