package contextwin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// elsewhere tells of the results of a history whether their kept copies are those
// of another session: a fork and an import have the results without the copies.
// Those of the turn that runs are this session's.
func (w *Window) elsewhere(ctx context.Context, history []models.Message) func(models.Message) bool {
	running := ""
	if len(history) > 0 {
		running = history[len(history)-1].TurnID
	}
	return func(m models.Message) bool {
		ids := outputIDs(m)
		if len(ids) == 0 || m.TurnID == running {
			return false
		}
		if !w.asked {
			w.owned, w.asked = w.memory.OutputIDs(ctx), true
		}
		return w.owned != nil && slices.ContainsFunc(ids, func(id string) bool { return !w.owned[id] })
	}
}

// outputIDs are the kept copies to which a result leads: its own, and those of
// the calls that a script made.
func outputIDs(m models.Message) (ids []string) {
	if m.Metadata == nil {
		return nil
	}
	if m.Metadata.OutputID != "" {
		ids = append(ids, m.Metadata.OutputID)
	}
	for _, kept := range m.Metadata.Nested {
		if kept.OutputID != "" {
			ids = append(ids, kept.OutputID)
		}
	}
	return ids
}

// listed is one result of the covered turns that can still be read.
type listed struct {
	OutputID   string `json:"output_id"`
	Tool       string `json:"tool"`
	Title      string `json:"title,omitempty"`
	TotalBytes int64  `json:"total_bytes"`
	Complete   bool   `json:"complete"`
}

// titleBytes bounds what made a result, in the list of them.
const titleBytes = 200

// outputsOf are the kept outputs that were made in a stretch of history.
func outputsOf(all []models.RetainedOutput, history []models.Message) []listed {
	turns := map[string]bool{}
	for _, m := range history {
		turns[m.TurnID] = true
	}
	var list []listed
	for _, o := range all {
		if turns[o.TurnID] {
			list = append(list, listed{o.ID, o.Tool, clipped(o.Title, titleBytes), o.TotalBytes, o.Complete})
		}
	}
	return list
}

// results are the large results of a stretch of history that have no kept copy:
// they are read as they are stored.
func results(history []models.Message, elsewhere func(models.Message) bool) []listed {
	calls := map[string]models.ToolCall{}
	var list []listed
	for _, m := range history {
		for _, c := range m.ToolCalls {
			calls[c.ID] = c
		}
		call, known := calls[m.ToolCallID]
		if m.Role != models.RoleTool || !known || !large(m.Content) {
			continue
		}
		if meta := ledBack(m, elsewhere(m)); meta.OutputID == agent.ResultOutputID(m.ToolCallID) {
			list = append(list, listed{meta.OutputID, call.Name, clipped(call.Arguments, titleBytes), *meta.TotalBytes, *meta.Complete})
		}
	}
	return list
}

const (
	listHead = "\n\nTool results of that part can still be read whole, with read_tool_output and search_tool_output. They are:\n"
	listCut  = "(and %d earlier ones)\n"
)

// outputList is the end of a summary: the results that can still be read, a line
// of JSON for each. Kept copies are named first; where there are more than fit
// into most bytes, the newest of them.
func outputList(kept, stored []listed, most int) string {
	all := slices.Concat(stored, kept) // read backward
	var lines []string
	left := most - len(listHead) - len(listCut) - 8
	for _, one := range slices.Backward(all) {
		line, err := json.Marshal(one)
		if err != nil || left < len(line)+1 { // plain values always marshal
			break
		}
		left -= len(line) + 1
		lines = append(lines, string(line)+"\n")
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Reverse(lines)
	text := listHead
	if more := len(all) - len(lines); more > 0 {
		text += fmt.Sprintf(listCut, more)
	}
	return text + strings.Join(lines, "")
}

// clipped is the beginning of a text that is longer than most bytes.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, most-len(Gap))], "") + Gap
}
