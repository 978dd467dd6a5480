package store

import (
	"context"
	"strings"
	"time"

	"offcut/models"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type nestedRow struct {
	Seq       int64 `gorm:"primaryKey"`
	SessionID string
	CallID    string
	ParentID  string
	State     *string
}

func (nestedRow) TableName() string { return "nested_calls" }

// NoteNested stores how a call stands that a script of a turn makes, so that
// after a crash it is known which of them ran. Once the call has ended it counts
// in the figures, as one of the model's does with its result.
func (s *Store) NoteNested(ctx context.Context, turn models.Turn, parentID string, made models.NestedCall, now time.Time) error {
	return s.write(ctx, "note call "+made.ID, func(tx *gorm.DB) error {
		if err := keepNested(tx, turn.SessionID, parentID, made); err != nil || made.Result == nil {
			return err
		}
		result := models.Message{
			SessionID: turn.SessionID, TurnID: turn.ID, ToolCallID: made.ID, Metadata: &made.Result.Metadata, CreatedAt: now,
		}
		return passedAs(tx, result, models.ToolCall{ID: made.ID, Name: made.Tool, Arguments: made.Result.Arguments})
	})
}

// keepNested stores a call as it stands, until the script's own result tells it.
func keepNested(tx *gorm.DB, sessionID, parentID string, made models.NestedCall) error {
	var told []string
	err := tx.Model(&messageRow{}).Where("session_id = ? AND tool_call_id = ?", sessionID, parentID).Limit(1).Pluck("id", &told).Error
	if err != nil || len(told) > 0 {
		return err
	}
	state, err := toJSON(made)
	if err != nil {
		return err
	}
	return tx.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "session_id"}, {Name: "call_id"}}, DoUpdates: clause.AssignmentColumns([]string{"state"}),
	}).Create(&nestedRow{SessionID: sessionID, CallID: made.ID, ParentID: parentID, State: state}).Error
}

// tellNested has the result of a script tell of its calls, where the script
// itself could not: it was given up, or a crash ended it.
func tellNested(tx *gorm.DB, m *models.Message) error {
	of := tx.Where("session_id = ? AND parent_id = ?", m.SessionID, m.ToolCallID).Session(&gorm.Session{})
	var rows []nestedRow
	if err := of.Order("seq").Find(&rows).Error; err != nil || len(rows) == 0 {
		return err
	}
	if err := of.Delete(&nestedRow{}).Error; err != nil {
		return err
	}
	if m.Metadata == nil || len(m.Metadata.Calls) > 0 {
		return nil
	}
	meta := *m.Metadata
	for _, row := range rows {
		call, err := leftNested(tx, row, m.State)
		if err != nil {
			return err
		}
		meta.Calls = append(meta.Calls, call)
		if kept, ok := call.Output(); ok {
			meta.Nested = append(meta.Nested, kept)
		}
	}
	m.Metadata = &meta
	m.Content = strings.TrimSuffix(m.Content, "\n") + "\n" + models.NestedNote(meta.Calls)
	return nil
}

// leftNested is a call as its script left it, which ended in a state: what had
// not come to its end is cut off, and what is kept of its output is named.
func leftNested(tx *gorm.DB, row nestedRow, ended models.State) (models.NestedCall, error) {
	var call models.NestedCall
	if err := fromJSON(row.State, &call); err != nil {
		return call, err
	}
	if call.State != models.CallRunning && call.State != models.CallWaiting {
		return call, nil
	}
	call.IsError = true
	call.State = models.CallInterrupted
	if ended == models.StateStopped {
		call.State = models.CallStopped
	}
	var rows []outputRow
	err := tx.Where("session_id = ? AND call_id = ? AND deleted_at IS NULL", row.SessionID, row.CallID).Order("seq DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return call, err
	}
	call.OutputID, call.TotalBytes, call.Complete = rows[0].ID, &rows[0].TotalBytes, models.Ptr(false)
	return call, nil
}
