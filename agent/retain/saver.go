package retain

import (
	"context"
	"time"

	"offcut/agent"
	"offcut/models"
)

// A saver writes the copy of one recording: piece by piece while it runs, and
// whole at its end. It is used from one goroutine at a time.
type saver struct {
	store   Store
	capture *Capture
	row     models.RetainedOutput
	// original is what the text was made of, nil: it is the original; replaced
	// is how many bytes the tool replaced in making it.
	original *agent.Original
	replaced int64
	now      func() time.Time
	kept     func(outputID string) // is told once the copy is stored; may be nil

	created bool
	text    int64 // bytes of text that are stored
	raw     int64 // and of original bytes
	spilled bool
	seen    int64 // what had come at the last write
	binary  bool
	head    growing
	buffer  []byte
}

// run stores what came so far: the head that only grows, and in the spill what
// is needed to end the copy after a crash. What fails is tried again by the
// next write, which brings the whole difference.
func (s *saver) run(ctx context.Context) error {
	if s.created && s.capture.Bytes() == s.seen {
		return nil
	}
	next, w, err := s.growth()
	s.buffer = next.buffer
	if err != nil {
		return err
	}
	return s.write(ctx, next, w)
}

// growth is the next state of the saver, and the write that leads to it.
func (s *saver) growth() (saver, models.OutputWrite, error) {
	c := s.capture
	c.mu.Lock()
	defer c.mu.Unlock()
	next := *s
	next.binary = s.binary || c.binary(false)
	next.head.grow(c, next.binary)
	l := c.layout(next.binary)
	sum := c.compose(l, func(part) {})
	withRaw := rawStored(next.binary, sum.replaced)
	text, raw := c.copyFrom(l, sum, s.text, s.raw, withRaw, s.buffer)
	next.buffer = text

	headText, headRaw := next.head.textBytes(), s.raw
	if withRaw {
		headRaw = next.head.bytes
	}
	if next.binary {
		// Whole lines of the dump, which do not change any more.
		headText, headRaw = s.text, max(s.raw, headRaw/dumpRow*dumpRow)
	}
	w := models.OutputWrite{Text: text[:headText-s.text], Raw: raw[:headRaw-s.raw]}
	rest, rawRest := text[headText-s.text:], raw[headRaw-s.raw:]
	if w.SetSpill = len(rest)+len(rawRest) > 0 || s.spilled; len(rest)+len(rawRest) > 0 {
		var err error
		w.Spill, err = spill{
			TextFrom: headText, RawFrom: headRaw, Total: sum.total, RawTotal: sum.raw, Captured: c.total(),
			Omitted: sum.omitted, Replaced: sum.replaced, Binary: next.binary, Gaps: sum.gaps,
		}.encode(rest, rawRest)
		if err != nil {
			return next, w, err
		}
	}
	next.text, next.raw, next.spilled, next.seen = headText, headRaw, len(w.Spill) > 0, c.total()
	next.row.Binary = next.binary
	next.row.CapturedBytes = next.seen
	next.row.ReplacedBytes = sum.replaced
	next.row.TotalBytes, next.row.RawBytes = headText, headText
	next.row.OmittedBytes = next.seen - next.head.bytes
	if withRaw {
		next.row.RawBytes = headRaw
		next.row.OmittedBytes = next.seen - headRaw
	}
	if next.binary {
		next.row.TotalBytes = dumpLen(headRaw)
	}
	return next, w, nil
}

// finish stores the rest of the copy and ends it.
func (s *saver) finish(ctx context.Context, l layout, sum sums, complete bool) error {
	s.capture.mu.Lock()
	withRaw := s.original == nil && rawStored(l.binary, sum.replaced)
	text, raw := s.capture.copyFrom(l, sum, s.text, s.raw, withRaw, nil)
	s.capture.mu.Unlock()
	next := *s
	ended := s.now()
	next.row.Running = false
	next.row.EndedAt = &ended
	next.row.Complete = complete
	next.row.Binary = l.binary
	next.row.TotalBytes, next.row.RawBytes = sum.total, sum.raw
	next.row.CapturedBytes = sum.kept + sum.omitted
	next.row.OmittedBytes = sum.omitted
	next.row.ReplacedBytes = sum.replaced
	next.row.Gaps = sum.gaps
	if l.binary {
		text = nil
	}
	if s.original != nil {
		raw = s.original.Bytes
		next.row.Original, next.row.RawBytes = s.original.MediaType, int64(len(raw))
		next.row.ReplacedBytes += s.replaced
	}
	return s.write(ctx, next, models.OutputWrite{Text: text, Raw: raw, SetSpill: s.spilled})
}

// write creates the copy where that was not done, stores one write, and takes
// on the state that it leads to.
func (s *saver) write(ctx context.Context, next saver, w models.OutputWrite) error {
	if !s.created {
		fresh := s.row
		fresh.Running = true
		if err := s.store.CreateOutput(ctx, fresh); err != nil {
			return err
		}
		s.created = true
		if s.kept != nil {
			s.kept(s.row.ID)
		}
	}
	if err := s.store.WriteOutput(ctx, next.row, w); err != nil {
		return err
	}
	next.created = true
	*s = next
	return nil
}

// drop removes what was stored of the copy.
func (s *saver) drop(ctx context.Context) error {
	if !s.created {
		return nil
	}
	return s.store.DropOutput(ctx, s.row.SessionID, s.row.ID)
}
