package store

import (
	"context"
	"errors"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// CreateOutput adds an output, still without bytes, to its session. An owner
// whose quota is used up gets ErrTooLarge.
func (s *Store) CreateOutput(ctx context.Context, o models.RetainedOutput) error {
	return s.write(ctx, "create output "+o.ID, func(tx *gorm.DB) error {
		var session sessionRow
		if err := tx.Select("owner_id").Where("id = ?", o.SessionID).Take(&session).Error; err != nil {
			return orMissing(err, noSession())
		}
		if err := s.checkQuota(tx, session.OwnerID, 1); err != nil {
			return err
		}
		row := outputRow{
			ID:        o.ID,
			SessionID: o.SessionID,
			OwnerID:   session.OwnerID,
			TurnID:    o.TurnID,
			CallID:    o.CallID,
			Tool:      o.Tool,
			Created:   micros(o.CreatedAt),
		}
		if err := row.describeBy(o); err != nil {
			return err
		}
		return tx.Create(&row).Error
	})
}

// Output finds an output of a session, without its coverage, which grows with
// what was read of it: see Coverage. What another session made is as what never
// was; one that was deleted says when (code output_deleted, and the detail
// deleted_at). Both are ErrNotFound.
func (s *Store) Output(ctx context.Context, sessionID, id string) (models.RetainedOutput, error) {
	if entry, ok := s.cache.output(sessionID, id); ok {
		return entry.copy(), nil
	}
	entry, err := s.loadOutput(ctx, sessionID, id)
	if err != nil {
		return models.RetainedOutput{}, err
	}
	return entry.copy(), nil
}

// loadOutput reads an output's row, and puts an ended one into the cache.
func (s *Store) loadOutput(ctx context.Context, sessionID, id string) (outputEntry, error) {
	generation := s.cache.generation()
	var entry outputEntry
	err := s.read(ctx, "output "+id, func(db *gorm.DB) error {
		row, err := findOutput(db, sessionID, id)
		if err != nil {
			return err
		}
		entry.seq = row.Seq
		entry.output, err = row.output()
		return err
	})
	if err == nil && !entry.output.Running {
		s.cache.putOutput(generation, entry)
	}
	return entry, err
}

// findOutput finds the row of an output that can be read.
func findOutput(db *gorm.DB, sessionID, id string) (outputRow, error) {
	var row outputRow
	if err := db.Where("session_id = ? AND id = ?", sessionID, id).Take(&row).Error; err != nil {
		return row, orMissing(err, noOutput())
	}
	if row.Deleted != nil {
		return row, outputDeleted(fromMicros(*row.Deleted))
	}
	return row, nil
}

func outputDeleted(at time.Time) *models.Error {
	return models.Errorf(models.ErrNotFound, "output_deleted", "this output was deleted on %s", at.Format("2 January 2006 at 15:04 UTC")).
		With("deleted_at", at)
}

// OutputByCall finds the newest output that a call of a session made.
func (s *Store) OutputByCall(ctx context.Context, sessionID, callID string) (models.RetainedOutput, error) {
	var rows []outputRow
	var outputs []models.RetainedOutput
	err := s.read(ctx, "output of call "+callID, func(db *gorm.DB) error {
		err := db.Where("session_id = ? AND call_id = ?", sessionID, callID).Order("seq DESC").Limit(1).Find(&rows).Error
		switch {
		case err != nil:
			return err
		case len(rows) == 0:
			return noOutput()
		case rows[0].Deleted != nil:
			return outputDeleted(fromMicros(*rows[0].Deleted))
		}
		outputs, err = withCoverage(db, rows)
		return err
	})
	if err != nil {
		return models.RetainedOutput{}, err
	}
	return outputs[0], nil
}

// Outputs lists the outputs of a session, oldest first, with their coverage
// and without those that were deleted.
func (s *Store) Outputs(ctx context.Context, sessionID string, p models.Page) ([]models.RetainedOutput, string, error) {
	after := int64(0)
	if err := decodeCursor("outputs", p.Cursor, &after); err != nil {
		return nil, "", err
	}
	limit := p.Clamped()
	var next string
	var outputs []models.RetainedOutput
	err := s.read(ctx, "outputs of session "+sessionID, func(db *gorm.DB) error {
		var rows []outputRow
		err := db.Where("session_id = ? AND seq > ? AND deleted_at IS NULL", sessionID, after).
			Order("seq").Limit(limit + 1).Find(&rows).Error
		if err != nil {
			return err
		}
		rows, next = cutPage(rows, limit, func(last outputRow) string { return encodeCursor("outputs", last.Seq) })
		outputs, err = withCoverage(db, rows)
		return err
	})
	return outputs, next, err
}

// RunningOutputs are the outputs of all sessions that are still written; after
// a start, those that a crash left so.
func (s *Store) RunningOutputs(ctx context.Context) ([]models.RetainedOutput, error) {
	var outputs []models.RetainedOutput
	err := s.read(ctx, "running outputs", func(db *gorm.DB) error {
		var rows []outputRow
		if err := db.Where("running = 1 AND deleted_at IS NULL").Order("seq").Find(&rows).Error; err != nil {
			return err
		}
		var err error
		outputs, err = withCoverage(db, rows)
		return err
	})
	return outputs, err
}

// BackgroundOutputs are the outputs of a session's commands in the background
// that run, or ended at that time or later; oldest first, without coverage.
func (s *Store) BackgroundOutputs(ctx context.Context, sessionID string, since time.Time) ([]models.RetainedOutput, error) {
	var outputs []models.RetainedOutput
	err := s.read(ctx, "background of session "+sessionID, func(db *gorm.DB) error {
		var rows []outputRow
		err := db.Where("session_id = ? AND background = 1 AND deleted_at IS NULL AND (running = 1 OR ended_at >= ?)", sessionID, micros(since)).
			Order("seq").Find(&rows).Error
		for _, row := range rows {
			o, wrong := row.output()
			outputs, err = append(outputs, o), errors.Join(err, wrong)
		}
		return err
	})
	return outputs, err
}

// DeleteOutput erases the bytes of an output; its row stays and says when that
// was. What the audit log is to say of it is written with it.
func (s *Store) DeleteOutput(ctx context.Context, sessionID, id string, now time.Time, audit ...models.AuditEntry) error {
	err := s.write(ctx, "delete output "+id, func(tx *gorm.DB) error {
		row, err := findOutput(tx, sessionID, id)
		if err != nil {
			return err
		}
		if err := tx.Where("output = ?", row.Seq).Delete(&pieceRow{}).Error; err != nil {
			return err
		}
		err = tx.Model(&outputRow{}).Where("seq = ?", row.Seq).Updates(map[string]any{
			"deleted_at": micros(now), "running": false, "text_stored": 0, "raw_stored": 0, "spill_stored": 0,
		}).Error
		if err != nil {
			return err
		}
		return insertAudits(tx, audit)
	})
	return s.erased(err, sessionID, id)
}

// DropOutput removes an output as if it had never been.
func (s *Store) DropOutput(ctx context.Context, sessionID, id string) error {
	err := s.write(ctx, "drop output "+id, func(tx *gorm.DB) error {
		return changed(tx.Where("session_id = ? AND id = ?", sessionID, id).Delete(&outputRow{}), noOutput())
	})
	return s.erased(err, sessionID, id)
}

// erased ends what removes an output: the cache forgets it, and its bytes
// leave the file.
func (s *Store) erased(err error, sessionID, id string) error {
	if err != nil {
		return err
	}
	s.cache.forgetOutput(sessionID, id)
	s.upkeep.wake()
	return nil
}
