package models

import (
	"fmt"
	"strconv"
	"strings"
)

// NestedOutput is the kept copy of what a call within a script returned.
type NestedOutput struct {
	Tool       string `json:"tool"`
	OutputID   string `json:"output_id,omitempty"`
	TotalBytes *int64 `json:"total_bytes,omitempty"`
	Complete   *bool  `json:"complete,omitempty"`
	// Retention and RetentionError are there where the copy could not be stored.
	Retention      Retention `json:"retention,omitempty"`
	RetentionError string    `json:"retention_error,omitempty"`
}

// NestedCall is a call that a script made, as people are shown it.
type NestedCall struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Arguments are a JSON object in which long texts are shortened.
	Arguments   string    `json:"arguments"`
	State       CallState `json:"state"`
	IsError     bool      `json:"is_error,omitempty"`
	ExitCode    *int      `json:"exit_code,omitempty"`
	Signal      string    `json:"signal,omitempty"`
	TimedOut    bool      `json:"timed_out,omitempty"`
	ExecutionMS *int64    `json:"execution_ms,omitempty"`
	OutputID    string    `json:"output_id,omitempty"`
	TotalBytes  *int64    `json:"total_bytes,omitempty"`
	Complete    *bool     `json:"complete,omitempty"`
	// Unsaved: what it returned could not be kept.
	Unsaved bool `json:"unsaved,omitempty"`
	// Unstarted: it never ran, and had no effect.
	Unstarted bool `json:"unstarted,omitempty"`
	// Sought is what a search looked for, where the script's result tells the
	// model what it found: all of it, or that it was nothing. nil of other calls.
	Sought *NestedSought `json:"sought,omitempty"`

	// Result is what it came to, of one that ran and has ended; for the figures.
	Result *NestedResult `json:"-"`
}

// Output is the copy of what the call returned, or what became of it; false:
// none was needed.
func (c NestedCall) Output() (NestedOutput, bool) {
	if c.Unsaved {
		return NestedOutput{Tool: c.Tool, Retention: RetentionFailed}, true
	}
	return NestedOutput{Tool: c.Tool, OutputID: c.OutputID, TotalBytes: c.TotalBytes, Complete: c.Complete}, c.OutputID != ""
}

// NestedSought is a search that a script made of all of an output.
type NestedSought struct {
	OutputID string `json:"output_id"`
	Sought
}

// NestedResult is a call as the script made it, and what is known of its result.
type NestedResult struct {
	Arguments string
	Metadata  ResultMetadata // with its Passage
}

// maxNotedTools bounds how many tools one part of a note names.
const maxNotedTools = 20

// NestedNote tells the model of a script that was cut off which of its calls
// ran: what is unknown of the script's effects is only what is unknown of
// theirs.
func NestedNote(calls []NestedCall) string {
	var ended, cut, unrun noted
	for _, c := range calls {
		switch {
		case c.Unstarted || c.State == CallDenied:
			unrun.add(c.Tool)
		case c.State == CallOK || c.State == CallError:
			ended.add(c.Tool)
		default:
			cut.add(c.Tool)
		}
	}
	var parts []string
	for _, part := range []struct {
		noted
		says string
	}{
		{ended, "%d came to the end (%s)"},
		{cut, "%d had begun and did not come to the end, with effects unknown (%s)"},
		{unrun, "%d did not run and had no effect (%s)"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf(part.says, part.n, part.tools()))
		}
	}
	if len(parts) == 0 {
		return "[The script had called no tool.]"
	}
	return "[Of the script's calls, " + strings.Join(parts, "; ") + ".]"
}

// noted are calls, by their tools.
type noted struct {
	n     int
	names []string
	times map[string]int
}

func (c *noted) add(tool string) {
	if c.times == nil {
		c.times = map[string]int{}
	}
	if c.n++; c.times[tool] == 0 {
		c.names = append(c.names, tool)
	}
	c.times[tool]++
}

func (c noted) tools() string {
	var words []string
	for _, name := range c.names[:min(len(c.names), maxNotedTools)] {
		word := name
		if times := c.times[name]; times > 1 {
			word = fmt.Sprintf("%d %s", times, name)
		}
		words = append(words, word)
	}
	if len(c.names) > maxNotedTools {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// nestedMark stands in the id of a call within a script between the script's
// call and its number.
const nestedMark = "_s"

// NestedCallID is the id of a call within the call with the id parent, counted
// from 1.
func NestedCallID(parent string, n int) string {
	return parent + nestedMark + strconv.Itoa(n)
}

// ParentCallID is the call within which the call with this id may have been
// made: that is for who has the parent to see. false: the model made it.
func ParentCallID(id string) (string, bool) {
	at := strings.LastIndex(id, nestedMark)
	if at <= 0 {
		return "", false
	}
	if n, err := strconv.Atoi(id[at+len(nestedMark):]); err != nil || n < 1 {
		return "", false
	}
	return id[:at], true
}
