package retain

import (
	"context"
	"io"

	"offcut/models"
)

// Raw is a kept copy with its original bytes, as a stream: of a binary output
// the bytes that were kept, of a text the copy before anything in it was
// replaced, or what it was made of.
func (r *Reader) Raw(ctx context.Context, sessionID, outputID string) (models.RetainedOutput, io.Reader, error) {
	o, err := r.store.Output(ctx, sessionID, outputID)
	if err != nil {
		return models.RetainedOutput{}, nil, err
	}
	stream := models.StreamText
	if o.OwnRaw() {
		stream = models.StreamRaw
	}
	whole := &streamReader{ctx: ctx, store: r.store, output: o, stream: stream}
	return o, io.LimitReader(whole, o.RawBytes), nil
}

// Text is a kept copy as it is paged, as a stream of o.TotalBytes. A binary
// output's is empty: its dump is never stored.
func (r *Reader) Text(ctx context.Context, sessionID, outputID string) (models.RetainedOutput, io.Reader, error) {
	o, err := r.store.Output(ctx, sessionID, outputID)
	if err != nil {
		return models.RetainedOutput{}, nil, err
	}
	whole := &streamReader{ctx: ctx, store: r.store, output: o, stream: models.StreamText}
	return o, io.LimitReader(whole, o.TotalBytes), nil
}

// A streamReader reads one stored stream from its beginning.
type streamReader struct {
	ctx    context.Context
	store  Copies
	output models.RetainedOutput
	stream models.OutputStream
	offset int64
	rest   []byte
	ended  bool
}

// readBytes is how much is asked of the store at a time.
const readBytes = 256 << 10

func (s *streamReader) Read(p []byte) (int, error) {
	if len(s.rest) == 0 && !s.ended {
		b, err := s.store.ReadOutput(s.ctx, s.output.SessionID, s.output.ID, s.stream, s.offset, readBytes)
		if err != nil {
			return 0, err
		}
		s.rest, s.ended = b, len(b) < readBytes
		s.offset += int64(len(b))
	}
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
