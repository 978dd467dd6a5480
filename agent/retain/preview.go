package retain

import (
	"fmt"
	"slices"
	"strings"

	"offcut/agent"
	"offcut/models"
)

// NoOutput is the body of a command that printed nothing.
const NoOutput = "(no output)"

// DefaultMessage is what the marker of a preview says after it has named the
// gap. {original} and {kept} are the size of what the tool produced and of what
// is shown, in the unit of the budget; {output_id} names the kept copy.
const DefaultMessage = "{kept} of {original} are shown. The kept copy is {output_id}: " +
	"search it (search_tool_output) or read it (read_tool_output), or ask a narrower question."

// unsavedMessage stands in its place where the copy could not be stored.
const unsavedMessage = "{kept} of {original} are shown. The result could not be kept: recovery is unavailable. Ask a narrower question."

// A previewShape says how a preview is cut.
type previewShape struct {
	budget   int // bytes; markers are not counted
	keep     Keep
	code     bool // the result is source code
	terminal bool // show what a terminal would
}

// A preview is what a model is shown at once of a result.
type preview struct {
	views     []view
	total     int64 // length of the text, were it shown whole
	collapsed bool  // visible text was overwritten
	copy      sums
}

// preview chooses what is shown of a kept copy: all of it in the order of
// reading where it fits; else of each stream its share, stderr a quarter and
// what the other does not need.
func (c *Capture) preview(l layout, shape previewShape) preview {
	merged := newFeed(shape)
	streams := [2]*feed{merged, merged}
	both := c.tapes[Stdout].total > 0 && c.tapes[Stderr].total > 0
	if both {
		streams = [2]*feed{newFeed(shape), newFeed(shape)}
	}
	sum := c.compose(l, func(p part) {
		merged.write(p.text, p.offset)
		if both {
			streams[p.stream].write(p.text, p.offset)
		}
	})
	merged.close()
	p := preview{total: merged.total, collapsed: merged.terminal.collapsed, copy: sum}
	budget := int64(shape.budget)
	if !both || merged.total <= budget {
		p.views = []view{viewOf(merged.window, budget, shape.keep, shape.code)}
		return p
	}
	streams[Stdout].close()
	streams[Stderr].close()
	out, err := streams[Stdout].total, streams[Stderr].total
	errShare := min(err, max(budget/4, budget-out))
	p.views = appendView(p.views, streams[Stdout].window, Stdout, min(out, budget-errShare), shape)
	p.views = appendView(p.views, streams[Stderr].window, Stderr, errShare, shape)
	return p
}

func appendView(views []view, w *window, s Stream, share int64, shape previewShape) []view {
	if w.total == 0 {
		return views
	}
	v := viewOf(w, share, shape.keep, shape.code)
	v.label = "[" + s.String() + "]\n"
	return append(views, v)
}

// A feed brings text to a window, through a terminal where that is wanted.
type feed struct {
	*window
	terminal *terminal
	direct   bool
	next     int64
}

func newFeed(shape previewShape) *feed {
	w := newWindow(shape.budget)
	return &feed{window: w, terminal: &terminal{screen: w}, direct: !shape.terminal}
}

func (f *feed) write(text []byte, offset int64) {
	if !f.direct {
		f.terminal.write(text, offset)
		return
	}
	if offset != f.next {
		f.jump()
	}
	f.show(text, offset)
	f.next = offset + int64(len(text))
}

func (f *feed) close() { f.terminal.close() }

// cut: something is left out of the preview.
func (p preview) cut() bool { return slices.ContainsFunc(p.views, view.cut) }

// kept is how many bytes of the text are shown.
func (p preview) kept() int64 {
	var n int64
	for _, v := range p.views {
		n += v.shown()
	}
	return n
}

// shown are the ranges of the copy that stand in the body.
func (p preview) shown() []models.Range {
	var groups [][]span
	for _, v := range p.views {
		groups = append(groups, v.spans()...)
	}
	return rangesOf(groups, MaxShownRanges)
}

// body is the preview as text. lack and message are what a marker says of the
// copy and after the gap.
func (p preview) body(lack, message string) string {
	var b strings.Builder
	for _, v := range p.views {
		if v.label != "" {
			startLine(&b)
			b.WriteString(v.label)
		}
		b.Write(v.text.head[:min(v.head, int64(len(v.text.head)))])
		if !v.cut() {
			continue
		}
		startLine(&b)
		b.WriteString(p.marker(v, lack, message))
		if v.tail < v.text.total {
			b.WriteByte('\n')
			b.Write(v.text.tail[v.tail-v.text.tailAt():])
		}
	}
	return b.String()
}

// bare is the preview without its markers and labels. What stood on two lines
// stays on two.
func (p preview) bare() string {
	var b strings.Builder
	for _, v := range p.views {
		if b.Len() > 0 {
			startLine(&b)
		}
		b.Write(v.text.head[:min(v.head, int64(len(v.text.head)))])
		if v.cut() && v.tail < v.text.total {
			startLine(&b)
			b.Write(v.text.tail[v.tail-v.text.tailAt():])
		}
	}
	return b.String()
}

func startLine(b *strings.Builder) {
	if s := b.String(); s != "" && s[len(s)-1] != '\n' {
		b.WriteByte('\n')
	}
}

// marker is the line that stands for a gap. It is no JSON value, so that what
// was JSON before it was cut never reads as a shorter document.
func (p preview) marker(v view, lack, message string) string {
	left := ""
	if v.left != "" {
		left = " (" + v.left + ")"
	}
	return fmt.Sprintf("[%d bytes%s left out here%s. %s]", p.gap(v), left, lack, message)
}

// lack says of a copy that is not all that came how long it is and how much was
// never kept, so that the gap, what is shown and what is missing add up to what
// the tool produced; empty of a whole one.
func (s sums) lack() string {
	if s.complete() {
		return ""
	}
	var markers int64
	for _, gap := range s.gaps {
		markers += gap.MarkerBytes
	}
	return fmt.Sprintf(", of a copy of %d bytes; %d more were never kept, and %d bytes of the copy say so", s.total, s.omitted, markers)
}

// gap is how many bytes of the copy are left out of a view; of one of two
// streams, how many bytes of its own.
func (p preview) gap(v view) int64 {
	spans := v.spans()
	head, tail := spans[0], spans[1]
	if v.label != "" || len(head) == 0 || (len(tail) == 0 && v.tail < v.text.total) {
		return v.tail - v.head
	}
	from, to := head[len(head)-1], p.copy.total
	if len(tail) > 0 {
		to = tail[0].offset
	}
	return to - from.offset - from.n
}

// expand fills a template.
func expand(template string, original, kept int64, tokens bool, outputID string) string {
	return strings.NewReplacer(
		"{original}", amount(original, tokens), "{kept}", amount(kept, tokens), "{output_id}", outputID,
	).Replace(template)
}

// amount names a size in the unit of the budget.
func amount(n int64, tokens bool) string {
	if tokens {
		return fmt.Sprintf("%d tokens", (n+agent.BytesPerToken-1)/agent.BytesPerToken)
	}
	return fmt.Sprintf("%d bytes", n)
}
