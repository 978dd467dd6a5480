package models

import (
	"cmp"
	"slices"
)

// MergeRanges returns the bytes of ranges as ascending ranges that neither
// overlap nor touch; empty ones are left out. It does not change ranges.
func MergeRanges(ranges []Range) []Range {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	var merged []Range
	for _, r := range sorted {
		last := len(merged) - 1
		switch {
		case r.End <= r.Start:
		case last >= 0 && r.Start <= merged[last].End:
			merged[last].End = max(merged[last].End, r.End)
		default:
			merged = append(merged, r)
		}
	}
	return merged
}
