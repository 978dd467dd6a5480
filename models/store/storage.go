package store

import (
	"context"

	"offcut/models"

	"gorm.io/gorm"
)

// Storage is what an owner stores, and may store.
func (s *Store) Storage(ctx context.Context, owner string) (models.Storage, error) {
	var kept models.Storage
	var since *int64
	err := s.read(ctx, "storage of user "+owner, func(db *gorm.DB) error {
		err := db.Raw(`SELECT
			(SELECT count(*) FROM sessions WHERE owner_id = @owner AND building = 0) AS sessions,
			(SELECT count(*) FROM sessions WHERE owner_id = @owner AND archived = 1) AS archived,
			(SELECT count(*) FROM outputs WHERE owner_id = @owner AND deleted_at IS NULL) AS outputs`,
			map[string]any{"owner": owner}).Scan(&kept).Error
		if err != nil {
			return err
		}
		if err := db.Raw("SELECT min(created_at) FROM sessions WHERE owner_id = ?", owner).Scan(&since).Error; err != nil {
			return err
		}
		if since != nil {
			kept.Since = fromMicros(*since)
		}
		kept.QuotaBytes = s.opts.QuotaBytes
		kept.UsedBytes, err = s.storageUsed(db, owner)
		return err
	})
	return kept, err
}
