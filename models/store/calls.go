package store

import (
	"context"
	"slices"

	"offcut/models"

	"gorm.io/gorm"
)

type callRow struct {
	SessionID string
	CallID    string
	MessageID string
	TurnID    string
}

func (callRow) TableName() string { return "calls" }

// insertCalls notes where the calls of a message stand.
func insertCalls(tx *gorm.DB, m models.Message) error {
	for _, call := range m.ToolCalls {
		err := tx.Create(&callRow{SessionID: m.SessionID, CallID: call.ID, MessageID: m.ID, TurnID: m.TurnID}).Error
		if taken(err) {
			return models.Errorf(models.ErrConflict, "call_id_taken", "the session has a tool call %s already", call.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Call finds a tool call of a session, and its result; nil where there is none
// yet.
func (s *Store) Call(ctx context.Context, sessionID, callID string) (models.ToolCall, *models.Message, error) {
	var call models.ToolCall
	var result *models.Message
	err := s.read(ctx, "tool call "+callID, func(db *gorm.DB) error {
		var at callRow
		if err := db.Where("session_id = ? AND call_id = ?", sessionID, callID).Take(&at).Error; err != nil {
			return orMissing(err, noCall())
		}
		var err error
		if call, err = callIn(db, at); err != nil {
			return err
		}
		return resultOf(db, at, &result)
	})
	return call, result, err
}

// callIn reads a call out of the message that made it.
func callIn(db *gorm.DB, at callRow) (models.ToolCall, error) {
	var row messageRow
	if err := db.Select("id", "tool_calls").Where("session_id = ? AND id = ?", at.SessionID, at.MessageID).Take(&row).Error; err != nil {
		return models.ToolCall{}, orMissing(err, noCall())
	}
	m, err := row.message()
	if err != nil {
		return models.ToolCall{}, err
	}
	i := slices.IndexFunc(m.ToolCalls, func(c models.ToolCall) bool { return c.ID == at.CallID })
	if i < 0 {
		return models.ToolCall{}, noCall()
	}
	return m.ToolCalls[i], nil
}

// resultOf reads the result of a call into result; it stays as it is where
// there is none yet.
func resultOf(db *gorm.DB, at callRow, result **models.Message) error {
	var rows []messageRow
	err := db.Where("session_id = ? AND tool_call_id = ?", at.SessionID, at.CallID).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return err
	}
	m, err := rows[0].message()
	*result = &m
	return err
}

// OutputIDs are the ids of the outputs that a session has, or had.
func (s *Store) OutputIDs(ctx context.Context, sessionID string) (map[string]bool, error) {
	var found []string
	err := s.read(ctx, "output ids of session "+sessionID, func(db *gorm.DB) error {
		return db.Model(&outputRow{}).Where("session_id = ?", sessionID).Pluck("id", &found).Error
	})
	ids := make(map[string]bool, len(found))
	for _, id := range found {
		ids[id] = true
	}
	return ids, err
}

// CallIDs says which of ids the calls of a session have, those that a tool made
// and somebody was asked about among them.
func (s *Store) CallIDs(ctx context.Context, sessionID string, ids []string) (map[string]bool, error) {
	var found []string
	err := s.read(ctx, "call ids of session "+sessionID, func(db *gorm.DB) error {
		err := db.Model(&callRow{}).Where("session_id = ? AND call_id IN ?", sessionID, ids).Pluck("call_id", &found).Error
		if err != nil {
			return err
		}
		var nested []string
		err = db.Session(&gorm.Session{NewDB: true}).Model(&approvalRow{}).Where("session_id = ? AND call_id IN ?", sessionID, ids).Pluck("call_id", &nested).Error
		found = append(found, nested...)
		return err
	})
	used := make(map[string]bool, len(found))
	for _, id := range found {
		used[id] = true
	}
	return used, err
}
