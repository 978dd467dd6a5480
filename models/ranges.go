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

// Subtract returns the bytes of ranges that are not in others, as MergeRanges
// does.
func Subtract(ranges, others []Range) []Range {
	var left []Range
	others = MergeRanges(others)
	for _, r := range MergeRanges(ranges) {
		for _, o := range others {
			if o.End <= r.Start || o.Start >= r.End {
				continue
			}
			if o.Start > r.Start {
				left = append(left, Range{r.Start, o.Start})
			}
			r.Start = o.End
		}
		if r.Start < r.End {
			left = append(left, r)
		}
	}
	return left
}

// Intersect returns the bytes that are both in ranges and in others, as
// MergeRanges does.
func Intersect(ranges, others []Range) []Range {
	return Subtract(ranges, Subtract(ranges, others))
}

// Length is the number of bytes in ranges that do not overlap.
func Length(ranges []Range) int64 {
	var n int64
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}
