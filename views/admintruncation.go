package views

import (
	"net/url"
	"strconv"
)

// AdminTruncation is the page of what the layers took of tool results.
type AdminTruncation struct {
	Filter        TruncationFilter
	Tools, Models []string // those of which there is something
	Total         Cuts
	ByTool        []Cuts
	ByModel       []Cuts
	Days          []Cuts // the oldest first
	Layers        []LayerLine
	Steps         Steps
}

// TruncationFilter is what of it is shown.
type TruncationFilter struct {
	Days        int // the last ones, today among them; 0: all
	Tool, Model string
}

// truncationPeriods are the periods that can be chosen, in days.
var truncationPeriods = []int{1, 14, 90, 0}

func (f TruncationFilter) csv() string {
	params := url.Values{"days": {strconv.Itoa(f.Days)}}
	if f.Tool != "" {
		params.Set("tool", f.Tool)
	}
	if f.Model != "" {
		params.Set("model", f.Model)
	}
	return addressOf("/admin/truncation.csv", params)
}

// Cuts are the figures of a tool, a model or a day, or of all of them.
type Cuts struct {
	Name                                string // of the tool, the model or the day
	Calls, Truncated, Consulted, Reruns int64
	Produced, Hidden, Recovered         int64 // bytes
	Incomplete, FailedSaves             int64
	Continuations, CapHits, Retries     int64
	Repaired, Refused                   int64
	Answers, Unread, GapsNamed, Doubted int64
	// NoticeAt is the share of truncated results from which on there is a
	// notice.
	NoticeAt float64
}

// LayerLine is what came to a layer and what it let through, in bytes.
type LayerLine struct {
	Name    string
	In, Out int64
}

// over: more of the tool's results are cut than its notice allows.
func (c Cuts) over() bool {
	return c.Truncated > 0 && float64(c.Truncated) > c.NoticeAt*float64(c.Calls)
}

// previewKey is the setting that shows more of the tool's results.
func (c Cuts) previewKey() string { return "tools." + c.Name + ".previewBytes" }

// maxNotices is how many tools are written about; the table marks them all.
const maxNotices = 3

// none: there is nothing to show.
func (v AdminTruncation) none() bool {
	return v.Total.Calls == 0 && v.Total.Retries == 0 && v.Total.Continuations == 0 && v.Total.Answers == 0
}

// notices are the tools over their threshold, those with most cut results first,
// and how many there are beside these.
func (v AdminTruncation) notices() (first []Cuts, more int) {
	var over []Cuts
	for _, c := range v.ByTool {
		if c.over() {
			over = append(over, c)
		}
	}
	first = mostCut(over, maxNotices)
	return first, len(over) - len(first)
}

// portion is a part of a whole, as short as it can be said.
func portion(part, whole int64) string {
	switch {
	case part <= 0 || whole <= 0:
		return "0"
	case part >= whole:
		return "100"
	}
	return share(part, whole)
}

// barWidth is a part of a whole, for a bar.
func barWidth(part, whole int64) string {
	if part <= 0 || whole <= 0 {
		return "0%"
	}
	return strconv.FormatFloat(min(100, 100*float64(part)/float64(whole)), 'f', 1, 64) + "%"
}

// limitPercent is a threshold as people write it.
func limitPercent(share float64) string { return strconv.FormatFloat(100*share, 'f', -1, 64) }
