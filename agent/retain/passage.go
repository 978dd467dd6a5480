package retain

import "offcut/models"

// fate says what became of a result's copy.
type fate int

const (
	needless fate = iota // none was needed
	copied               // there is one
	lost                 // it could not be stored
)

// passage is what the layers let through of a result.
//
// A result without a copy is what a terminal would show of it, all of which is
// in the body. Of a copy are counted the bytes without its own marker lines; it
// shows as much as is listed of it. A copy that could not be stored keeps what
// the body shows: the rest is gone.
func (d draft) passage(copy fate) *models.Passage {
	p := models.Passage{Shown: d.shownBytes()}
	if copy == needless {
		p.Produced, p.Captured, p.Retained = p.Shown, p.Shown, p.Shown
		return &p
	}
	meta := models.ResultMetadata{TotalBytes: &d.sum.total, Shown: d.shown()}
	hidden := models.Length(meta.HiddenRanges(d.sum.gaps))
	meta.Shown = nil
	p.Retained = models.Length(meta.HiddenRanges(d.sum.gaps)) // with nothing shown: all of it
	p.Captured = p.Retained + d.asText(max(0, d.sum.omitted-d.lost))
	p.Produced = p.Captured + d.asText(d.lost)
	p.Shown = p.Retained - hidden
	if copy == lost {
		p.Retained = p.Shown
	}
	return &p
}

// shownBytes is the length of what the body shows.
func (d draft) shownBytes() int64 {
	if d.layout.binary {
		return int64(len(d.dump))
	}
	return d.preview.kept()
}

// asText is how long bytes would be as text, had they been kept.
func (d draft) asText(n int64) int64 {
	if d.layout.binary {
		return dumpLen(n)
	}
	return n
}
