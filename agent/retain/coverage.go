package retain

import (
	"encoding/json"
	"regexp"
	"time"

	"offcut/agent"
	"offcut/models"
)

// ReadsOf derives from a result what it shows the model of kept outputs: the
// preview of its own copy, and the page, the lines or the values of the copy that
// the call asked for.
func ReadsOf(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead {
	read := models.OutputRead{OutputID: result.Metadata.OutputID, TurnID: call.TurnID, CallID: call.ID, Kind: models.ReadPreview, At: at}
	if call.Tool == queryTool {
		return append(readsOf(read, result.Metadata.Shown), queried(call, result, at)...)
	}
	if read.OutputID != "" {
		return readsOf(read, result.Metadata.Shown)
	}
	if read.OutputID = argument(call.Arguments, "output_id"); read.OutputID == "" || result.IsError {
		return nil
	}
	if meta := result.Metadata; meta.Offset != nil && meta.NextOffset != nil {
		read.Kind = models.ReadPage
		return readsOf(read, []models.Range{{Start: *meta.Offset, End: *meta.NextOffset}})
	}
	read.Kind = models.ReadSearch
	return readsOf(read, result.Metadata.Shown)
}

// ReadsLeft is what of ReadsOf remains where the model is sent only these
// stretches of the result's body. Where it is not plain which bytes of a copy
// they are, as of what a terminal shows and of the lines of a search, nothing is:
// coverage counts less than what is seen, and never more. That a copy was searched
// is told with an empty range, also where nothing was found; what for, where all
// of its answer is left and nobody could find more.
func ReadsLeft(call agent.Call, result agent.ToolResult, left []models.Range, at time.Time) []models.OutputRead {
	if len(left) == 0 {
		return nil
	}
	whole := append(ReadsOf(call, result, at), searched(call, result, at)...)
	if models.Length(left) == int64(len(result.Content)) {
		return whole
	}
	var remain []models.OutputRead
	for _, read := range whole {
		var verbatim []stretch
		switch {
		case read.Range.Len() == 0:
			read.Sought = nil // of its answer something is missing
			remain = append(remain, read)
		case read.Kind == models.ReadPage:
			verbatim = []stretch{{0, read.Range}}
		case read.Kind == models.ReadPreview:
			verbatim = stretches(result.Content, models.MergeRanges(result.Metadata.Shown))
		}
		var ranges []models.Range
		for _, s := range verbatim {
			ranges = append(ranges, models.Intersect([]models.Range{read.Range}, s.in(left))...)
		}
		remain = append(remain, readsOf(read, ranges)...)
	}
	return remain
}

// A stretch is a part of a body that is a range of the copy, byte for byte.
type stretch struct {
	at   int64 // in the body
	copy models.Range
}

// in are the bytes of the copy that stand in these parts of the body.
func (s stretch) in(body []models.Range) []models.Range {
	var ranges []models.Range
	for _, r := range models.Intersect(body, []models.Range{{Start: s.at, End: s.at + s.copy.Len()}}) {
		ranges = append(ranges, models.Range{Start: r.Start - s.at + s.copy.Start, End: r.End - s.at + s.copy.Start})
	}
	return ranges
}

// stretches are the head and the tail of a preview around its marker, each where
// it is as long as the range of the copy that it shows: a terminal has overwritten
// nothing in it then.
func stretches(body string, shown []models.Range) []stretch {
	if len(shown) == 0 {
		return nil
	}
	first, last := shown[0], shown[len(shown)-1]
	where := markerLine.FindStringIndex(body)
	if where == nil {
		if len(shown) == 1 && first.Len() == int64(len(body)) {
			return []stretch{{0, first}}
		}
		return nil
	}
	var found []stretch
	head := int64(where[0])
	if first.Len() == head || (first.Len() == head-1 && body[head-1] == '\n') {
		found = append(found, stretch{0, first})
	}
	if tail := int64(where[1]); last.Len() == int64(len(body))-tail && len(shown) > 1 {
		found = append(found, stretch{tail, last})
	}
	return found
}

// markerLine is the line that a preview has where something was left out.
var markerLine = regexp.MustCompile(`(?m)^\[\d+ bytes(?: \([^\n]*\))? left out here[.,][^\n]*(?:\n|$)`)

// readsOf is one read like the given one for each of the merged ranges.
func readsOf(like models.OutputRead, ranges []models.Range) []models.OutputRead {
	var reads []models.OutputRead
	for _, r := range models.MergeRanges(ranges) {
		like.Range = r
		reads = append(reads, like)
	}
	return reads
}

// queryTool is the tool that filters a kept copy.
const queryTool = "query_tool_output"

// searchTool is the tool that searches a kept copy.
const searchTool = "search_tool_output"

// searched notes that a copy was searched.
func searched(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead {
	id := argument(call.Arguments, "output_id")
	if call.Tool != searchTool || id == "" || result.IsError {
		return nil
	}
	return []models.OutputRead{{OutputID: id, TurnID: call.TurnID, CallID: call.ID, Kind: models.ReadSearch, At: at, Sought: SoughtBy(call, result)}}
}

// SoughtBy is what a search looked for that went through all that the tool has
// returned, and showed every place of it; nil of other searches, and other calls.
func SoughtBy(call agent.Call, result agent.ToolResult) *models.Sought {
	var args models.Sought // the arguments have the names of its fields
	meta := result.Metadata
	if call.Tool != searchTool || result.IsError || meta.IsError || meta.Truncated || meta.Complete == nil || !*meta.Complete || json.Unmarshal(call.Arguments, &args) != nil || args.Pattern == "" {
		return nil
	}
	return &args
}

// queried notes that a copy was filtered. What the model sees of it are values
// that were made out of it, and no bytes that could count as seen.
func queried(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead {
	id := argument(call.Arguments, "output_id")
	if id == "" || result.IsError {
		return nil
	}
	return []models.OutputRead{{OutputID: id, TurnID: call.TurnID, CallID: call.ID, Kind: models.ReadQuery, At: at}}
}
