package retain

import (
	"slices"

	"offcut/models"
)

// A draft is a result before its copy is saved.
type draft struct {
	layout  layout
	sum     sums
	preview preview
	lost    int64 // bytes that came and were held no longer when the copy was made
	// Of a binary output.
	dump   []byte
	sha256 string
}

func (c *Capture) draft(o outcome) draft {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := draft{layout: c.layout(c.binary(true)), lost: c.lost()}
	d.sum = c.compose(d.layout, func(part) {})
	if d.layout.binary {
		d.dump = c.dumpHead(d.layout, min(BinaryBodyBytes, o.shape.budget))
		d.sha256 = c.digest(d.layout)
		return d
	}
	d.preview = c.preview(d.layout, o.shape)
	return d
}

// cut: the body leaves out something that the copy has.
func (d draft) cut() bool {
	if d.layout.binary {
		return int64(len(d.dump)) < d.sum.total
	}
	return d.preview.cut() || d.preview.collapsed
}

func (d draft) captured() int64 { return d.sum.kept + d.sum.omitted }

// needsCopy: the result says less than what was captured, or the copy must
// stay for another reason.
func (d draft) needsCopy(created bool, end Ending) bool {
	if end == Stopped && (created || d.captured() > 0) {
		return true
	}
	return d.cut() || d.layout.binary || d.sum.omitted > 0 || d.sum.replaced > 0
}

// describe fills in the figures that hold whether or not the copy is saved.
func (d draft) describe(o outcome) models.ResultMetadata {
	meta := o.meta
	meta.TimedOut = meta.TimedOut || o.end == TimedOut
	meta.Truncated = meta.Truncated || d.cut() || d.sum.omitted > 0
	meta.ReplacedBytes += d.sum.replaced // beside what the tool itself replaced
	if d.layout.binary {
		meta.Binary, meta.SHA256 = true, d.sha256
	}
	reasons := slices.Concat(meta.Reasons, d.layout.reasons)
	if d.cut() {
		reasons = append(reasons, o.budget.reasons(d.length())...)
	}
	meta.Reasons = nil
	for _, reason := range reasons {
		if !slices.Contains(meta.Reasons, reason) { // the tool may have cut for the same one
			meta.Reasons = append(meta.Reasons, reason)
		}
	}
	return meta
}

// length is what the body would take, were nothing left out.
func (d draft) length() int64 {
	if d.layout.binary {
		return d.sum.total
	}
	return d.preview.total
}

func (d draft) shown() []models.Range {
	if d.layout.binary {
		return models.MergeRanges([]models.Range{{End: int64(len(d.dump))}})
	}
	return d.preview.shown()
}

// unsavedLine ends a body whose copy could not be stored, where no marker says
// so.
const unsavedLine = "[The copy of this output could not be kept: recovery is unavailable.]"

// body is the result's body. saved is false where a copy was needed and could
// not be stored.
func (d draft) body(cfg Config, outputID string, o outcome, saved bool) string {
	if o.call.Parent != "" {
		return d.bare()
	}
	if d.layout.binary {
		return withLine(string(d.dump), !saved)
	}
	message, lack := cfg.message(), d.sum.lack()
	if !saved {
		message, lack = unsavedMessage, ""
	}
	body := d.preview.body(lack, expand(message, d.captured(), d.preview.kept(), o.budget.tokens, outputID))
	if body == "" && o.printed {
		body = NoOutput
	}
	return withLine(body, !saved && !d.preview.cut())
}

// bare is the body without a word that the tool did not print, for a program
// that reads it.
func (d draft) bare() string {
	if d.layout.binary {
		return string(d.dump)
	}
	return d.preview.bare()
}

func withLine(body string, unsaved bool) string {
	if !unsaved {
		return body
	}
	if body != "" && body[len(body)-1] != '\n' {
		body += "\n"
	}
	return body + unsavedLine
}
