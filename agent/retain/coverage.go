package retain

import (
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

// queried notes that a copy was filtered. What the model sees of it are values
// that were made out of it, and no bytes that could count as seen.
func queried(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead {
	id := argument(call.Arguments, "output_id")
	if id == "" || result.IsError {
		return nil
	}
	return []models.OutputRead{{OutputID: id, TurnID: call.TurnID, CallID: call.ID, Kind: models.ReadQuery, At: at}}
}
