package retain

import (
	"context"
	"io"

	"offcut/models"
)

// Reader reads kept copies, in pages, whole and by search.
type Reader struct{ store Store }

// NewReader reads from store.
func NewReader(store Store) *Reader { return &Reader{store} }

// Page reads one page of a kept copy from a byte offset. The limit is clamped
// to MinPageBytes and MaxPageBytes, and 0 means MaxPageBytes; the page ends on
// a character boundary. Following NextOffset from 0 yields the copy, byte for
// byte. An offset inside a character is refused with the boundaries around it
// (details before and after), one past the end with the length (totalBytes);
// both are models.ErrMalformed.
func (r *Reader) Page(ctx context.Context, sessionID, outputID string, offset int64, limit int) (models.OutputPage, error) {
	return models.OutputPage{}, nil
}

// Search finds text in a kept copy: see Match.
func (r *Reader) Search(ctx context.Context, sessionID, outputID, pattern string, regexp bool, most int) ([]models.Match, error) {
	return nil, nil
}

// Raw is the kept copy with its original bytes, as a stream.
func (r *Reader) Raw(ctx context.Context, sessionID, outputID string) (models.RetainedOutput, io.Reader, error) {
	return models.RetainedOutput{}, nil, nil
}
