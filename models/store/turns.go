package store

import (
	"context"
	"errors"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

type turnRow struct {
	ID              string
	SessionID       string
	OwnerID         string
	Model           string
	Seq             int64
	ParentID        string
	Shown           bool
	Repeats         string
	ClientID        *string
	RequestID       string
	State           string
	Parked          bool
	Error           string
	ErrorCode       string
	Continuations   int
	Retries         int
	InputTokens     int64
	OutputTokens    int64
	ReasoningTokens int64
	CachedTokens    int64
	Cost            float64
	ContextTokens   int64
	Answered        bool
	Unread          bool
	GapNamed        bool
	Doubted         bool
	Created         int64  `gorm:"column:created_at"`
	Started         *int64 `gorm:"column:started_at"`
	Ended           *int64 `gorm:"column:ended_at"`
}

func (turnRow) TableName() string { return "turns" }

func (r turnRow) turn() models.Turn {
	t := models.Turn{
		ID:            r.ID,
		SessionID:     r.SessionID,
		OwnerID:       r.OwnerID,
		Model:         r.Model,
		Seq:           r.Seq,
		ParentID:      r.ParentID,
		Shown:         r.Shown,
		Repeats:       r.Repeats,
		RequestID:     r.RequestID,
		State:         models.State(r.State),
		Parked:        r.Parked,
		Error:         r.Error,
		ErrorCode:     models.TurnErrorCode(r.ErrorCode),
		Continuations: r.Continuations,
		Retries:       r.Retries,
		Usage: models.Usage{
			InputTokens:     r.InputTokens,
			OutputTokens:    r.OutputTokens,
			ReasoningTokens: r.ReasoningTokens,
			CachedTokens:    r.CachedTokens,
			Cost:            r.Cost,
		},
		ContextTokens: r.ContextTokens,
		Footing:       models.Footing{Answered: r.Answered, Unread: r.Unread, GapNamed: r.GapNamed, Doubted: r.Doubted},
		CreatedAt:     fromMicros(r.Created),
		StartedAt:     fromMicrosOrNull(r.Started),
		EndedAt:       fromMicrosOrNull(r.Ended),
	}
	if r.ClientID != nil {
		t.ClientID = *r.ClientID
	}
	return t
}

// Turn finds a turn of an owner; another's is ErrNotFound.
func (s *Store) Turn(ctx context.Context, owner, id string) (models.Turn, error) {
	return s.turn(ctx, "turn "+id, func(db *gorm.DB) *gorm.DB { return db.Where("owner_id = ? AND id = ?", owner, id) })
}

// AnyTurn finds a turn whoever owns it.
func (s *Store) AnyTurn(ctx context.Context, id string) (models.Turn, error) {
	return s.turn(ctx, "turn "+id, func(db *gorm.DB) *gorm.DB { return db.Where("id = ?", id) })
}

// NextTurn is the turn of a session that is to run next: one that was parked
// when the program ended, or the one that has been queued longest. ErrNotFound
// where there is none.
func (s *Store) NextTurn(ctx context.Context, sessionID string) (models.Turn, error) {
	parked, err := s.turn(ctx, "parked turn of session "+sessionID, func(db *gorm.DB) *gorm.DB {
		return db.Where("session_id = ? AND state = ? AND parked", sessionID, models.StateAwaitingApproval)
	})
	if !errors.Is(err, models.ErrNotFound) {
		return parked, err
	}
	return s.NextQueued(ctx, sessionID)
}

// NextQueued is the turn that has waited longest in a session; ErrNotFound
// where none waits.
func (s *Store) NextQueued(ctx context.Context, sessionID string) (models.Turn, error) {
	return s.turn(ctx, "next turn of session "+sessionID, func(db *gorm.DB) *gorm.DB {
		return db.Where("session_id = ? AND state = ?", sessionID, models.StateQueued).Order("seq")
	})
}

func (s *Store) turn(ctx context.Context, doing string, which func(*gorm.DB) *gorm.DB) (models.Turn, error) {
	var row turnRow
	err := s.read(ctx, doing, func(db *gorm.DB) error {
		return orMissing(which(db).Take(&row).Error, noTurn())
	})
	if err != nil {
		return models.Turn{}, err
	}
	return row.turn(), nil
}

// Turns finds those of the named turns that are the session's, in their order.
func (s *Store) Turns(ctx context.Context, sessionID string, ids []string) ([]models.Turn, error) {
	var rows []turnRow
	err := s.read(ctx, "turns of session "+sessionID, func(db *gorm.DB) error {
		// The + keeps the database from reading all of the session in its order.
		return db.Where("+session_id = ? AND id IN ?", sessionID, ids).Order("+seq").Find(&rows).Error
	})
	return convert(rows, turnRow.turn), err
}

// UnrestedSessions are the sessions in which a turn waits to run, or to go on.
func (s *Store) UnrestedSessions(ctx context.Context) ([]string, error) {
	ids := []string{}
	err := s.read(ctx, "list sessions with turns to run", func(db *gorm.DB) error {
		return db.Model(&turnRow{}).Where("state = ? OR state = ? AND parked", models.StateQueued, models.StateAwaitingApproval).Order("session_id").Distinct().Pluck("session_id", &ids).Error
	})
	return ids, err
}

// UnfinishedTurns counts the turns of an owner that wait or run.
func (s *Store) UnfinishedTurns(ctx context.Context, owner string) (int, error) {
	var count int64
	err := s.read(ctx, "count the turns of user "+owner, func(db *gorm.DB) error {
		return db.Model(&turnRow{}).Where("owner_id = ? AND "+unfinished, owner).Count(&count).Error
	})
	return int(count), err
}

// TurnsOfDisabled are the turns of disabled users that wait or run.
func (s *Store) TurnsOfDisabled(ctx context.Context) ([]string, error) {
	ids := []string{}
	err := s.read(ctx, "find turns of disabled users", func(db *gorm.DB) error {
		return db.Model(&turnRow{}).Where(unfinished+" AND (SELECT disabled FROM users WHERE users.id = turns.owner_id)").Pluck("id", &ids).Error
	})
	return ids, err
}

// StartTurn takes a turn out of the queue: it runs, and its message is done. A
// turn that is not queued, or whose session runs another one, is ErrConflict.
func (s *Store) StartTurn(ctx context.Context, id string, now time.Time) (models.Turn, error) {
	var row turnRow
	err := s.write(ctx, "start turn "+id, func(tx *gorm.DB) error {
		err := leaveQueue(tx, id, map[string]any{"state": models.StateRunning, "started_at": micros(now)})
		if err != nil {
			return err
		}
		if err := settleMessages(tx, id, models.StateDone); err != nil {
			return err
		}
		return tx.Where("id = ?", id).Take(&row).Error
	})
	if err != nil {
		return models.Turn{}, err
	}
	return row.turn(), nil
}

// RemoveQueuedTurn takes a turn out of the queue before it ran: it and its
// message are stopped. A turn that is not queued any more is ErrConflict.
func (s *Store) RemoveQueuedTurn(ctx context.Context, id string) error {
	return s.write(ctx, "remove queued turn "+id, func(tx *gorm.DB) error {
		err := leaveQueue(tx, id, map[string]any{"state": models.StateStopped, "ended_at": micros(time.Now())})
		if err != nil {
			return err
		}
		return settleMessages(tx, id, models.StateStopped)
	})
}

// leaveQueue changes a turn that is queued.
func leaveQueue(tx *gorm.DB, id string, changes map[string]any) error {
	result := tx.Model(&turnRow{}).Where("id = ? AND state = ?", id, models.StateQueued).Updates(changes)
	if taken(result.Error) {
		return models.Errorf(models.ErrConflict, "session_busy", "another turn runs in this session; this one waits for it")
	}
	if result.Error != nil || result.RowsAffected > 0 {
		return result.Error
	}
	var row turnRow
	if err := tx.Select("id").Where("id = ?", id).Take(&row).Error; err != nil {
		return orMissing(err, noTurn())
	}
	return models.Errorf(models.ErrConflict, "turn_not_queued", "this turn does not wait in the queue any more")
}

// settleMessages gives the messages of a turn that have no final state one.
func settleMessages(tx *gorm.DB, turnID string, state models.State) error {
	return tx.Model(&messageRow{}).
		Where("turn_id = ? AND state IN ?", turnID, []models.State{models.StateQueued, models.StateRunning}).
		Update("state", state).Error
}

// SaveTurn stores a turn's state, error, counters, usage and times. Turns that
// were deleted with their session are ErrNotFound.
func (s *Store) SaveTurn(ctx context.Context, t models.Turn) error {
	return s.write(ctx, "save turn "+t.ID, func(tx *gorm.DB) error { return updateTurn(tx, t) })
}

// FinishTurn is SaveTurn of a final state, which the turn's messages that are
// still queued or running take on too. It is a use of the session.
func (s *Store) FinishTurn(ctx context.Context, t models.Turn) error {
	defer s.indexer.wake()
	return s.write(ctx, "finish turn "+t.ID, func(tx *gorm.DB) error {
		if !t.State.Final() {
			return errors.New("its state is " + string(t.State))
		}
		if err := updateTurn(tx, t); err != nil {
			return err
		}
		if err := settleMessages(tx, t.ID, t.State); err != nil {
			return err
		}
		if err := lapseAll(tx, t.ID, time.Now()); err != nil {
			return err
		}
		if t.EndedAt == nil {
			return nil
		}
		return touchSession(tx, t.SessionID, *t.EndedAt)
	})
}

func updateTurn(tx *gorm.DB, t models.Turn) error {
	result := tx.Model(&turnRow{}).Where("id = ?", t.ID).Updates(map[string]any{
		"state":            t.State,
		"model":            t.Model,
		"parked":           t.Parked,
		"error":            t.Error,
		"error_code":       t.ErrorCode,
		"continuations":    t.Continuations,
		"retries":          t.Retries,
		"input_tokens":     t.Usage.InputTokens,
		"output_tokens":    t.Usage.OutputTokens,
		"reasoning_tokens": t.Usage.ReasoningTokens,
		"cached_tokens":    t.Usage.CachedTokens,
		"cost":             t.Usage.Cost,
		"context_tokens":   t.ContextTokens,
		"answered":         t.Footing.Answered,
		"unread":           t.Footing.Unread,
		"gap_named":        t.Footing.GapNamed,
		"doubted":          t.Footing.Doubted,
		"started_at":       microsOrNull(t.StartedAt),
		"ended_at":         microsOrNull(t.EndedAt),
	})
	return changed(result, noTurn())
}
