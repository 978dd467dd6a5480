package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// StorageUsed is how many bytes an owner stores: kept outputs, and workspaces
// where Options counts them.
func (s *Store) StorageUsed(ctx context.Context, owner string) (int64, error) {
	var used int64
	err := s.read(ctx, "storage of user "+owner, func(db *gorm.DB) error {
		var err error
		used, err = s.storageUsed(db, owner)
		return err
	})
	return used, err
}

func (s *Store) storageUsed(db *gorm.DB, owner string) (int64, error) {
	var used int64
	err := db.Raw("SELECT coalesce(sum(stored_bytes), 0) FROM outputs WHERE owner_id = ?", owner).Scan(&used).Error
	if err == nil && s.opts.WorkspaceBytes != nil {
		used += s.opts.WorkspaceBytes(owner)
	}
	return used, err
}

// checkQuota refuses more bytes of an owner than the quota leaves room for.
// Shrinking is never refused.
func (s *Store) checkQuota(tx *gorm.DB, owner string, more int64) error {
	if more <= 0 {
		return nil
	}
	used, err := s.storageUsed(tx, owner)
	if err != nil || used+more <= s.opts.QuotaBytes {
		return err
	}
	return models.Errorf(models.ErrTooLarge, "storage_quota",
		"your storage of %d bytes is full; delete outputs or sessions that are no longer needed", s.opts.QuotaBytes).
		With("quota_bytes", s.opts.QuotaBytes).With("used_bytes", used)
}
