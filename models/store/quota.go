package store

import (
	"context"
	"database/sql"

	"offcut/models"

	"gorm.io/gorm"
)

// messageRoom is what the row of a message takes up beside its text, with its
// turn's and both in their indexes, in bytes. It is the number in the migration
// that counts them.
const messageRoom = 600

// StorageUsed is how many bytes an owner stores: messages, kept outputs, and
// workspaces where Options counts them.
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
	err := db.Raw(`SELECT (SELECT coalesce(sum(stored_bytes), 0) FROM outputs WHERE owner_id = @owner)
		+ (SELECT coalesce(sum(size_text), 0) FROM sessions WHERE owner_id = @owner)`, sql.Named("owner", owner)).Scan(&used).Error
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
		"your storage of %d bytes is full and nothing was stored; delete files, outputs or sessions that are no longer needed", models.Arg("quota", s.opts.QuotaBytes)).
		With("quota_bytes", s.opts.QuotaBytes).With("used_bytes", used)
}

// stored is what a message counts as, in bytes.
func (r messageRow) stored() int64 {
	total := messageRoom + len(r.Content) + len(r.Reasoning) + len(r.ReasoningData)
	for _, column := range []*string{r.ToolCalls, r.Metadata, r.Attachments} {
		if column != nil {
			total += len(*column)
		}
	}
	return int64(total)
}
