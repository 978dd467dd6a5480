package handlers

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"offcut/models"
	"offcut/views"
)

// maxPreview bounds, in bytes, what an open card shows of an output: the
// largest preview that a model is given unless it is configured otherwise.
const maxPreview = 32 << 10

// maxRead bounds, in bytes, what is read of a copy to show that much of it: its
// colours, and what was overwritten, come on top.
const maxRead = 4 * maxPreview

// pieces is what the model saw of a kept result, in order, and between it what
// was left out or exists nowhere. Where the text stands in the copy it is read
// from there, with its colours; body is the text without them.
func (h *Handlers) pieces(ctx context.Context, out models.RetainedOutput, meta models.ResultMetadata, body string) ([]views.PreviewPiece, error) {
	if !budgeted(out.Tool, meta, body) && len(out.Gaps) == 0 {
		return h.seenWhole(ctx, out, body)
	}
	switch streams := streamsOf(body); {
	case len(streams) == 1 && len(meta.Shown) > 0:
		if seen := sidesOf(meta.Shown, out.TotalBytes, streams[0].left); seen != nil {
			return h.ranges(ctx, out, seen)
		}
		fallthrough
	case len(streams) > 0:
		return ofStreams(streams, meta.Shown, out), nil
	case len(meta.Shown) == 0:
		return seen(body), nil // all of it was made of the copy: there is no range of it
	}
	return h.ranges(ctx, out, meta.Shown)
}

// seen is a body that was seen whole.
func seen(body string) []views.PreviewPiece {
	return []views.PreviewPiece{{Kind: views.PieceText, Text: clip(body, maxPreview), Whole: true}}
}

// budgeted reports whether something was left out of a body for want of room:
// not because a terminal had overwritten it, as only those of commands do.
func budgeted(tool string, meta models.ResultMetadata, body string) bool {
	byReason := slices.Contains(meta.Reasons, models.ReasonPreview) || slices.Contains(meta.Reasons, models.ReasonWindow)
	return byReason && (tool != "run_command" || meta.Binary || marker.MatchString(body))
}

// seenWhole is a result of which the model saw all that a terminal shows in
// the end. Its copy, where that is not much longer, becomes the same on the
// page, in colour.
func (h *Handlers) seenWhole(ctx context.Context, out models.RetainedOutput, body string) ([]views.PreviewPiece, error) {
	if out.TotalBytes > maxRead {
		return seen(body), nil
	}
	text, end, err := h.read(ctx, out, models.Range{End: out.TotalBytes})
	return []views.PreviewPiece{{Kind: views.PieceText, Text: text, End: end, Whole: true}}, err
}

// marker is the line that stands in a body for what was left out of it, with
// the number of bytes.
var marker = regexp.MustCompile(`(?m)^\[(\d+) bytes(?: \([^\n]*\))? left out here[.,] `)

// holesOf are the stretches between the ranges that were shown, and after them.
func holesOf(shown []models.Range, total int64) (holes []models.Range) {
	at := int64(0)
	for _, r := range models.MergeRanges(rangesOf(shown)) {
		if r.Start > at {
			holes = append(holes, models.Range{Start: at, End: r.Start})
		}
		at = r.End
	}
	if at < total {
		holes = append(holes, models.Range{Start: at, End: total})
	}
	return holes
}

// sidesOf are the two stretches of the copy around the one that was left out,
// with what a terminal has overwritten in them; nil where they are too long to
// be read for that, or where it is not plain what was left out.
func sidesOf(shown []models.Range, total, left int64) []models.Range {
	for _, hole := range holesOf(shown, total) {
		if hole.Len() == left && total-left <= maxRead {
			return []models.Range{{End: hole.Start}, {Start: hole.End, End: total}}
		}
	}
	return nil
}

// ranges is a preview by the ranges of the copy that were shown.
func (h *Handlers) ranges(ctx context.Context, out models.RetainedOutput, shown []models.Range) ([]views.PreviewPiece, error) {
	var pieces []views.PreviewPiece
	at, budget := int64(0), int64(maxRead)
	for _, r := range models.MergeRanges(rangesOf(shown)) {
		r.Start, r.End = max(r.Start, at), min(r.End, out.TotalBytes, r.Start+budget)
		if r.End <= r.Start {
			continue
		}
		pieces = append(pieces, between(out.Gaps, models.Range{Start: at, End: r.Start})...)
		text, end, err := h.read(ctx, out, r)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, views.PreviewPiece{Kind: views.PieceText, Text: text, Start: r.Start, End: end})
		at, budget = end, budget-r.Len()
	}
	pieces = append(pieces, between(out.Gaps, models.Range{Start: at, End: out.TotalBytes})...)
	for i := range pieces {
		pieces[i].Whole = len(pieces) == 1
	}
	return pieces, nil
}

// stream is what a body shows of one stream of a command, or of a result that
// has no streams.
type stream struct {
	name, head, tail string
	left             int64 // bytes of it that are not shown; 0: it is whole
}

