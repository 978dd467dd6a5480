package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// SetPassword stores another password's hash and signs the user out
// everywhere, their sign-in links included; an empty one ends sign-in by password.
func (s *Store) SetPassword(ctx context.Context, userID, hash string, audit ...models.AuditEntry) error {
	return s.changeUser(ctx, "set the password of user "+userID, audit, func(tx *gorm.DB) error {
		if err := changed(userOf(tx, userID).Update("password_hash", hash), noUser()); err != nil {
			return err
		}
		return signOut(tx, userID)
	})
}

// SetDisabled locks a user out, and signs them out everywhere, or lets them in
// again. The last admin who is enabled cannot be disabled: ErrConflict.
func (s *Store) SetDisabled(ctx context.Context, userID string, disabled bool, audit ...models.AuditEntry) error {
	return s.changeUser(ctx, "disable user "+userID, audit, func(tx *gorm.DB) error {
		if !disabled {
			return changed(userOf(tx, userID).Update("disabled", false), noUser())
		}
		if err := refuseLastAdmin(tx, userID); err != nil {
			return err
		}
		if err := changed(userOf(tx, userID).Update("disabled", true), noUser()); err != nil {
			return err
		}
		return signOut(tx, userID)
	})
}

// SetRole makes a user an admin, or an ordinary user again. The last admin who
// is enabled stays one: ErrConflict.
func (s *Store) SetRole(ctx context.Context, userID string, role models.UserRole, audit ...models.AuditEntry) error {
	return s.changeUser(ctx, "change the role of user "+userID, audit, func(tx *gorm.DB) error {
		if role != models.RoleAdmin {
			if err := refuseLastAdmin(tx, userID); err != nil {
				return err
			}
		}
		return changed(userOf(tx, userID).Update("role", role), noUser())
	})
}

// ResetUser signs a user out everywhere and gives them a new one-use link; the
// links that they had are worth nothing from then on. Where it is said, the
// password and the API tokens end too.
func (s *Store) ResetUser(ctx context.Context, link models.SignInLink, password, tokens bool, audit ...models.AuditEntry) error {
	userID := link.UserID
	return s.changeUser(ctx, "reset user "+userID, audit, func(tx *gorm.DB) error {
		if password {
			if err := changed(userOf(tx, userID).Update("password_hash", ""), noUser()); err != nil {
				return err
			}
		}
		if tokens {
			if err := tx.Where("user_id = ?", userID).Delete(&tokenRow{}).Error; err != nil {
				return err
			}
		}
		if err := signOut(tx, userID); err != nil {
			return err
		}
		return insertLink(tx, link)
	})
}

// SetSettings stores what a user chose for themselves.
func (s *Store) SetSettings(ctx context.Context, userID string, set models.Settings) error {
	return s.changeUser(ctx, "store the settings of user "+userID, nil, func(tx *gorm.DB) error {
		return changed(userOf(tx, userID).Updates(map[string]any{
			"language":      set.Language,
			"theme":         set.Theme,
			"preview_lines": set.PreviewLines,
			"thoughts":      set.Thoughts,
			"notify":        set.Notify,
			"unmarked":      set.Unmarked,
		}), noUser())
	})
}

// SetTheme stores the theme that a user chose, and nothing else of their settings.
func (s *Store) SetTheme(ctx context.Context, userID string, theme models.Theme) error {
	return s.changeUser(ctx, "store the theme of user "+userID, nil, func(tx *gorm.DB) error {
		return changed(userOf(tx, userID).Update("theme", theme), noUser())
	})
}

// changeUser changes a user and writes the lines of the audit log, or neither.
func (s *Store) changeUser(ctx context.Context, doing string, audit []models.AuditEntry, change func(*gorm.DB) error) error {
	return s.write(ctx, doing, func(tx *gorm.DB) error {
		if err := change(tx); err != nil {
			return err
		}
		return insertAudits(tx, audit)
	})
}

func userOf(tx *gorm.DB, id string) *gorm.DB { return tx.Model(&userRow{}).Where("id = ?", id) }

// signOut ends the sign-ins of a user, and the links with which they could sign
// in again.
func signOut(tx *gorm.DB, userID string) error {
	if err := tx.Where("user_id = ?", userID).Delete(&linkRow{}).Error; err != nil {
		return err
	}
	return tx.Where("user_id = ?", userID).Delete(&webSessionRow{}).Error
}

// refuseLastAdmin is the error of what would leave nobody who can administer.
// It holds because writers come one after the other: of two admins who lock out
// each other at the same moment, the second is refused.
func refuseLastAdmin(tx *gorm.DB, userID string) error {
	var row userRow
	if err := tx.Where("id = ?", userID).Take(&row).Error; err != nil {
		return orMissing(err, noUser())
	}
	if row.Role != string(models.RoleAdmin) || row.Disabled {
		return nil
	}
	var others int64
	err := tx.Model(&userRow{}).Where("role = ? AND disabled = 0 AND id <> ?", models.RoleAdmin, userID).Count(&others).Error
	if err != nil {
		return err
	}
	if others == 0 {
		return models.Errorf(models.ErrConflict, "last_admin", "%s is the last admin who can sign in; make another admin first", models.Arg("name", row.Name))
	}
	return nil
}

// userStatsView is a user with their figures.
type userStatsView struct {
	Row         userRow `gorm:"embedded"`
	Sessions    int
	StoredBytes int64
	Tokens      int
}

const userStatsColumns = `users.*,
	(SELECT count(*) FROM sessions WHERE sessions.owner_id = users.id) AS sessions,
	(SELECT coalesce(sum(stored_bytes), 0) FROM outputs WHERE outputs.owner_id = users.id)
		+ (SELECT coalesce(sum(size_text), 0) FROM sessions WHERE sessions.owner_id = users.id) AS stored_bytes,
	(SELECT count(*) FROM api_tokens WHERE api_tokens.user_id = users.id) AS tokens`

// UserStats lists the users by name, with what they have.
func (s *Store) UserStats(ctx context.Context, p models.Page) ([]models.UserStats, string, error) {
	after := ""
	if err := decodeCursor("users", p.Cursor, &after); err != nil {
		return nil, "", err
	}
	limit := p.Clamped()
	var rows []userStatsView
	err := s.read(ctx, "list users with their figures", func(db *gorm.DB) error {
		return db.Model(&userRow{}).Select(userStatsColumns).Where("name_key > ?", after).Order("name_key").Limit(limit + 1).Find(&rows).Error
	})
	if err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(last userStatsView) string { return encodeCursor("users", last.Row.NameKey) })
	return convert(rows, s.userStats), next, nil
}

// UserWithStats finds a user by id, with what they have.
func (s *Store) UserWithStats(ctx context.Context, id string) (models.UserStats, error) {
	var row userStatsView
	err := s.read(ctx, "figures of user "+id, func(db *gorm.DB) error {
		return orMissing(db.Model(&userRow{}).Select(userStatsColumns).Where("id = ?", id).Take(&row).Error, noUser())
	})
	if err != nil {
		return models.UserStats{}, err
	}
	return s.userStats(row), nil
}

func (s *Store) userStats(v userStatsView) models.UserStats {
	stats := models.UserStats{User: v.Row.user(), Sessions: v.Sessions, StoredBytes: v.StoredBytes, Tokens: v.Tokens}
	if s.opts.WorkspaceBytes != nil {
		stats.StoredBytes += s.opts.WorkspaceBytes(v.Row.ID)
	}
	return stats
}
