package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"time"

	"gorm.io/gorm"
)

// The migrations, applied in the order of their names, each once. A migration
// that has been released is never changed; what comes after it is a new file.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate brings the tables up to date, each migration in a transaction of its
// own that also notes it. Where it fails, the database is as the last
// migration that succeeded left it.
func migrate(ctx context.Context, db *gorm.DB) error {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return err
	}
	db = db.WithContext(ctx)
	err = db.Exec(`CREATE TABLE IF NOT EXISTS migrations (
		version    INTEGER PRIMARY KEY,
		name       TEXT NOT NULL,
		applied_at INTEGER NOT NULL
	) STRICT`).Error
	if err != nil {
		return err
	}
	var version int
	if err := db.Raw("SELECT coalesce(max(version), 0) FROM migrations").Scan(&version).Error; err != nil {
		return err
	}
	if version > len(names) {
		return fmt.Errorf("it was written by a newer version of Offcut (its tables are at %d, this version knows up to %d); "+
			"start that version, or restore a backup made with this one", version, len(names))
	}
	for ; version < len(names); version++ {
		if err := applyMigration(db, version+1, names[version]); err != nil {
			return fmt.Errorf("migration %s: %w", path.Base(names[version]), err)
		}
	}
	return nil
}

func applyMigration(db *gorm.DB, version int, name string) error {
	script, err := migrationFiles.ReadFile(name)
	if err != nil {
		return err
	}
	return db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec(string(script)).Error; err != nil {
			return err
		}
		return tx.Exec("INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)",
			version, path.Base(name), micros(time.Now())).Error
	})
}
