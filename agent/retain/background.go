package retain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"offcut/agent"
	"offcut/models"
)

// OutputID names the copy of the recording, whether or not it is stored yet.
func (r *Recording) OutputID() string { return r.saver.row.ID }

// Keep stores the copy as far as it has come, and has it stay whatever comes:
// for a command that goes on after its call. Until End it is written at least
// every second. The error says in words for people why it is not stored; it is
// tried again then.
func (r *Recording) Keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	r.saving.Lock()
	defer r.saving.Unlock()
	s := r.saver
	if !s.row.Background {
		s.row.Background = true
		s.seen = -1 // a row is written that says so, also where nothing was printed
	}
	if err := s.run(ctx); err != nil {
		return errors.New(saveError(err))
	}
	return nil
}

// Soon is the result of a call whose command goes on: meta with what is known
// of the copy so far. The text is the body; its %s becomes the output_id. saved
// is the error of Keep.
func (r *Recording) Soon(text string, saved error, meta models.ResultMetadata) agent.ToolResult {
	r.saving.Lock()
	defer r.saving.Unlock()
	row := r.saver.row
	meta.Complete = models.Ptr(false)
	if saved != nil {
		meta.Retention, meta.RetentionError = models.RetentionFailed, saved.Error()
	} else {
		meta.Retention, meta.OutputID, meta.TotalBytes = models.RetentionKept, row.ID, models.Ptr(row.TotalBytes)
	}
	return answer(r.call, meta, fmt.Sprintf(text, row.ID))
}

// SoFar is Soon with a preview of what was printed before the text.
func (r *Recording) SoFar(text string, saved error, meta models.ResultMetadata) agent.ToolResult {
	budget := r.keeper.cfg.budget(r.call, CommandPreviewBytes)
	o := outcome{
		call: r.call, budget: budget, meta: meta, printed: true,
		shape: previewShape{budget: budget.bytes(), keep: budget.keep, terminal: true},
	}
	d := r.capture.draft(o)
	result := r.Soon(text, saved, d.describe(o))
	if d.captured() == 0 {
		return result
	}
	result.Metadata.CapturedBytes = models.Ptr(d.captured())
	if saved == nil {
		result.Metadata.Shown = within(d.shown(), *result.Metadata.TotalBytes)
	}
	result.Content = withNote(d.body(r.keeper.cfg, result.Metadata.OutputID, o, saved == nil), result.Content)
	return result
}

// within is what of the ranges lies before an end: of a copy that grows only its
// head stays where it is.
func within(ranges []models.Range, end int64) []models.Range {
	ranges = slices.Clone(ranges)
	for i := range ranges {
		ranges[i].End = min(ranges[i].End, end)
	}
	return models.MergeRanges(ranges)
}

func withNote(body, note string) string {
	if body != "" && body[len(body)-1] != '\n' {
		body += "\n"
	}
	return body + note
}

// End ends the recording of a command that went on after its call: as Finish
// does, but for a result, which that call has had. Where the rest cannot be
// stored the copy ends with what had been stored before.
func (r *Recording) End(ctx context.Context, end Ending, how models.CommandEnd) error {
	close(r.ended)
	r.working.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	r.saving.Lock()
	defer r.saving.Unlock()
	s := r.saver
	layout, sum, sha256 := r.capture.settle()
	s.row.SHA256, s.row.End = sha256, &how
	err := s.finish(ctx, layout, sum, sum.complete() && end != Stopped)
	if err == nil || !s.created {
		return err
	}
	kept := s.row
	kept.SHA256 = ""
	return errors.Join(err, r.keeper.recover(ctx, kept, r.capture.Bytes()))
}

// settle is what the copy of all that came is made of.
func (c *Capture) settle() (l layout, sum sums, sha256 string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l = c.layout(c.binary(true))
	sum = c.compose(l, func(part) {})
	if l.binary {
		sha256 = c.digest(l)
	}
	return l, sum, sha256
}
