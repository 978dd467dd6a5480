package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// The bounds of what a script gets of one result, in bytes: of its text, which
// however it is escaped fits an answer, and of the sentence that it is thrown.
const (
	maxScriptText  = 10 << 20
	maxScriptError = 64 << 10
)

// fitted is a result with so much of its text as a script gets. That it is not
// all is said in its metadata, which lead to the copy, or in the sentence.
func fitted(result agent.ToolResult) (fits agent.ToolResult, cut bool) {
	most := maxScriptText
	if result.IsError {
		most = maxScriptError
	}
	whole := len(result.Content)
	if whole <= most {
		return result, false
	}
	for most > 0 && !utf8.RuneStart(result.Content[most]) {
		most--
	}
	result.Content = result.Content[:most]
	meta := &result.Metadata
	meta.Truncated = true
	meta.Reasons = append(meta.Reasons, models.ReasonPreview)
	meta.Passage.Shown -= int64(whole - most)
	if result.IsError {
		result.Content += fmt.Sprintf("… (the first %d of %d bytes)", most, whole)
		if meta.OutputID != "" {
			result.Content += " read_tool_output gives the rest by output_id " + meta.OutputID + "."
		}
	}
	return result, true
}

// commandValue is what a script gets of run_command. All of it is always there.
type commandValue struct {
	ExitCode   *int    `json:"exit_code"`
	Signal     *string `json:"signal"`
	TimedOut   bool    `json:"timed_out"`
	Text       string  `json:"text"`
	Truncated  bool    `json:"truncated"`
	OutputID   *string `json:"output_id"`
	TotalBytes int64   `json:"total_bytes"`
	Complete   bool    `json:"complete"`
}

// scriptValue is what a script gets of a result: of run_command a few
// keys, of any other tool its text with its metadata beside it, and what is said
// of the text; cut: the text is not all that the tool returned.
func scriptValue(tool string, result agent.ToolResult, cut bool) json.RawMessage {
	if tool == "run_command" {
		return mustJSON(commandValueOf(result))
	}
	meta := result.Metadata
	if meta.Retention != "" && !cut { // what is said of a copy that has no more is for the model
		meta.Retention, meta.RetentionError, meta.OutputID, meta.TotalBytes = "", "", "", nil
		if meta.Offset == nil && !lacks(meta) {
			meta.Complete = nil
		}
	}
	var value map[string]any
	if err := json.Unmarshal([]byte(meta.Line()), &value); err != nil {
		value = map[string]any{} // every key is a plain value: this does not happen
	}
	value["text"] = result.Content
	if result.Entries != nil {
		value["entries"] = *result.Entries
	}
	if len(result.Notes) > 0 {
		value["notes"] = result.Notes
	}
	return mustJSON(value)
}

// lacks reports whether the tool itself did not have all that it was to return.
// That a copy is not whole says nothing of the text beside it.
func lacks(meta models.ResultMetadata) bool {
	return meta.Complete != nil && !*meta.Complete &&
		(slices.Contains(meta.Reasons, models.ReasonCapture) || slices.Contains(meta.Reasons, models.ReasonRetention))
}

func commandValueOf(result agent.ToolResult) commandValue {
	meta := result.Metadata
	value := commandValue{
		ExitCode: meta.ExitCode, TimedOut: meta.TimedOut, Text: result.Content, Truncated: meta.Truncated,
		TotalBytes: int64(len(result.Content)), Complete: true,
	}
	if meta.Signal != "" {
		value.Signal = &meta.Signal
	}
	if meta.Retention == models.RetentionFailed {
		value.Complete = !meta.Truncated
	}
	if meta.OutputID != "" {
		value.OutputID = &meta.OutputID
	}
	if meta.TotalBytes != nil {
		value.TotalBytes = *meta.TotalBytes
	}
	if meta.Complete != nil {
		value.Complete = *meta.Complete
	}
	return value
}
