package store

import (
	"context"
	"fmt"

	"offcut/models"

	"gorm.io/gorm"
)

// PieceBytes is how many bytes of an output stand in one row: 64 KiB. Of every
// stream all pieces but the last are full, so that an offset says which piece
// it is in. A page read as a part of one 8 MiB value costs seventy times more,
// because SQLite walks there.
const PieceBytes = 1 << 16

type pieceRow struct {
	Output int64
	Stream int
	N      int64
	Bytes  []byte
}

func (pieceRow) TableName() string { return "pieces" }

// The streams as they are stored.
const (
	pieceText = iota + 1
	pieceRaw
	pieceSpill
)

func pieceStream(stream models.OutputStream) (int, error) {
	switch stream {
	case models.StreamText:
		return pieceText, nil
	case models.StreamRaw:
		return pieceRaw, nil
	case models.StreamSpill:
		return pieceSpill, nil
	}
	return 0, fmt.Errorf("there is no stream %q of an output", stream)
}

// WriteOutput stores w and what o says of the output, together or not at all.
// An owner whose quota would be exceeded gets ErrTooLarge; an output that was
// deleted meanwhile is ErrNotFound.
func (s *Store) WriteOutput(ctx context.Context, o models.RetainedOutput, w models.OutputWrite) error {
	err := s.write(ctx, "write output "+o.ID, func(tx *gorm.DB) error {
		row, err := findOutput(tx, o.SessionID, o.ID)
		if err != nil {
			return err
		}
		before := row.stored()
		row.TextStored += int64(len(w.Text))
		row.RawStored += int64(len(w.Raw))
		if w.SetSpill {
			row.SpillStored = int64(len(w.Spill))
		}
		if err := s.checkQuota(tx, row.OwnerID, row.stored()-before); err != nil {
			return err
		}
		if err := row.describeBy(o); err != nil {
			return err
		}
		if err := tx.Select("*").Omit("seq").Where("seq = ?", row.Seq).Updates(&row).Error; err != nil {
			return err
		}
		return writePieces(tx, row, w)
	})
	if err == nil {
		s.cache.forgetOutput(o.SessionID, o.ID)
	}
	return err
}

// writePieces stores the bytes of w; row has the lengths as they are after it.
func writePieces(tx *gorm.DB, row outputRow, w models.OutputWrite) error {
	if err := appendPieces(tx, row.Seq, pieceText, row.TextStored-int64(len(w.Text)), w.Text); err != nil {
		return err
	}
	if err := appendPieces(tx, row.Seq, pieceRaw, row.RawStored-int64(len(w.Raw)), w.Raw); err != nil {
		return err
	}
	if !w.SetSpill {
		return nil
	}
	if err := tx.Where("output = ? AND stream = ?", row.Seq, pieceSpill).Delete(&pieceRow{}).Error; err != nil {
		return err
	}
	return appendPieces(tx, row.Seq, pieceSpill, 0, w.Spill)
}

// appendPieces adds data to a stream of length bytes: it fills up the last
// piece and goes on with new ones.
func appendPieces(tx *gorm.DB, output int64, stream int, length int64, data []byte) error {
	n := length / PieceBytes
	if filled := length % PieceBytes; filled > 0 && len(data) > 0 {
		last, err := readPiece(tx, output, stream, n)
		if err != nil {
			return err
		}
		head := min(PieceBytes-int(filled), len(data))
		last = append(last, data[:head]...)
		err = tx.Model(&pieceRow{}).Where("output = ? AND stream = ? AND n = ?", output, stream, n).Update("bytes", last).Error
		if err != nil {
			return err
		}
		data = data[head:]
		n++
	}
	for ; len(data) > 0; n++ {
		head := min(PieceBytes, len(data))
		if err := tx.Create(&pieceRow{Output: output, Stream: stream, N: n, Bytes: data[:head]}).Error; err != nil {
			return err
		}
		data = data[head:]
	}
	return nil
}

func readPiece(db *gorm.DB, output int64, stream int, n int64) ([]byte, error) {
	var row pieceRow
	err := db.Select("bytes").Where("output = ? AND stream = ? AND n = ?", output, stream, n).Take(&row).Error
	if err != nil {
		return nil, fmt.Errorf("piece %d: %w", n, err)
	}
	return row.Bytes, nil
}
