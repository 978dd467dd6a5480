package models

import "time"

// OtherTools is the name under which figures stand of tools that there are not,
// and of those that came after more names than are kept.
const OtherTools = "(other)"

// Figures sum what became of tool results, and of turns.
type Figures struct {
	Day   string // such as 2026-11-30, in UTC; empty of a sum over days
	Tool  string // empty of what is counted by turns, and of a sum over tools
	Model string // by its name in the configuration; empty of a sum over models
	Calls int64  // results of tool calls
	// Truncated are the results of which the model was not shown all at once.
	Truncated int64
	// The bytes that came out of the tools and of each layer; see Passage.
	Produced, Captured, Retained, Shown, Sent int64
	// Recovered are the bytes of cut results that the model read later.
	Recovered int64
	// Consulted are the cut results whose copy was read or searched later.
	Consulted int64
	// Reruns are the calls that asked again for what had been cut.
	Reruns      int64
	Incomplete  int64 // copies that are not all that the tool returned
	FailedSaves int64 // copies that could not be stored
	// Repaired are the calls that ran on arguments that had been cut, and
	// Refused those that did not.
	Repaired, Refused int64
	// Of turns.
	Continuations int64
	CapHits       int64 // turns that ended at the bound of continuations or requests
	Retries       int64
	// Answers are the turns that came to one, and those of them that Footing tells
	// of.
	Answers, Unread, GapsNamed, Doubted int64
}

// Hidden are the bytes that the model was not shown at once.
func (f Figures) Hidden() int64 { return f.Produced - f.Shown }

// Layers are the sums by layer; see Passage.Layers.
func (f Figures) Layers() []LayerBytes {
	return Passage{f.Produced, f.Captured, f.Retained, f.Shown, &f.Sent}.Layers()
}

// FiguresQuery says which figures are summed.
type FiguresQuery struct {
	From, To time.Time // days in UTC, both included; the zero time: no bound
	Tool     string    // empty: all
	Model    string    // empty: all
}

// FiguresBy says what there is one sum for.
type FiguresBy string

// The sums.
const (
	FiguresByDay   FiguresBy = "day"   // for each day, tool and model
	FiguresByTool  FiguresBy = "tool"  // for each tool
	FiguresByModel FiguresBy = "model" // for each model
)

// FiguresList asks for a page of sums: the newest day first, then by tool and
// model.
type FiguresList struct {
	FiguresQuery
	By FiguresBy
	Page
}

// DefaultNoticeShare is the share of a tool's results of which more are not to
// be cut without a notice: 1 %.
const DefaultNoticeShare = 0.01

// OverNotice: a larger share of the results was cut than that.
func (f Figures) OverNotice(share float64) bool {
	return f.Truncated > 0 && float64(f.Truncated) > share*float64(f.Calls)
}
