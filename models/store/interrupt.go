package store

import (
	"context"
	"fmt"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// interruptedSentence is the error of a turn that the end of the server cut off.
const interruptedSentence = "The server stopped while this was being answered."

// InterruptRunning is for the start of the server: turns that a crash left
// running are interrupted, their running messages too, and every call of
// theirs that was left open gets result as its answer, so that the session can
// go on. Turns that are parked stay so. A call whose output was being kept names
// it in the answer's metadata; recover the outputs first, so that their lengths
// are final. Queued turns stay queued. Each session is one transaction.
func (s *Store) InterruptRunning(ctx context.Context, now time.Time, result string) error {
	var rows []turnRow
	err := s.read(ctx, "find running turns", func(db *gorm.DB) error {
		return db.Where("state IN ? AND NOT parked", []models.State{models.StateRunning, models.StateAwaitingApproval}).Find(&rows).Error
	})
	if err != nil {
		return err
	}
	for _, row := range rows { // one a session: the database holds no two running ones
		err := s.write(ctx, "interrupt turn "+row.ID, func(tx *gorm.DB) error { return interrupt(tx, row.turn(), now, result) })
		if err != nil {
			return err
		}
	}
	return nil
}

func interrupt(tx *gorm.DB, turn models.Turn, now time.Time, result string) error {
	if turn.Model == "" { // it was cut off before anything of it was saved
		err := tx.Model(&requestRow{}).Where("session_id = ? AND turn_id = ?", turn.SessionID, turn.ID).
			Order("number DESC").Limit(1).Pluck("model", &turn.Model).Error
		if err != nil {
			return err
		}
	}
	turn.State = models.StateInterrupted
	turn.Error = interruptedSentence
	turn.EndedAt = &now
	if err := updateTurn(tx, turn); err != nil {
		return err
	}
	if err := settleMessages(tx, turn.ID, models.StateInterrupted); err != nil {
		return err
	}
	if err := lapseAll(tx, turn.ID, now); err != nil {
		return err
	}
	var open []callRow
	err := tx.Where("turn_id = ?", turn.ID).
		Where("NOT EXISTS (SELECT 1 FROM messages WHERE messages.session_id = calls.session_id AND messages.tool_call_id = calls.call_id)").
		Find(&open).Error
	if err != nil {
		return err
	}
	return answerOpen(tx, turn, open, now, result)
}

// answerOpen answers calls in the order in which their messages made them.
func answerOpen(tx *gorm.DB, turn models.Turn, open []callRow, now time.Time, result string) error {
	if len(open) == 0 {
		return nil
	}
	unanswered := make(map[string]bool, len(open))
	makers := make([]string, 0, len(open))
	for _, call := range open {
		unanswered[call.CallID] = true
		makers = append(makers, call.MessageID)
	}
	var rows []messageRow
	if err := tx.Where("id IN ?", makers).Order("seq").Find(&rows).Error; err != nil {
		return err
	}
	messages, err := messagesOf(rows)
	if err != nil {
		return err
	}
	for _, m := range messages {
		for _, call := range m.ToolCalls {
			if !unanswered[call.ID] {
				continue
			}
			if err := answer(tx, turn, call, now, result); err != nil {
				return fmt.Errorf("answer call %s: %w", call.ID, err)
			}
		}
	}
	return nil
}

func answer(tx *gorm.DB, turn models.Turn, call models.ToolCall, now time.Time, result string) error {
	metadata, err := interruptedMetadata(tx, turn.SessionID, call.ID)
	if err != nil {
		return err
	}
	return appendResult(tx, models.Message{
		SessionID:  turn.SessionID,
		TurnID:     turn.ID,
		Role:       models.RoleTool,
		Content:    result,
		ToolCallID: call.ID,
		Metadata:   metadata,
		State:      models.StateInterrupted,
		CreatedAt:  now,
	})
}

// interruptedMetadata says of a call that was cut off what is kept of its
// output.
func interruptedMetadata(tx *gorm.DB, sessionID, callID string) (*models.ResultMetadata, error) {
	metadata := &models.ResultMetadata{IsError: true, Retention: models.RetentionNotNeeded}
	var rows []outputRow
	err := tx.Where("session_id = ? AND call_id = ? AND deleted_at IS NULL", sessionID, callID).Order("seq DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return metadata, err
	}
	kept := rows[0]
	metadata.Truncated = kept.TotalBytes > 0 // the body shows nothing of the copy
	metadata.Retention = models.RetentionKept
	metadata.OutputID = kept.ID
	metadata.TotalBytes = models.Ptr(kept.TotalBytes)
	metadata.Complete = models.Ptr(false)
	metadata.CapturedBytes = models.Ptr(kept.CapturedBytes)
	metadata.OmittedBytes = models.Ptr(kept.OmittedBytes)
	metadata.ReplacedBytes = kept.ReplacedBytes
	metadata.Binary = kept.Binary
	return metadata, nil
}
