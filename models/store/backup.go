package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Backup writes a copy of the database as it is at one moment to a new file,
// which is for its owner alone, while others go on reading and writing. What was
// deleted is not in it. A file that is there already is not touched; where the
// copy fails no file is left.
func (s *Store) Backup(ctx context.Context, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Close(), s.vacuumInto(ctx, path)); err != nil {
		return errors.Join(fmt.Errorf("copy the database: %w", err), os.Remove(path))
	}
	return nil
}

// vacuumInto has a connection of its own: the readers' take any copy for a write.
func (s *Store) vacuumInto(ctx context.Context, path string) error {
	db, err := connect(dsn(s.path, url.Values{"_busy_timeout": {busyTimeout}, "mode": {"ro"}}), 1)
	if err != nil {
		return err
	}
	return errors.Join(db.WithContext(ctx).Exec("VACUUM INTO ?", path).Error, disconnect(db))
}
