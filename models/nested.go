package models

import (
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
}

// nestedMark stands in the id of a call within a script between the script's
// call and its number.
const nestedMark = "_s"

// NestedCallID is the id of a call within the call with the id parent, counted
// from 1.
func NestedCallID(parent string, n int) string {
	return parent + nestedMark + strconv.Itoa(n)
}

// NestedCallIDs are between which two, in the order of their bytes, the ids of
// all calls within a call lie: from first on and before end.
func NestedCallIDs(parent string) (first, end string) {
	return parent + nestedMark, parent + nestedMark + ":" // which follows the digits
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
