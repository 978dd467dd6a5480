package contextwin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"offcut/agent"
	"offcut/agent/contextwin"
	"offcut/models"
)

// forked is a session whose large results came from another one, each with the
// output_id of a copy that stayed there.
func forked(turns int) []models.Message {
	history := chatted(turns, 2000)
	for i := range history {
		if m := &history[i]; m.Role == models.RoleTool {
			m.Content = text(6000)
			m.Metadata = &models.ResultMetadata{
				Truncated: true, OutputID: "out_of_origin_" + m.ToolCallID, TotalBytes: models.Ptr(int64(90_000)), Complete: models.Ptr(true),
				CapturedBytes: models.Ptr(int64(90_000)), Retention: models.RetentionKept, Reasons: []models.Reason{models.ReasonPreview},
			}
		}
	}
	return history
}

// metadataOf is the first line of a result as the model reads it.
func metadataOf(t *testing.T, m models.Message) map[string]any {
	t.Helper()
	line, _, _ := strings.Cut(agent.ToolText(m), "\n")
	var meta map[string]any
	if err := json.Unmarshal([]byte(line), &meta); err != nil {
		t.Fatal(err)
	}
	return meta
}

func TestAShortenedResultOfAForkLeadsToWhatTheForkHas(t *testing.T) {
	book := &notebook{ids: map[string]bool{"out_of_origin_call_1": true}} // one is the session's own
	sent, _ := book.window(contextwin.Limits{ContextTokens: 20_000}, nil).Fit(t.Context(), agent.Request{Messages: forked(9)})
	shortened := 0
	for _, m := range sent {
		if m.Role != models.RoleTool || !strings.HasPrefix(m.Content, "[Old") {
			continue
		}
		shortened++
		meta := metadataOf(t, m)
		if m.ToolCallID == "call_1" {
			if meta["output_id"] != "out_of_origin_call_1" || meta["total_bytes"] != 90_000.0 || meta["complete"] != true {
				t.Errorf("a result with a copy: %v", meta)
			}
			continue
		}
		if meta["output_id"] != agent.ResultOutputID(m.ToolCallID) || meta["total_bytes"] != 6000.0 || meta["complete"] != false || meta["captured_bytes"] != nil {
			t.Errorf("a result whose copy stayed behind: %v", meta)
		}
	}
	if shortened < 3 {
		t.Errorf("%d results were shortened", shortened)
	}
}

func TestAShortenedScriptOfAForkLeadsToNoCopyThatStayedBehind(t *testing.T) {
	history := forked(9)
	for i := range history {
		if m := &history[i]; m.Role == models.RoleTool {
			m.Metadata = &models.ResultMetadata{
				Retention: models.RetentionNotNeeded, Nested: []models.NestedOutput{{Tool: "look", OutputID: "out_nested_" + m.ToolCallID}},
			}
		}
	}
	book := &notebook{ids: map[string]bool{"out_nested_call_1": true}}
	sent, _ := book.window(contextwin.Limits{ContextTokens: 20_000}, nil).Fit(t.Context(), agent.Request{Messages: history})
	shortened := 0
	for _, m := range sent {
		if m.Role != models.RoleTool || !strings.HasPrefix(m.Content, "[Old") {
			continue
		}
		shortened++
		meta := metadataOf(t, m)
		if _, leads := meta["nested"]; leads != (m.ToolCallID == "call_1") || meta["output_id"] != agent.ResultOutputID(m.ToolCallID) {
			t.Errorf("%s: %v", m.ToolCallID, meta)
		}
	}
	if shortened < 3 {
		t.Errorf("%d results were shortened", shortened)
	}
}

func TestASummaryInAForkNamesWhatTheForkHas(t *testing.T) {
	book := &notebook{ids: map[string]bool{}}
	script := writes("It went on.")
	sent, _ := book.window(contextwin.Limits{ContextTokens: 12_000}, script).Fit(t.Context(), agent.Request{Messages: forked(16)})
	if !strings.Contains(sent[0].Content, fmt.Sprintf(`{"output_id":%q,"tool":"look","title":"{}","total_bytes":6000,"complete":false}`, agent.ResultOutputID("call_0"))) {
		t.Errorf("begins with %.700s", sent[0].Content)
	}
	for _, request := range script.Requests() {
		if strings.Contains(request.Messages[0].Content, "out_of_origin") {
			t.Error("who summarises it was shown an id that leads nowhere")
		}
	}
}

// What the running turn kept is the session's own, however new it is.
func TestAnOutputOfTheRunningTurnIsTheSessions(t *testing.T) {
	history := forked(2)
	for i := range history {
		history[i].TurnID = "trn_now"
	}
	book := &notebook{ids: map[string]bool{}}
	sent, _ := book.window(contextwin.Limits{ContextTokens: 2000}, nil).Fit(t.Context(), agent.Request{Messages: history})
	for _, m := range sent {
		if m.Role == models.RoleTool && m.Metadata.OutputID != "out_of_origin_"+m.ToolCallID {
			t.Errorf("%+v", m.Metadata)
		}
	}
}
