package handlers

import (
	"context"
	"errors"
	"strings"

	"offcut/models"
	"offcut/views"
)

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
	if !meta.IsError {
		body.File = fileOf(call)
	}
	if body.Code = h.codeOf(call); body.Code != "" {
		body.Subject, _, _ = strings.Cut(body.Subject, "\n")
		var err error
		if body.Nested, err = h.nestedCalls(ctx, sess, meta.Calls); err != nil {
			return body, err
		}
	} else if _, known := subjects[call.Name]; !known || meta.IsError {
		body.Arguments = indented(call.Arguments)
	}
	if meta.Retention == models.RetentionFailed {
		body.Unsaved, body.SaveError = true, meta.RetentionError
	}
	held, shown, err := h.Store.Held(ctx, sess.ID, call.ID)
	if err != nil {
		return body, err
	}
	body.Held, body.Taken = held, shown-held
	if meta.OutputID == "" {
		showStored(&body, call, result, meta)
		return body, h.unseen(ctx, &body, result)
	}
	out, err := h.keptOutput(ctx, sess.ID, meta.OutputID)
	if err != nil {
		return body, err
	}
	if out.gone {
		showGone(&body, out, result, meta)
		return body, h.unseen(ctx, &body, result)
	}
	body.OutputID, body.Total = out.ID, out.TotalBytes
	body.Coverage = coverageOf(out)
	body.Seen = lengthOf(out.Coverage)
	body.Ended = endedEarly(result)
	if meta.Background != "" {
		body.Incomplete, body.Ended, body.TimedOut = !out.Complete && !out.Running, endedInBackground(out), out.End != nil && out.End.TimedOut
		body.Pieces, err = h.ranges(ctx, out.RetainedOutput, meta.Shown)
		return body, err
	}
	body.Pieces, err = h.pieces(ctx, out.RetainedOutput, meta, result.Content)
	return body, err
}

// unseen takes back what was seen of a result that the model was never sent: of
// what has no copy nothing else tells it.
func (h *Handlers) unseen(ctx context.Context, body *views.CardBody, result *models.Message) error {
	sent, err := h.Store.Replied(ctx, *result)
	if !sent {
		body.Seen = 0
	}
	return err
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
	if result.NotStarted() || (result.State == models.StateInterrupted && meta.IsError) {
		body.Outcome, text = result.Content, ""
	} else {
		body.Ended = endedEarly(result)
	}
	if streams := streamsOf(text); body.Unsaved && len(streams) > 0 {
		body.Pieces, body.Seen = ofLost(streams)
		return
	}
	if text != "" {
		body.Pieces = []views.PreviewPiece{{Kind: views.PieceText, Text: clip(text, maxPreview), Whole: !meta.Truncated}}
	}
}

// showGone fills in a result whose copy is no longer there: of what was left
// out of its preview only the length is known.
func showGone(body *views.CardBody, out kept, result *models.Message, meta models.ResultMetadata) {
	body.Gone = true
	if out.DeletedAt != nil {
		body.DeletedAt = *out.DeletedAt
	}
	if meta.TotalBytes != nil {
		body.Total = *meta.TotalBytes
	}
	body.Seen = lengthOf(models.MergeRanges(rangesOf(meta.Shown)))
	body.Ended = endedEarly(result)
	if streams := streamsOf(result.Content); len(streams) > 0 {
		body.Pieces, _ = ofLost(streams)
		return
	}
	body.Pieces = []views.PreviewPiece{{Kind: views.PieceText, Text: clip(result.Content, maxPreview), Whole: !meta.Truncated}}
}

// endedEarly is how a call ended that somebody or something ended.
func endedEarly(result *models.Message) string {
	switch result.CallState() {
	case models.CallStopped:
		return views.CardStopped
	case models.CallInterrupted:
		return views.CardInterrupted
	}
	return ""
}

// endedInBackground is endedEarly of a command that went on after its call.
func endedInBackground(out kept) string {
	switch out.BackgroundState() {
	case models.BackgroundRunning:
		return views.CardBackground
	case models.BackgroundStopped:
		return views.CardStopped
	case models.BackgroundInterrupted:
		return views.CardInterrupted
	}
	return ""
}

// isNotFound reports whether err says that something is not there.
func isNotFound(err error) bool { return errors.Is(err, models.ErrNotFound) }
