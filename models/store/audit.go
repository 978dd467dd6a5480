package store

import (
	"context"
	"math"
	"strings"

	"offcut/models"

	"gorm.io/gorm"
)

type auditRow struct {
	ID        int64
	At        int64
	ActorID   string
	ActorName string
	Action    string
	Target    string
	Detail    string
	Address   string
	Code      string
	Args      *string
}

func (auditRow) TableName() string { return "audit" }

func (r auditRow) entry() models.AuditEntry {
	var args map[string]any
	_ = fromJSON(r.Args, &args) // a line that cannot be read is said in English
	return models.AuditEntry{
		ID:        r.ID,
		At:        fromMicros(r.At),
		ActorID:   r.ActorID,
		ActorName: r.ActorName,
		Action:    r.Action,
		Target:    r.Target,
		Detail:    r.Detail,
		Code:      r.Code,
		Args:      args,
		Address:   r.Address,
	}
}

// AddAudit writes a line of the audit log. The id is the store's.
func (s *Store) AddAudit(ctx context.Context, e models.AuditEntry) error {
	return s.write(ctx, "audit "+e.Action, func(tx *gorm.DB) error { return insertAudit(tx, e) })
}

// AddAuditOnce writes a line unless there is one of the same actor, action and
// target. It is asked with every request of an admin who reads, so that only
// the first has to wait for the writer.
func (s *Store) AddAuditOnce(ctx context.Context, e models.AuditEntry) error {
	doing := "audit " + e.Action
	var known bool
	err := s.read(ctx, doing, func(db *gorm.DB) error { return audited(db, e, &known) })
	if err != nil || known {
		return err
	}
	return s.write(ctx, doing, func(tx *gorm.DB) error {
		if err := audited(tx, e, &known); err != nil || known {
			return err
		}
		return insertAudit(tx, e)
	})
}

// audited tells whether there is a line of the same actor, action and target.
func audited(db *gorm.DB, e models.AuditEntry, known *bool) error {
	var ids []int64
	err := db.Model(&auditRow{}).Where("actor_id = ? AND action = ? AND target = ?", e.ActorID, e.Action, e.Target).
		Limit(1).Pluck("id", &ids).Error
	*known = len(ids) > 0
	return err
}

// insertAudits writes lines about what the same transaction does: neither is
// without the other.
func insertAudits(tx *gorm.DB, entries []models.AuditEntry) error {
	for _, e := range entries {
		if err := insertAudit(tx, e); err != nil {
			return err
		}
	}
	return nil
}

func insertAudit(tx *gorm.DB, e models.AuditEntry) error {
	var args *string
	if len(e.Args) > 0 {
		var err error
		if args, err = toJSON(e.Args); err != nil {
			return err
		}
	}
	return tx.Create(&auditRow{
		At:        micros(e.At),
		ActorID:   e.ActorID,
		ActorName: e.ActorName,
		Action:    e.Action,
		Target:    e.Target,
		Detail:    e.Detail,
		Code:      e.Code,
		Args:      args,
		Address:   e.Address,
	}).Error
}

// Audit lists the audit log, newest first.
func (s *Store) Audit(ctx context.Context, q models.AuditQuery) ([]models.AuditEntry, string, error) {
	at, id := int64(math.MaxInt64), int64(math.MaxInt64)
	if err := decodeCursor("audit", q.Cursor, &at, &id); err != nil {
		return nil, "", err
	}
	limit := q.Clamped()
	var rows []auditRow
	err := s.read(ctx, "list the audit log", func(db *gorm.DB) error {
		return auditedBy(db, q).Where("(at, id) < (?, ?)", at, id).Order("at DESC, id DESC").Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last auditRow) string { return encodeCursor("audit", last.At, last.ID) })
	return convert(rows, auditRow.entry), next, nil
}

// AuditActions are the actions that are in the log, by name. There are a few,
// however long the log is: each is found in the index after the one before.
func (s *Store) AuditActions(ctx context.Context) ([]string, error) {
	var actions []string
	err := s.read(ctx, "list the audit log's actions", func(db *gorm.DB) error {
		for last := ""; ; {
			var next *string
			if err := db.Raw("SELECT min(action) FROM audit WHERE action > ?", last).Scan(&next).Error; err != nil || next == nil {
				return err
			}
			actions, last = append(actions, *next), *next
		}
	})
	return actions, err
}

// auditedBy narrows the log to what q asks for.
func auditedBy(db *gorm.DB, q models.AuditQuery) *gorm.DB {
	if q.Actor != "" {
		db = db.Where("actor_name = ?", q.Actor)
	}
	switch {
	case strings.Contains(q.Action, "."):
		db = db.Where("action = ?", q.Action)
	case q.Action != "":
		// The slash follows the dot. The sign keeps this range from being what
		// the rows are found by: they would have to be sorted then.
		db = db.Where("+action >= ? AND +action < ?", q.Action+".", q.Action+"/")
	}
	if q.Target != "" {
		db = db.Where("target = ?", q.Target)
	}
	if !q.From.IsZero() {
		db = db.Where("at >= ?", micros(q.From))
	}
	if !q.To.IsZero() {
		db = db.Where("at < ?", micros(q.To))
	}
	return db
}
