package store

import (
	"context"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

type approvalRow struct {
	ID         int64
	SessionID  string
	TurnID     string
	CallID     string
	Tool       string
	Arguments  string
	Folder     string
	Deed       string
	Unconfined bool
	Decision   string
	DecidedBy  string
	Created    int64  `gorm:"column:created_at"`
	Decided    *int64 `gorm:"column:decided_at"`
}

func (approvalRow) TableName() string { return "approvals" }

func (r approvalRow) approval() models.Approval {
	return models.Approval{
		SessionID:  r.SessionID,
		TurnID:     r.TurnID,
		CallID:     r.CallID,
		Tool:       r.Tool,
		Arguments:  r.Arguments,
		Folder:     r.Folder,
		Deed:       r.Deed,
		Unconfined: r.Unconfined,
		Decision:   models.Decision(r.Decision),
		DecidedBy:  r.DecidedBy,
		CreatedAt:  fromMicros(r.Created),
		DecidedAt:  fromMicrosOrNull(r.Decided),
	}
}

// Ask stores that somebody is asked about a call, and returns what there is
// about it: a call that was asked about before, as after a restart, has its
// decision, if there is one. It is the same call where it is the same turn's, of
// the same tool and with the same arguments: an id alone may come again, and
// another call under it is ErrConflict. Where the tool was allowed for the whole
// session nobody is asked, and granted is true.
func (s *Store) Ask(ctx context.Context, a models.Approval) (asked models.Approval, granted bool, err error) {
	err = s.write(ctx, "ask about call "+a.CallID, func(tx *gorm.DB) error {
		var rows []approvalRow
		err := tx.Where("session_id = ? AND call_id = ?", a.SessionID, a.CallID).Limit(1).Find(&rows).Error
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			asked = rows[0].approval()
			if !asked.SameCall(a) {
				return models.Errorf(models.ErrConflict, "call_asked", "somebody was asked about another call with the id %s", a.CallID)
			}
			return nil
		}
		var grants []int64
		if err := grantsFor(tx, a).Limit(1).Pluck("id", &grants).Error; err != nil {
			return err
		}
		if granted = len(grants) > 0; granted {
			return nil
		}
		asked = a
		return tx.Create(&approvalRow{
			SessionID:  a.SessionID,
			TurnID:     a.TurnID,
			CallID:     a.CallID,
			Tool:       a.Tool,
			Arguments:  a.Arguments,
			Folder:     a.Folder,
			Deed:       a.Deed,
			Unconfined: a.Unconfined,
			Created:    micros(a.CreatedAt),
		}).Error
	})
	return asked, granted, err
}

// grantsFor are those that hold for a call. What was allowed of commands in the
// sandbox says nothing of one outside it.
func grantsFor(tx *gorm.DB, a models.Approval) *gorm.DB {
	grants := grantsOf(tx, a.SessionID, a.Tool)
	if a.Unconfined {
		grants = grants.Where("unconfined")
	}
	return grants
}

// grantsOf are the decisions for the session that hold, of a tool.
func grantsOf(db *gorm.DB, sessionID, tool string) *gorm.DB {
	return db.Model(&approvalRow{}).Where("session_id = ? AND decision = ? AND revoked_at IS NULL AND tool = ?", sessionID, models.DecisionSession, tool)
}

// Waiting are the calls of a turn that wait for a decision, in the order in
// which they were asked about.
func (s *Store) Waiting(ctx context.Context, turnID string) ([]models.Approval, error) {
	var rows []approvalRow
	err := s.read(ctx, "what waits in turn "+turnID, func(db *gorm.DB) error {
		return db.Where("turn_id = ? AND decision = ''", turnID).Order("id").Find(&rows).Error
	})
	return convert(rows, approvalRow.approval), err
}

// Approval finds a call about which somebody was asked.
func (s *Store) Approval(ctx context.Context, sessionID, callID string) (models.Approval, error) {
	var row approvalRow
	err := s.read(ctx, "approval of call "+callID, func(db *gorm.DB) error {
		return orMissing(db.Where("session_id = ? AND call_id = ?", sessionID, callID).Take(&row).Error, noApproval())
	})
	return row.approval(), err
}

func noApproval() *models.Error {
	return models.Errorf(models.ErrNotFound, "approval_not_found", "nobody was asked about a call with this id in this turn")
}

