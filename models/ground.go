package models

import (
	"cmp"
	"slices"
)

// Ground is an output that the answer of a turn rests on: a kept copy, or a
// stored result that was shortened in what the model was sent. It tells what of
// it stood in the last request of the turn to which a reply came, when that was
// made.
type Ground struct {
	OutputID string `json:"output_id"`
	Tool     string `json:"tool"`
	Title    string `json:"title,omitempty"` // what made it, for people; empty where that is not known
	// TotalBytes is the length of the copy, and OmittedBytes what its tool
	// returned beyond it.
	TotalBytes   int64 `json:"total_bytes"`
	OmittedBytes int64 `json:"omitted_bytes"`
	Complete     bool  `json:"complete"`
	Running      bool  `json:"running"` // it grew
	// Seen are the ranges that the request held, and Taken those that an earlier
	// one had held and it did not: at most MaxGroundRanges of each, the longest.
	// The sums are those of all.
	Seen       []Range `json:"seen"`
	SeenBytes  int64   `json:"seen_bytes"`
	Taken      []Range `json:"taken"`
	TakenBytes int64   `json:"taken_bytes"`
	// Searched and Queried: the request held the answer to a search in it, or to a
	// filter of it. What a filter makes of it is no range of it.
	Searched bool `json:"searched"`
	Queried  bool `json:"queried"`
	// Sought is what searches looked for in all of it, and showed every place of,
	// as far as the request held their answers whole: at most MaxSought, the last.
	Sought []Sought `json:"sought"`
	// Earlier: only results of earlier turns showed anything of it.
	Earlier bool `json:"earlier"`
	// Gone: the session has no such output, or not any more; filled by the store.
	Gone bool `json:"-"`
}

// The bounds of what is noted of one answer.
const (
	MaxGrounds      = 64
	MaxGroundRanges = 64
)

// Unseen is how many bytes of the copy the request did not hold.
func (g Ground) Unseen() int64 { return max(0, g.TotalBytes-g.SeenBytes) }

// Lacking: bytes of what its tool returned are in no copy. One that still runs
// lacks nothing.
func (g Ground) Lacking() bool { return !g.Complete && !g.Running }

// Whole: the model had all of what the tool returned before it.
func (g Ground) Whole() bool { return g.Unseen() == 0 && !g.Lacking() }

// FirstUnseen is the byte of the copy at which the first stretch begins that the
// request did not hold.
func (g Ground) FirstUnseen() int64 {
	unseen := Subtract([]Range{{End: g.TotalBytes}}, g.Seen)
	if len(unseen) == 0 {
		return 0
	}
	return unseen[0].Start
}

// See notes ranges that the request held, Take those that it did not.
func (g *Ground) See(ranges ...Range)  { g.Seen = MergeRanges(append(slices.Clone(g.Seen), ranges...)) }
func (g *Ground) Take(ranges ...Range) { g.Taken = append(slices.Clone(g.Taken), ranges...) }

// Seek notes that all of the output was searched.
func (g *Ground) Seek(s Sought) {
	if !slices.Contains(g.Sought, s) {
		g.Sought = append(slices.Clone(g.Sought), s)
	}
}

// Settled is the ground once everything of its request was noted: with sums, and
// within its bounds.
func (g Ground) Settled() Ground {
	g.Taken = Subtract(g.Taken, g.Seen)
	g.SeenBytes, g.TakenBytes = Length(g.Seen), Length(g.Taken)
	g.Seen, g.Taken = longest(g.Seen), longest(g.Taken)
	g.Sought = g.Sought[max(0, len(g.Sought)-MaxSought):]
	return g
}

// longest are at most MaxGroundRanges of merged ranges, in their order.
func longest(ranges []Range) []Range {
	if len(ranges) <= MaxGroundRanges {
		return ranges
	}
	kept := slices.Clone(ranges)
	slices.SortStableFunc(kept, func(a, b Range) int { return cmp.Compare(b.Len(), a.Len()) })
	return MergeRanges(kept[:MaxGroundRanges])
}
