package store

import (
	"context"
	"fmt"
	"slices"

	"offcut/models"

	"gorm.io/gorm"
)

// readAhead is how many pieces are fetched at once by somebody who reads one
// after the other.
const readAhead = 8

// ReadOutput reads up to n bytes of a stream of an output from offset on;
// fewer where the stream ends, none past its end. The bytes may be shared with
// other readers and are not to be changed.
func (s *Store) ReadOutput(ctx context.Context, sessionID, id string, stream models.OutputStream, offset int64, n int) ([]byte, error) {
	number, err := pieceStream(stream)
	if err != nil {
		return nil, err
	}
	if offset < 0 || n < 0 {
		return nil, fmt.Errorf("read %d bytes of output %s at %d: neither can be negative", n, id, offset)
	}
	entry, ok := s.cache.output(sessionID, id)
	if !ok {
		if entry, err = s.loadOutput(ctx, sessionID, id); err != nil {
			return nil, err
		}
	}
	var read []byte
	for n > 0 {
		piece, err := s.piece(ctx, entry, number, offset/PieceBytes)
		if err != nil {
			return nil, err
		}
		within := min(int(offset%PieceBytes), len(piece))
		part := piece[within:min(within+n, len(piece))]
		if len(read) == 0 {
			read = slices.Clip(part) // most pages are within one piece: nothing is copied
		} else {
			read = append(read, part...)
		}
		if len(piece) < PieceBytes {
			break
		}
		offset += int64(len(part))
		n -= len(part)
	}
	return read, nil
}

// piece returns a piece of an output, which is not to be changed; empty where
// the stream ends before it. Pieces of ended outputs come from the cache.
func (s *Store) piece(ctx context.Context, entry outputEntry, stream int, n int64) ([]byte, error) {
	output := outputKey{entry.output.SessionID, entry.output.ID}
	if bytes, ok := s.cache.piece(pieceKey{output, stream, n}); ok {
		return bytes, nil
	}
	count := int64(1)
	if s.cache.hasPiece(pieceKey{output, stream, n - 1}) {
		count = readAhead
	}
	generation := s.cache.generation()
	var rows []pieceRow
	err := s.read(ctx, fmt.Sprintf("piece %d of output %s", n, entry.output.ID), func(db *gorm.DB) error {
		return db.Select("n", "bytes").
			Where("output = ? AND stream = ? AND n >= ? AND n < ?", entry.seq, stream, n, n+count).
			Order("n").Find(&rows).Error
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if !entry.output.Running {
		for _, row := range rows {
			s.cache.putPiece(generation, pieceKey{output, stream, row.N}, row.Bytes)
		}
	}
	return rows[0].Bytes, nil
}
