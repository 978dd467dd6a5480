package tools

import (
	"encoding/json"

	"offcut/agent"
	"offcut/models"
)

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
// of the text.
func scriptValue(tool string, result agent.ToolResult) json.RawMessage {
	if tool == "run_command" {
		return mustJSON(commandValueOf(result))
	}
	meta := result.Metadata
	if meta.Retention != "" { // what is said of a copy is for the model
		meta.Retention, meta.RetentionError, meta.OutputID, meta.TotalBytes = "", "", "", nil
		if meta.Offset == nil {
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
