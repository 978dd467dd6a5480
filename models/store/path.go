package store

import (
	"context"
	"database/sql"

	"offcut/models"

	"gorm.io/gorm"
)

// turnsTo selects the ids of the turns that lead to a turn, itself among them.
const turnsTo = `WITH RECURSIVE path (id) AS (
	SELECT ? UNION ALL SELECT turns.parent_id FROM path CROSS JOIN turns ON turns.id = path.id WHERE turns.parent_id <> ''
) SELECT id FROM path`

// lastShownAbove is the seq of the nearest turn above a turn that is shown: the
// shown path leaves the one to the turn there. 0: they share nothing.
const lastShownAbove = `WITH RECURSIVE path (parent_id, seq, shown) AS (
	SELECT parent_id, seq, shown FROM turns WHERE id = @turn
	UNION ALL
	SELECT turns.parent_id, turns.seq, turns.shown FROM path CROSS JOIN turns ON turns.id = path.parent_id WHERE path.shown = 0
) SELECT coalesce(max(seq), 0) FROM path WHERE shown = 1`

// showPath marks as shown the turns that are not and lead to a turn, and those
// that lead on from it, by the newest version of each.
const showPath = `UPDATE turns SET shown = 1 WHERE id IN (
	WITH RECURSIVE path (id) AS (
		SELECT @turn
		UNION ALL
		SELECT turns.parent_id FROM path CROSS JOIN turns ON turns.id = path.id
		WHERE (SELECT parent.shown FROM turns AS parent WHERE parent.id = turns.parent_id) = 0
	), path_on (id) AS (
		SELECT @turn
		UNION ALL
		SELECT (SELECT turns.id FROM turns WHERE turns.session_id = @session AND turns.parent_id = path_on.id ORDER BY turns.seq DESC LIMIT 1)
		FROM path_on WHERE path_on.id IS NOT NULL
	) SELECT id FROM path UNION ALL SELECT id FROM path_on WHERE id IS NOT NULL
)`

// show makes a turn that is not shown part of the conversation: of the shown
// turns those go that do not lead to it, and those come that do, and that lead on
// from it. Only what changes is written.
func show(tx *gorm.DB, turn turnRow) error {
	session, id := sql.Named("session", turn.SessionID), sql.Named("turn", turn.ID)
	var fork int64
	if err := tx.Raw(lastShownAbove, id).Scan(&fork).Error; err != nil {
		return err
	}
	after := seqAfterTurn(fork)
	hidden := map[string]any{"shown": false}
	err := tx.Model(&messageRow{}).Where("session_id = ? AND shown = 1 AND seq >= ?", turn.SessionID, after).Updates(hidden).Error
	if err != nil {
		return err
	}
	err = tx.Model(&turnRow{}).Where("session_id = ? AND shown = 1 AND seq > ?", turn.SessionID, fork).Updates(hidden).Error
	if err != nil {
		return err
	}
	if err := tx.Exec(showPath, session, id).Error; err != nil {
		return err
	}
	return tx.Model(&messageRow{}).
		Where("turn_id IN (SELECT id FROM turns WHERE session_id = ? AND shown = 1 AND seq > ?)", turn.SessionID, fork).
		Updates(map[string]any{"shown": true}).Error
}

// ShowTurn makes a turn of an owner part of the conversation, with what led to it
// and what went on from it, by the newest version of each. It reports whether it
// was not so already. While a turn of the session waits or runs it is ErrConflict.
func (s *Store) ShowTurn(ctx context.Context, owner, id string) (models.Turn, bool, error) {
	var row turnRow
	var changes bool
	err := s.write(ctx, "show turn "+id, func(tx *gorm.DB) error {
		if err := tx.Where("owner_id = ? AND id = ?", owner, id).Take(&row).Error; err != nil {
			return orMissing(err, noTurn())
		}
		if changes = !row.Shown; !changes {
			return nil
		}
		if err := idle(tx, row.SessionID); err != nil {
			return err
		}
		row.Shown = true
		return show(tx, row)
	})
	return row.turn(), changes && err == nil, err
}

// idle is the error of a change that has to wait until no turn of the session
// waits or runs.
func idle(tx *gorm.DB, sessionID string) error {
	var busy []string
	err := tx.Model(&turnRow{}).Where("session_id = ? AND "+unfinished, sessionID).Limit(1).Pluck("id", &busy).Error
	if err != nil || len(busy) == 0 {
		return err
	}
	return models.Errorf(models.ErrConflict, "session_busy",
		"an answer is being written or waits in this conversation; try again when it has ended, or stop it first")
}

// versionView is a turn as one of the versions of its place.
type versionView struct {
	ID       string
	ParentID string
	Repeats  string
	Shown    bool
	GoesOn   bool
}

func (v versionView) version() models.Version {
	question := v.Repeats
	if question == "" {
		question = v.ID
	}
	return models.Version{TurnID: v.ID, ParentID: v.ParentID, Question: question, Shown: v.Shown, GoesOn: v.GoesOn}
}

// Versions are the turns of a session that follow the named ones, in their order;
// an empty name asks for the first turns.
func (s *Store) Versions(ctx context.Context, sessionID string, parents []string) ([]models.Version, error) {
	var rows []versionView
	err := s.read(ctx, "versions in session "+sessionID, func(db *gorm.DB) error {
		return db.Model(&turnRow{}).
			Select("id, parent_id, repeats, shown, EXISTS (SELECT 1 FROM turns AS next WHERE next.session_id = turns.session_id AND next.parent_id = turns.id) AS goes_on").
			Where("session_id = ? AND parent_id IN ?", sessionID, parents).Order("+seq").Find(&rows).Error // + as in Turns
	})
	return convert(rows, versionView.version), err
}
