package store

import (
	"context"
	"errors"
	"math"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// ForkSession copies a session of an owner as far as a message, with the
// results of that message's calls; an empty id: all of it. Messages and turns
// get ids of their own, kept outputs are not shared. Queued turns stay behind,
// and so do calls that have no result yet. Usage is not copied: it was spent
// once.
func (s *Store) ForkSession(ctx context.Context, owner, id, uptoMessageID string, now time.Time) (models.Session, error) {
	var fork models.Session
	err := s.write(ctx, "fork session "+id, func(tx *gorm.DB) error {
		origin, err := findSession(tx, "owner_id = ? AND id = ?", owner, id)
		if err != nil {
			return err
		}
		last, err := lastForked(tx, id, uptoMessageID)
		if err != nil {
			return err
		}
		fork = models.Session{
			ID:         models.NewID(models.PrefixSession),
			OwnerID:    origin.OwnerID,
			OwnerName:  origin.OwnerName,
			Title:      origin.Title,
			Model:      origin.Model,
			ForkedFrom: origin.ID,
			CreatedAt:  now,
			UpdatedAt:  now,
		}
		if err := insertSession(tx, fork); err != nil {
			return err
		}
		return copyTurns(tx, origin.ID, fork.ID, last, now)
	})
	return fork, err
}

// lastForked is the seq of the last message to copy: the named one, or the
// last result of the step that it belongs to.
func lastForked(tx *gorm.DB, sessionID, messageID string) (int64, error) {
	if messageID == "" {
		return math.MaxInt64, nil
	}
	var named messageRow
	err := tx.Select("turn_id", "seq", "role").Where("session_id = ? AND id = ?", sessionID, messageID).Take(&named).Error
	if err != nil {
		return 0, orMissing(err, noMessage())
	}
	if named.Role == string(models.RolePerson) {
		return named.Seq, nil
	}
	var next messageRow
	err = tx.Select("seq").Where("session_id = ? AND seq > ? AND role <> ?", sessionID, named.Seq, models.RoleTool).Order("seq").Take(&next).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return math.MaxInt64, nil
	}
	return next.Seq - 1, err
}

// copyTurns copies the turns of a session with their messages up to seq last.
func copyTurns(tx *gorm.DB, origin, fork string, last int64, now time.Time) error {
	var turns []turnRow
	err := tx.Where("session_id = ? AND state <> ? AND seq <= ?", origin, models.StateQueued, last>>turnBits).Order("seq").Find(&turns).Error
	if err != nil {
		return err
	}
	for _, turn := range turns {
		if err := copyTurn(tx, turn, fork, last, now); err != nil {
			return err
		}
	}
	return nil
}

func copyTurn(tx *gorm.DB, origin turnRow, fork string, last int64, now time.Time) error {
	var rows []messageRow
	err := tx.Where("session_id = ? AND seq >= ? AND seq < ?", origin.SessionID, origin.Seq<<turnBits, seqAfterTurn(origin.Seq)).
		Order("seq").Find(&rows).Error
	if err != nil {
		return err
	}
	messages, err := messagesOf(rows)
	if err != nil {
		return err
	}
	whole := wholeSteps(messages, last)
	copied := forkedTurn(origin, fork, len(whole) < len(messages), now)
	if err := tx.Create(&copied).Error; err != nil {
		return err
	}
	for i := range whole {
		whole[i].ID = models.NewID(models.PrefixMessage)
		whole[i].SessionID = fork
		whole[i].TurnID = copied.ID
		if !whole[i].State.Final() {
			whole[i].State = models.StateDone
		}
	}
	return insertMessages(tx, whole)
}

// forkedTurn is the copy of a turn. One that is cut short, or still runs, has
// nothing left to wait for in the fork: it is done there.
func forkedTurn(origin turnRow, fork string, cut bool, now time.Time) turnRow {
	copied := turnRow{
		ID:            models.NewID(models.PrefixTurn),
		SessionID:     fork,
		OwnerID:       origin.OwnerID,
		Seq:           origin.Seq,
		State:         origin.State,
		Error:         origin.Error,
		ErrorCode:     origin.ErrorCode,
		Continuations: origin.Continuations,
		Retries:       origin.Retries,
		ContextTokens: origin.ContextTokens,
		Created:       origin.Created,
		Started:       origin.Started,
		Ended:         origin.Ended,
	}
	if cut || !models.State(origin.State).Final() {
		ended := micros(now)
		copied.State, copied.Error, copied.ErrorCode, copied.Ended = string(models.StateDone), "", "", &ended
	}
	return copied
}

// wholeSteps are the messages up to seq last, without assistant messages that
// miss the result of a call, and without results whose call is not there: a
// model is never sent the one without the other. A message that is still
// being written is left out too.
func wholeSteps(messages []models.Message, last int64) []models.Message {
	answered := map[string]bool{}
	for _, m := range messages {
		if m.Role == models.RoleTool && m.Seq <= last {
			answered[m.ToolCallID] = true
		}
	}
	called := map[string]bool{}
	var whole []models.Message
	for _, m := range messages {
		if m.Seq > last || (m.Role == models.RoleTool && !called[m.ToolCallID]) ||
			(m.Role == models.RoleAssistant && (m.State == models.StateRunning || !allAnswered(m.ToolCalls, answered))) {
			continue
		}
		for _, call := range m.ToolCalls {
			called[call.ID] = true
		}
		whole = append(whole, m)
	}
	return whole
}

func allAnswered(calls []models.ToolCall, answered map[string]bool) bool {
	for _, call := range calls {
		if !answered[call.ID] {
			return false
		}
	}
	return true
}

// forkBatch is how many messages one INSERT takes: sixteen values each, and
// SQLite has 32,766 in a statement.
const forkBatch = 500

// insertMessages adds messages that have their seq already.
func insertMessages(tx *gorm.DB, messages []models.Message) error {
	rows := make([]messageRow, 0, len(messages))
	for _, m := range messages {
		row, err := messageRowOf(m)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := tx.CreateInBatches(rows, forkBatch).Error; err != nil {
		return err
	}
	for _, m := range messages {
		if err := insertCalls(tx, m); err != nil {
			return err
		}
	}
	return nil
}