// Decide stores a decision, and with it the lines of the audit log, and
// returns the calls that it decides: a decision for the session is one about
// every call of the tool that waits there. A call that does not wait any more
// is ErrConflict.
func (s *Store) Decide(ctx context.Context, v models.Verdict, audit ...models.AuditEntry) ([]models.Approval, error) {
	var rows []approvalRow
	err := s.write(ctx, "decide about call "+v.CallID, func(tx *gorm.DB) error {
		var row approvalRow
		if err := tx.Where("turn_id = ? AND call_id = ?", v.TurnID, v.CallID).Take(&row).Error; err != nil {
			return orMissing(err, noApproval())
		}
		if row.Decision != "" {
			return decided(models.Decision(row.Decision))
		}
		waiting := tx.Where("turn_id = ? AND decision = ''", row.TurnID).Order("id")
		if v.Decision == models.DecisionSession {
			waiting = waiting.Where("tool = ?", row.Tool)
		} else {
			waiting = waiting.Where("id = ?", row.ID)
		}
		if err := waiting.Find(&rows).Error; err != nil {
			return err
		}
		for i := range rows {
			at := micros(v.Now)
			rows[i].Decision, rows[i].DecidedBy, rows[i].Decided = string(v.Decision), v.By, &at
			err := tx.Model(&approvalRow{}).Where("id = ?", rows[i].ID).
				Updates(map[string]any{"decision": v.Decision, "decided_by": v.By, "decided_at": at}).Error
			if err != nil {
				return err
			}
		}
		return insertAudits(tx, audit)
	})
	return convert(rows, approvalRow.approval), err
}

// decided is the refusal to decide about a call once more.
func decided(before models.Decision) error {
	what := models.Errorf(models.ErrConflict, "decided_lapsed", "its turn ended before anybody decided")
	switch before {
	case models.DecisionOnce:
		what = models.Errorf(models.ErrConflict, "decided_once", "it was allowed once")
	case models.DecisionSession:
		what = models.Errorf(models.ErrConflict, "decided_session", "it was allowed for the session")
	case models.DecisionDeny:
		what = models.Errorf(models.ErrConflict, "decided_deny", "it was denied")
	}
	return models.Errorf(models.ErrConflict, "not_waiting", "this call was decided before: %s; nothing was changed", models.Arg("what", what))
}

// Lapse notes of a call that it waits no longer, because nobody needs to
// decide any more.
func (s *Store) Lapse(ctx context.Context, sessionID, callID string, now time.Time) error {
	return s.write(ctx, "end the wait of call "+callID, func(tx *gorm.DB) error {
		return lapse(tx.Where("session_id = ? AND call_id = ?", sessionID, callID), now)
	})
}

// lapseAll ends what waits in a turn that has ended.
func lapseAll(tx *gorm.DB, turnID string, now time.Time) error {
	return lapse(tx.Where("turn_id = ?", turnID), now)
}

func lapse(which *gorm.DB, now time.Time) error {
	return which.Model(&approvalRow{}).Where("decision = ''").
		Updates(map[string]any{"decision": models.DecisionLapsed, "decided_at": micros(now)}).Error
}

// Grants are the tools whose calls run in a session without asking, each once.
func (s *Store) Grants(ctx context.Context, sessionID string) ([]models.Grant, error) {
	var rows []struct {
		Tool string
		By   string
		At   int64
	}
	err := s.read(ctx, "what is allowed in session "+sessionID, func(db *gorm.DB) error {
		return db.Raw(`SELECT tool, coalesce((SELECT name FROM users WHERE users.id = decided_by), '') AS "by", min(decided_at) AS at
			FROM approvals WHERE session_id = ? AND decision = ? AND revoked_at IS NULL GROUP BY tool`, sessionID, models.DecisionSession).Scan(&rows).Error
	})
	grants := make([]models.Grant, len(rows))
	for i, row := range rows {
		grants[i] = models.Grant{Tool: row.Tool, By: row.By, At: fromMicros(row.At)}
	}
	return grants, err
}

// Revoke ends that calls of a tool run in a session without asking; where they
// do not, it changes nothing.
func (s *Store) Revoke(ctx context.Context, sessionID, tool string, now time.Time, audit ...models.AuditEntry) error {
	return s.write(ctx, "ask again about "+tool+" in session "+sessionID, func(tx *gorm.DB) error {
		result := grantsOf(tx, sessionID, tool).Update("revoked_at", micros(now))
		if result.Error != nil || result.RowsAffected == 0 {
			return result.Error
		}
		return insertAudits(tx, audit)
	})
}
