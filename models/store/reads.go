package store

import (
	"context"
	"errors"
	"slices"

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

// insertReads notes what the model was shown of outputs. Reads of outputs that
// are gone, or of another session than the turn that read, are left out.
func insertReads(tx *gorm.DB, reads []models.OutputRead) error {
	for _, r := range reads {
		if err := noteRead(tx, r); err != nil {
			return err
		}
	}
	return nil
}

// noteRead notes one read. A turn that reads on from where it was, as it does
// who follows a copy page by page, has one row for all of it: what is noted of
// a copy does not grow with the number of its pages.
func noteRead(tx *gorm.DB, r models.OutputRead) error {
	var output outputRow
	err := tx.Select("seq", "session_id").
		Where("id = ? AND session_id = (SELECT session_id FROM turns WHERE id = ?)", r.OutputID, r.TurnID).Take(&output).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := extend(tx, output.Seq, r); err != nil || r.Kind == models.ReadPreview {
		return err
	}
	return recovered(tx, output, r.OutputID)
}

// extend adds a read to those of an output.
func extend(tx *gorm.DB, output int64, r models.OutputRead) error {
	var last readRow
	err := tx.Where("output = ?", output).Order("id DESC").Limit(1).Find(&last).Error
	switch {
	case err != nil:
		return err
	case last.goesOnIn(r):
		return tx.Model(&readRow{}).Where("id = ?", last.ID).Updates(map[string]any{
			"start_byte": min(last.Start, r.Range.Start), "end_byte": max(last.End, r.Range.End), "call_id": r.CallID, "at": micros(r.At),
		}).Error
	}
	return tx.Create(&readRow{
		Output: output, TurnID: r.TurnID, CallID: r.CallID, Kind: string(r.Kind),
		Start: r.Range.Start, End: r.Range.End, At: micros(r.At),
	}).Error
}

// goesOnIn reports whether the read is the same turn's, of the same kind, and
// touches what was read before. No row, whose ID is 0, goes on in nothing.
func (r readRow) goesOnIn(next models.OutputRead) bool {
	return r.ID != 0 && r.TurnID == next.TurnID && r.Kind == string(next.Kind) &&
		next.Range.Start <= r.End && r.Start <= next.Range.End
}

// Reads are the ranges of an output that the model was shown last, at most
// most of them, in the order in which it was. Of a range that was read in
// several calls, CallID and At are the last one's.
func (s *Store) Reads(ctx context.Context, sessionID, outputID string, most int) ([]models.OutputRead, error) {
	var rows []readRow
	err := s.read(ctx, "reads of output "+outputID, func(db *gorm.DB) error {
		row, err := findOutput(db, sessionID, outputID)
		if err != nil {
			return err
		}
		return db.Where("output = ?", row.Seq).Order("id DESC").Limit(most).Find(&rows).Error
	})
	slices.Reverse(rows)
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

// Coverage is what the model was shown of an output, as merged ranges.
func (s *Store) Coverage(ctx context.Context, sessionID, outputID string) ([]models.Range, error) {
	var shown []models.Range
	err := s.read(ctx, "coverage of output "+outputID, func(db *gorm.DB) error {
		row, err := findOutput(db, sessionID, outputID)
		if err != nil {
			return err
		}
		outputs, err := withCoverage(db, []outputRow{row})
		if err != nil {
			return err
		}
		shown = outputs[0].Coverage
		return nil
	})
	return shown, err
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
