package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

type readRow struct {
	ID     int64
	Output int64
	TurnID string
	CallID string
	Kind   string
	Start  int64 `gorm:"column:start_byte"`
	End    int64 `gorm:"column:end_byte"`
	At     int64
}

func (readRow) TableName() string { return "output_reads" }

// AddReads notes what the model was shown of outputs. Reads of outputs that
// are gone, or of another session than the turn that read, are left out.
func (s *Store) AddReads(ctx context.Context, reads []models.OutputRead) error {
	err := s.write(ctx, "note reads of outputs", func(tx *gorm.DB) error { return insertReads(tx, reads) })
	if err == nil {
		s.cache.forgetReads(reads)
	}
	return err
}

func insertReads(tx *gorm.DB, reads []models.OutputRead) error {
	for _, r := range reads {
		err := tx.Exec(`INSERT INTO output_reads (output, turn_id, call_id, kind, start_byte, end_byte, at)
			SELECT seq, ?, ?, ?, ?, ?, ? FROM outputs
			WHERE id = ? AND session_id = (SELECT session_id FROM turns WHERE id = ?)`,
			r.TurnID, r.CallID, r.Kind, r.Range.Start, r.Range.End, micros(r.At), r.OutputID, r.TurnID).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// Reads are the ranges of an output that the model was shown, in the order in
// which it was.
func (s *Store) Reads(ctx context.Context, sessionID, outputID string) ([]models.OutputRead, error) {
	var rows []readRow
	err := s.read(ctx, "reads of output "+outputID, func(db *gorm.DB) error {
		row, err := findOutput(db, sessionID, outputID)
		if err != nil {
			return err
		}
		return db.Where("output = ?", row.Seq).Order("id").Find(&rows).Error
	})
	return convert(rows, func(r readRow) models.OutputRead {
		return models.OutputRead{
			OutputID: outputID,
			TurnID:   r.TurnID,
			CallID:   r.CallID,
			Kind:     models.ReadKind(r.Kind),
			Range:    models.Range{Start: r.Start, End: r.End},
			At:       fromMicros(r.At),
		}
	}), err
}

// withCoverage makes outputs of rows and fills in what the model was shown of
// each.
func withCoverage(db *gorm.DB, rows []outputRow) ([]models.RetainedOutput, error) {
	seqs := make([]int64, 0, len(rows))
	for _, row := range rows {
		seqs = append(seqs, row.Seq)
	}
	var reads []readRow
	if err := db.Select("output", "start_byte", "end_byte").Where("output IN ?", seqs).Find(&reads).Error; err != nil {
		return nil, err
	}
	shown := make(map[int64][]models.Range, len(rows))
	for _, read := range reads {
		shown[read.Output] = append(shown[read.Output], models.Range{Start: read.Start, End: read.End})
	}
	outputs := make([]models.RetainedOutput, 0, len(rows))
	for _, row := range rows {
		o, err := row.output()
		if err != nil {
			return nil, err
		}
		o.Coverage = models.MergeRanges(shown[row.Seq])
		outputs = append(outputs, o)
	}
	return outputs, nil
}
