package retain

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"offcut/agent"
	"offcut/models"
)

// Reader reads kept copies, in pages, whole and by search; and in the same way
// the results that had no copy and were shortened in what a model is sent.
type Reader struct {
	store      Copies
	searchTime time.Duration // of one search
	searching  *agent.Places
}

// NewReader reads from store.
func NewReader(store ReadStore) *Reader {
	return &Reader{store: readable{store}, searchTime: searchTime, searching: agent.NewPlaces(searchPlaces)}
}

// Page reads one page of a kept copy from a byte offset. The limit is clamped
// to MinPageBytes and MaxPageBytes, and the page ends on a character boundary.
// Following NextOffset from 0 yields the copy, byte for byte. An offset inside
// a character is refused with the boundaries around it (details before and
// after), one past the end with the length (totalBytes); both are
// models.ErrMalformed.
func (r *Reader) Page(ctx context.Context, sessionID, outputID string, offset int64, limit int) (models.OutputPage, error) {
	o, err := r.store.Output(ctx, sessionID, outputID)
	if err != nil {
		return models.OutputPage{}, err
	}
	if offset < 0 {
		return models.OutputPage{}, models.Errorf(models.ErrMalformed, "offset_negative", "the offset is %d; offsets begin at 0", offset)
	}
	if offset > o.TotalBytes {
		return models.OutputPage{}, models.Errorf(models.ErrMalformed, "offset_past_end",
			"the offset %d is past the end: the kept output has %d bytes", offset, o.TotalBytes).With("totalBytes", o.TotalBytes)
	}
	text, err := r.pageText(ctx, o, offset, min(max(limit, MinPageBytes), MaxPageBytes))
	if err != nil {
		return models.OutputPage{}, err
	}
	next := offset + int64(len(text))
	return models.OutputPage{
		Offset:     offset,
		Text:       string(text),
		NextOffset: next,
		TotalBytes: o.TotalBytes,
		HasMore:    next < o.TotalBytes,
		Complete:   o.Complete,
		Background: o.BackgroundState(),
		End:        o.End,
	}, nil
}

// pageText is the text from offset on, of at most limit bytes.
func (r *Reader) pageText(ctx context.Context, o models.RetainedOutput, offset int64, limit int) ([]byte, error) {
	// A few bytes more on each side tell whether the ends are boundaries.
	from := max(0, offset-(utf8.UTFMax-1))
	to := min(offset+int64(limit)+utf8.UTFMax-1, o.TotalBytes)
	around, err := copyBytes(ctx, r.store, o, from, int(to-from))
	if err != nil {
		return nil, err
	}
	at := int(offset - from)
	if before := floorRune(around, at); before < at {
		after := from + int64(ceilRune(around, at))
		return nil, models.Errorf(models.ErrMalformed, "offset_inside_character",
			"the offset %d is inside a character; the nearest boundaries are %d and %d", offset, from+int64(before), after).
			With("before", from+int64(before)).With("after", after)
	}
	return around[at:floorRune(around, at+limit)], nil
}

// copyBytes reads n bytes of a kept copy as it is paged: its text, or of a
// binary output its hex dump. They must lie within the copy.
func copyBytes(ctx context.Context, store Copies, o models.RetainedOutput, offset int64, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if o.Binary {
		return dumpBytes(ctx, store, o, offset, n)
	}
	return exactly(ctx, store, o, models.StreamText, offset, n)
}

// exactly reads n bytes of a stream that must be there.
func exactly(ctx context.Context, store Copies, o models.RetainedOutput, stream models.OutputStream, offset int64, n int) ([]byte, error) {
	b, err := store.ReadOutput(ctx, o.SessionID, o.ID, stream, offset, n)
	if err != nil {
		return nil, err
	}
	if len(b) < n {
		return nil, fmt.Errorf("output %q: %s has %d of %d bytes at %d", o.ID, stream, len(b), n, offset)
	}
	return b, nil
}
