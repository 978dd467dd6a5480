package store

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"offcut/models"

	"gorm.io/gorm"
)

// FileSizes are the sizes of the database's files.
func (s *Store) FileSizes(ctx context.Context) (models.StorageSizes, error) {
	var sizes models.StorageSizes
	err := s.read(ctx, "size of the database", func(db *gorm.DB) error {
		var pages, pageBytes int64
		if err := db.Raw("PRAGMA freelist_count").Scan(&pages).Error; err != nil {
			return err
		}
		if err := db.Raw("PRAGMA page_size").Scan(&pageBytes).Error; err != nil {
			return err
		}
		sizes.Free = pages * pageBytes
		var err error
		if sizes.Database, err = sizeOf(s.path); err != nil {
			return err
		}
		sizes.Log, err = sizeOf(s.path + "-wal")
		return err
	})
	return sizes, err
}

// sizeOf is the size of a file; 0 where there is none.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
