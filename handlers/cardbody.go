package handlers

import (
	"context"
	"errors"

	"offcut/models"
	"offcut/views"
)

// maxPreview bounds, in bytes, what an open card shows of an output: the
// largest preview that a model is given.
const maxPreview = 32 << 10

// cardBody is an open card: what the model was shown, and what of the output
// it was not.
func (h *Handlers) cardBody(ctx context.Context, sess models.Session, call models.ToolCall, result *models.Message) (views.CardBody, error) {
	meta := metadataOf(result)
	body := views.CardBody{
		SessionID: sess.ID, CallID: call.ID, Tool: call.Name, Subject: subject(call),
		Sandbox: meta.Sandbox, SandboxKind: meta.SandboxKind, Approved: meta.Approved,
		Truncated: meta.Truncated, Incomplete: meta.Complete != nil && !*meta.Complete, TimedOut: meta.TimedOut,
		ArgumentsTruncated: meta.ArgumentsTruncated, ReplacedBytes: meta.ReplacedBytes,
		Binary: meta.Binary, SHA256: meta.SHA256,
	}
	if _, known := subjects[call.Name]; !known || meta.IsError {
		body.Arguments = indented(call.Arguments)
	}
	if meta.Retention == models.RetentionFailed {
		body.SaveError = orElse(meta.RetentionError, "the storage failed")
	}
	if meta.OutputID == "" {
		showStored(&body, call, result, meta)
		return body, nil
	}
	out, err := h.keptOutput(ctx, sess.ID, meta.OutputID)
	if err != nil {
		return body, err
	}
	if out.gone {
		showStored(&body, call, result, meta)
		if out.DeletedAt != nil {
			body.DeletedAt = *out.DeletedAt
		}
		return body, nil
	}
	body.OutputID, body.Total = out.ID, out.TotalBytes
	body.Coverage = coverageOf(meta, out)
	body.Seen = lengthOf(models.MergeRanges(append(rangesOf(meta.Shown), out.Coverage...)))
	body.Outcome = endedEarly(result)
	body.Pieces, err = h.pieces(ctx, out.RetainedOutput, meta.Shown)
	if err == nil && len(meta.Shown) == 0 {
		// All that the model saw was made of the copy: there is no range of it.
		body.Pieces = []views.PreviewPiece{{Kind: views.PieceText, Text: clip(result.Content, maxPreview)}}
	}
	return body, err
}

// showStored fills in a result of which there is no copy: its stored body is
// all that can be shown.
func showStored(body *views.CardBody, call models.ToolCall, result *models.Message, meta models.ResultMetadata) {
	changed := changesOf(call.Name, result.Content)
	text := changed.said
	body.Diff = changed.diff
	switch {
	case meta.CapturedBytes != nil:
		body.Total = *meta.CapturedBytes
	case !meta.IsError && body.Diff == "":
		body.Total = int64(len(result.Content))
	}
	body.Seen = min(body.Total, int64(len(result.Content)))
	if !meta.Truncated {
		body.Seen = body.Total
	}
	if result.State == models.StateInterrupted && meta.IsError {
		body.Outcome, text = result.Content, ""
	} else {
		body.Outcome = endedEarly(result)
	}
	if text != "" {
		body.Pieces = []views.PreviewPiece{{Kind: views.PieceText, Text: clip(text, maxPreview), Whole: !meta.Truncated}}
	}
}

// endedEarly is a sentence about a call that somebody or something ended.
func endedEarly(result *models.Message) string {
	switch result.State {
	case models.StateStopped:
		return "It was stopped. What it had done by then stays done."
	case models.StateInterrupted:
		return "It was interrupted when the server ended. What it had done by then stays done."
	}
	return ""
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// pieces is a preview in order: the text that was shown, read from the kept
// copy, and between it what was left out or exists nowhere.
func (h *Handlers) pieces(ctx context.Context, out models.RetainedOutput, shown []models.Range) ([]views.PreviewPiece, error) {
	var pieces []views.PreviewPiece
	at, budget := int64(0), int64(maxPreview)
	for _, r := range models.MergeRanges(shown) {
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
		page, err := h.Reader.Page(ctx, out.SessionID, out.ID, at, int(min(r.End-at, maxPageBytes)))
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

// isNotFound reports whether err says that something is not there.
func isNotFound(err error) bool { return errors.Is(err, models.ErrNotFound) }
