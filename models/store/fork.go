package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

// ForkSession copies the conversation of an owner's session that leads to a
// message, with the results of that message's calls; an empty id: all of what is
// shown. Messages and turns get ids of their own, kept outputs are not shared, nor
// are other versions. Queued turns stay behind, and so do calls that have no
// result yet. Usage is not copied: it was spent once. What the owner's quota has no
// room for is ErrTooLarge.
func (s *Store) ForkSession(ctx context.Context, owner, id, uptoMessageID string, now time.Time) (models.Session, error) {
	var turns []turnRow
	var last int64
	origin, err := s.Session(ctx, owner, id)
	if err == nil {
		err = s.read(ctx, "fork session "+id, func(db *gorm.DB) error {
			turns, last, err = forked(db, id, uptoMessageID)
			return err
		})
	}
	if err != nil {
		return models.Session{}, err
	}
	fork := models.Session{
		ID:         models.NewID(models.PrefixSession),
		OwnerID:    origin.OwnerID,
		OwnerName:  origin.OwnerName,
		Title:      origin.Title,
		Model:      origin.Model,
		ForkedFrom: origin.ID,
		CreatedAt:  now,
		UpdatedAt:  now,
	}
	still := func(tx *gorm.DB) error { // the original is there, so all of it was read
		_, err := findSession(tx, "owner_id = ? AND id = ?", owner, id)
		return err
	}
	return fork, s.build(ctx, fork, func(b *builder) error { return b.copyTurns(turns, fork.ID, last, now) }, still)
}

// forked is the turns to copy, and the seq of the last message: the named one, or
// the last result of the step that it belongs to.
func forked(tx *gorm.DB, sessionID, messageID string) ([]turnRow, int64, error) {
	var turns []turnRow
	if messageID == "" {
		err := tx.Where("session_id = ? AND shown = 1 AND state <> ?", sessionID, models.StateQueued).Order("seq").Find(&turns).Error
		return turns, math.MaxInt64, err
	}
	var named messageRow
	err := tx.Select("turn_id", "seq", "role").Where("session_id = ? AND id = ?", sessionID, messageID).Take(&named).Error
	if err != nil {
		return nil, 0, orMissing(err, noMessage())
	}
	last, err := lastOfStep(tx, sessionID, named)
	if err != nil {
		return nil, 0, err
	}
	err = tx.Where("id IN ("+turnsTo+") AND state <> ?", named.TurnID, models.StateQueued).Find(&turns).Error
	slices.SortFunc(turns, func(a, b turnRow) int { return cmp.Compare(a.Seq, b.Seq) })
	return turns, last, err
}

func lastOfStep(tx *gorm.DB, sessionID string, named messageRow) (int64, error) {
	if named.Role == string(models.RolePerson) {
		return named.Seq, nil
	}
	end := seqAfterTurn(named.Seq >> turnBits)
	var next []messageRow
	err := tx.Select("seq").Where("session_id = ? AND seq > ? AND seq < ? AND role <> ?", sessionID, named.Seq, end, models.RoleTool).
		Order("seq").Limit(1).Find(&next).Error
	if err != nil || len(next) == 0 {
		return end - 1, err
	}
	return next[0].Seq - 1, nil
}

// copyTurns copies turns, each after the one before it, with their messages up
// to seq last.
func (b *builder) copyTurns(turns []turnRow, fork string, last int64, now time.Time) error {
	parent := ""
	for some := range slices.Chunk(turns, turnsAsked) {
		grounds, err := b.groundsOf(some)
		if err != nil {
			return err
		}
		for _, turn := range some {
			turn.ParentID = parent
			if parent, err = b.copyTurn(turn, grounds[turn.ID], fork, last, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyTurn copies one turn and returns the copy's id. A part of an answer rests
// on less than the whole one, and on nothing that is known.
func (b *builder) copyTurn(origin turnRow, grounds []groundRow, fork string, last int64, now time.Time) (string, error) {
	var rows []messageRow
	err := b.store.read(b.ctx, "copy turn "+origin.ID, func(db *gorm.DB) error {
		return db.Where("session_id = ? AND seq >= ? AND seq < ?", origin.SessionID, origin.Seq<<turnBits, seqAfterTurn(origin.Seq)).
			Order("seq").Find(&rows).Error
	})
	if err != nil {
		return "", err
	}
	messages, err := messagesOf(rows)
	if err != nil {
		return "", err
	}
	whole := wholeSteps(messages, last)
	cut := len(whole) < len(messages)
	copied := forkedTurn(origin, fork, cut, now)
	for i := range whole {
		whole[i].ID = models.NewID(models.PrefixMessage)
		whole[i].SessionID = fork
		whole[i].TurnID = copied.ID
		whole[i].Shown = true
		if !whole[i].State.Final() {
			whole[i].State = models.StateDone
		}
	}
	if cut {
		grounds = nil
	}
	for i := range grounds {
		grounds[i].TurnID = copied.ID
	}
	return copied.ID, b.add(copied, whole, grounds)
}

// groundsOf is what the answers of turns rest on. The outputs stay where they
// are.
func (b *builder) groundsOf(turns []turnRow) (map[string][]groundRow, error) {
	ids := make([]string, len(turns))
	for i, turn := range turns {
		ids[i] = turn.ID
	}
	var rows []groundRow
	err := b.store.read(b.ctx, "what answers rest on", func(db *gorm.DB) error {
		return db.Where("turn_id IN ?", ids).Order("turn_id, n").Find(&rows).Error
	})
	byTurn := map[string][]groundRow{}
	for _, row := range rows {
		byTurn[row.TurnID] = append(byTurn[row.TurnID], row)
	}
	return byTurn, err
}

// forkedTurn is the copy of a turn, under the parent that it was given. One that
// is cut short, or still runs, has nothing left to wait for in the fork: it is
// done there.
func forkedTurn(origin turnRow, fork string, cut bool, now time.Time) turnRow {
	copied := turnRow{
		ID:            models.NewID(models.PrefixTurn),
		SessionID:     fork,
		OwnerID:       origin.OwnerID,
		Seq:           origin.Seq,
		ParentID:      origin.ParentID,
		Shown:         true,
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
