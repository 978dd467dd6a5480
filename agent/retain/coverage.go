package retain

import (
	"slices"
	"time"

	"offcut/agent"
	"offcut/models"
)

// Merge sorts ranges and joins those that touch or overlap. Empty ranges are
// left out.
func Merge(ranges []models.Range) []models.Range {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r models.Range) bool { return r.Len() <= 0 })
	slices.SortFunc(sorted, func(a, b models.Range) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	var merged []models.Range
	for _, r := range sorted {
		if n := len(merged); n > 0 && r.Start <= merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, r.End)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// Covered is how many bytes the ranges hold together, each byte once.
func Covered(ranges []models.Range) int64 {
	var n int64
	for _, r := range Merge(ranges) {
		n += r.Len()
	}
	return n
}

// ReadsOf derives from a result what it shows the model of kept outputs: the
// preview of its own copy, or the page or the lines of the copy that the call
// asked for.
func ReadsOf(call agent.Call, result agent.ToolResult, at time.Time) []models.OutputRead {
	read := models.OutputRead{OutputID: result.Metadata.OutputID, TurnID: call.TurnID, CallID: call.ID, Kind: models.ReadPreview, At: at}
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
	for _, r := range Merge(ranges) {
		like.Range = r
		reads = append(reads, like)
	}
	return reads
}
