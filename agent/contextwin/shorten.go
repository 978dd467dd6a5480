package contextwin

import (
	"slices"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// The sizes and words of a shortened result, in characters. They are part of
// the product's contract.
const (
	largeResult = 4000 // results over it are shortened by age
	keptAtEnds  = 1500 // of a trimmed result, at each end
	// Gap stands between the ends of a trimmed result.
	Gap = "…"
	// ClearedText is the whole body of a cleared result.
	ClearedText = "[Old tool result content cleared]"
)

// Decision is how a tool result is shortened: once made it stays, so that the
// provider finds in its cache what it was sent before.
type Decision struct {
	// Keep is how many characters of the body stay at each end; 0: it is
	// cleared.
	Keep int
}

// Decisions are the results that are shortened, by the id of their call.
type Decisions map[string]Decision

// shorter reports whether d leaves less than e.
func (d Decision) shorter(e Decision) bool { return d.Keep < e.Keep }

// CopyRanges tells which bytes of its kept copy these stretches of a stored
// result's body are: none where that is not plain.
type CopyRanges func(stored models.Message, left []models.Range) []models.Range

// apply shortens the result of a tool's call. Its metadata says so, and
// leads back to the whole: to its kept copy, or to the result as it is stored
// where there is none, or where it is elsewhere, in another session.
func (d Decision) apply(m models.Message, tool string, elsewhere bool, of CopyRanges) models.Message {
	body, left := d.body(m.Content)
	meta := ledBack(m, elsewhere)
	switch {
	case meta.OutputID == agent.ResultOutputID(m.ToolCallID):
		meta.Shown = left
	case of != nil:
		meta.Shown = of(m, left)
	default:
		meta.Shown = nil
	}
	meta.Passage = passageOf(m, models.Length(left))
	meta.Tool, meta.Truncated = tool, true
	meta.Reasons = append(slices.Clone(meta.Reasons), models.ReasonPruning)
	m.Content, m.Metadata = body, &meta
	return m
}

// passageOf is the passage of a stored result of which a request holds so many
// bytes of the body.
func passageOf(m models.Message, left int64) *models.Passage {
	p := models.PassageOf(m, nil)
	left = min(left, p.Shown)
	p.Sent = &left
	return &p
}

// ledBack is the metadata of a result with the output_id under which it can be
// read.
func ledBack(m models.Message, elsewhere bool) models.ResultMetadata {
	var meta models.ResultMetadata
	if m.Metadata != nil {
		meta = *m.Metadata
	}
	if elsewhere {
		meta.Nested = nil // these copies stayed behind too
	}
	switch {
	case meta.OutputID == "" && meta.Complete == nil:
		meta.Complete = models.Ptr(meta.Retention != models.RetentionFailed && len(meta.Reasons) == 0)
	case meta.OutputID == "":
	case elsewhere:
		meta.Complete = models.Ptr(!meta.Truncated)
		meta.Retention, meta.CapturedBytes, meta.OmittedBytes = "", nil, nil // of the copy that is not here
	default:
		return meta
	}
	meta.OutputID, meta.TotalBytes = agent.ResultOutputID(m.ToolCallID), models.Ptr(int64(len(m.Content)))
	return meta
}

// body is what is left of a body, and the byte ranges of it that stand there.
func (d Decision) body(whole string) (string, []models.Range) {
	if d.Keep == 0 {
		return ClearedText, nil
	}
	if utf8.RuneCountInString(whole) <= 2*d.Keep {
		return whole, []models.Range{{End: int64(len(whole))}}
	}
	head, tail := ends(whole, d.Keep)
	return whole[:head] + Gap + whole[tail:], []models.Range{{End: int64(head)}, {Start: int64(tail), End: int64(len(whole))}}
}

// ends are the byte offsets behind the first and before the last n characters
// of a text that has more of them.
func ends(text string, n int) (head, tail int) {
	tail = len(text)
	for range n {
		_, size := utf8.DecodeRuneInString(text[head:])
		head += size
		_, size = utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	return head, tail
}

func large(body string) bool {
	return len(body) > largeResult && utf8.RuneCountInString(body) > largeResult
}

// Left is how many bytes of a result's body a message holds that Fit or Shrink
// made of it; models.SentWhole where nothing was taken.
func Left(m models.Message) int64 {
	switch {
	case m.Metadata == nil || !slices.Contains(m.Metadata.Reasons, models.ReasonPruning):
		return models.SentWhole
	case m.Content == ClearedText:
		return 0
	}
	return int64(len(m.Content) - len(Gap))
}

// LeftOf are the stretches of a stored result's body that the message holds that
// Fit or Shrink made of it.
func LeftOf(stored, sent models.Message) []models.Range {
	switch Left(sent) {
	case models.SentWhole:
		return []models.Range{{End: int64(len(stored.Content))}}
	case 0:
		return nil
	}
	_, left := Decision{Keep: utf8.RuneCountInString(sent.Content) / 2}.body(stored.Content)
	return left
}