// streamsOf takes a body apart that was cut: two streams stand in it one after
// the other, each headed, and else one without a name; nil where nothing says
// that it was cut.
func streamsOf(body string) []stream {
	const first, second = "[stdout]\n", "\n[stderr]\n"
	if !marker.MatchString(body) {
		return nil
	}
	if rest, ok := strings.CutPrefix(body, first); ok {
		if out, err, ok := strings.Cut(rest, second); ok {
			return []stream{streamOf("stdout", out+"\n"), streamOf("stderr", err)}
		}
	}
	return []stream{streamOf("", body)}
}

func streamOf(name, text string) stream {
	where := marker.FindStringSubmatchIndex(text)
	if where == nil {
		return stream{name: name, head: text}
	}
	left, _ := strconv.ParseInt(text[where[2]:where[3]], 10, 64) // digits; too many for a number are none of ours
	_, tail, _ := strings.Cut(text[where[0]:], "\n")
	return stream{name: name, head: text[:where[0]], tail: tail, left: left}
}

// ofStreams is a preview of two streams, each headed. In the copy they stand as
// they were printed, so that a cut edge opens the longest stretch that is not
// shown of either.
func ofStreams(streams []stream, shown []models.Range, out models.RetainedOutput) []views.PreviewPiece {
	holes := holesOf(shown, out.TotalBytes)
	slices.SortStableFunc(holes, func(a, b models.Range) int { return int(b.Len() - a.Len()) })
	var pieces []views.PreviewPiece
	add := func(s stream, text string, shown int64) {
		if text != "" {
			pieces = append(pieces, views.PreviewPiece{
				Kind: views.PieceText, Text: clip(text, maxPreview), Stream: s.name, Bytes: shown, Whole: s.left == 0,
			})
		}
	}
	for i, s := range streams {
		add(s, s.head, int64(len(s.head)+len(s.tail)))
		if s.left == 0 {
			continue
		}
		hole := models.Range{}
		if len(holes) > 0 {
			hole = holes[min(i, len(holes)-1)]
		}
		pieces = append(pieces, views.PreviewPiece{Kind: views.PieceCut, Start: hole.Start, End: hole.End, Bytes: s.left})
		add(stream{left: s.left}, s.tail, 0)
	}
	for _, gap := range out.Gaps {
		pieces = append(pieces, between([]models.Gap{gap}, models.Range{Start: gap.At, End: gap.At + max(gap.MarkerBytes, 1)})...)
	}
	return pieces
}

// ofLost is a preview of what is not kept: what was left out of it exists
// nowhere. shown is how many bytes of it the model saw.
func ofLost(streams []stream) (pieces []views.PreviewPiece, shown int64) {
	for _, s := range streams {
		n := int64(len(s.head) + len(s.tail))
		shown += n
		pieces = append(pieces, views.PreviewPiece{
			Kind: views.PieceText, Text: clip(s.head, maxPreview), Stream: s.name, Bytes: n, Whole: s.left == 0,
		})
		if s.left == 0 {
			continue
		}
		pieces = append(pieces, views.PreviewPiece{Kind: views.PieceLost, Bytes: s.left})
		if s.tail != "" {
			pieces = append(pieces, views.PreviewPiece{Kind: views.PieceText, Text: clip(s.tail, maxPreview)})
		}
	}
	return pieces, shown
}

// between is what stands between two texts of a preview: cut edges for what is
// kept, and bands for what is not.
func between(gaps []models.Gap, r models.Range) []views.PreviewPiece {
	var pieces []views.PreviewPiece
	cut := func(from, to int64) {
		if to > from {
			pieces = append(pieces, views.PreviewPiece{Kind: views.PieceCut, Start: from, End: to, Bytes: to - from})
		}
	}
	at := r.Start
	for _, gap := range gaps {
		if gap.At < r.Start || gap.At >= r.End {
			continue
		}
		cut(at, gap.At)
		at = min(gap.At+gap.MarkerBytes, r.End)
		pieces = append(pieces, views.PreviewPiece{
			Kind: views.PieceLost, Start: gap.At, End: at, Bytes: gap.Omitted, Stream: gap.Stream,
		})
	}
	cut(at, r.End)
	return pieces
}

// read is a range of a kept copy as text, by pages.
func (h *Handlers) read(ctx context.Context, out models.RetainedOutput, r models.Range) (string, int64, error) {
	var text []byte
	at := r.Start
	for at < r.End {
		page, err := h.Reader.Page(ctx, out.SessionID, out.ID, at, int(min(r.End-at, models.MaxPageBytes)))
		if err != nil {
			return "", 0, err
		}
		if page.NextOffset <= at {
			break
		}
		text, at = append(text, page.Text...), page.NextOffset
	}
	// The smallest page can be longer than what was left of the range.
	if over := at - r.End; over > 0 && over < int64(len(text)) {
		text, at = text[:int64(len(text))-over], r.End
	}
	return string(text), at, nil
}
