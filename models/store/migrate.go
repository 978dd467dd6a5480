package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"gorm.io/gorm"
)

// The migrations, applied in the order of their names, each once, known by its
// name: one that comes late, from a branch, is applied also where later ones were
// before it. A migration that has been released is never changed; what comes after
// it is a new file.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate brings the tables up to date.
func migrate(ctx context.Context, db *gorm.DB) error {
	folder, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	return migrateFrom(folder, db.WithContext(ctx))
}

// migrateFrom applies what of a folder was not applied yet, each migration in a
// transaction of its own that also notes it. Where one fails, the database is as
// the last that succeeded left it.
func migrateFrom(folder fs.FS, db *gorm.DB) error {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return err
	}
	err = db.Exec(`CREATE TABLE IF NOT EXISTS migrations (
		version    INTEGER PRIMARY KEY,
		name       TEXT NOT NULL,
		applied_at INTEGER NOT NULL
	) STRICT`).Error
	if err != nil {
		return err
	}
	var applied []string
	if err := db.Raw("SELECT name FROM migrations ORDER BY version").Scan(&applied).Error; err != nil {
		return err
	}
	for _, name := range applied {
		if !slices.Contains(names, name) {
			return fmt.Errorf("it was written by a newer version of Offcut (this one does not know its migration %q); "+
				"start that version, or restore a backup made with this one", name)
		}
	}
	for _, name := range names {
		if slices.Contains(applied, name) {
			continue
		}
		if err := applyMigration(folder, db, name); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
	}
	return nil
}

func applyMigration(folder fs.FS, db *gorm.DB, name string) error {
	script, err := fs.ReadFile(folder, name)
	if err != nil {
		return err
	}
	return db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec(string(script)).Error; err != nil {
			return err
		}
		// Its version is the order in which it was applied.
		return tx.Exec("INSERT INTO migrations (version, name, applied_at) SELECT coalesce(max(version), 0) + 1, ?, ? FROM migrations",
			name, micros(time.Now())).Error
	})
}
