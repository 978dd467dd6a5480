package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"gorm.io/gorm"
)

const (
	// upkeepEvery is how often expired sign-ins are deleted.
	upkeepEvery = time.Hour
	// upkeepDelay lets deletions that come together be cleared up together.
	upkeepDelay = 200 * time.Millisecond
	// upkeepRetry is the wait after upkeep that failed, such as while a reader
	// keeps the log from being cut.
	upkeepRetry = 30 * time.Second
	// erasePieces is how many pieces one transaction erases: 4 MiB, which is
	// also what the log grows by.
	erasePieces = 64
	// vacuumPages is how many free pages of 4 KiB one step takes out of the
	// file: 1 MiB.
	vacuumPages = "256"
	// cutTries is how often cutting the log is tried before it is left to the
	// next time. Each waits for readers only shortly, in milliseconds, because
	// every writer waits with it; then come cutPause for the writers.
	cutTries   = 20
	cutTimeout = "20"
	cutPause   = 50 * time.Millisecond
)

// errLogInUse is a log that could not be cut because it was being read.
var errLogInUse = errors.New("the write-ahead log is in use")

// upkeep gives back to the file system what was deleted. It works in small
// steps, between which other writers have their turn.
type upkeep struct {
	*worker
	store *Store
	mu    sync.Mutex // one at a time: the goroutine or Compact
}

func startUpkeep(s *Store) *upkeep {
	u := &upkeep{store: s}
	u.worker = startWorker(upkeepDelay, func(ctx context.Context) time.Duration {
		err := u.work(ctx)
		if err == nil || ctx.Err() != nil {
			return upkeepEvery
		}
		s.opts.Log.WarnContext(ctx, "upkeep of the database failed; it will be tried again", "error", err, "wait", upkeepRetry)
		return upkeepRetry
	})
	return u
}

// work does all that there is to do.
func (u *upkeep) work(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.store
	err := s.write(ctx, "delete what has expired", func(tx *gorm.DB) error { return deleteExpired(tx, time.Now()) })
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) (bool, error){s.eraseSome, s.unindexSome, s.vacuumSome} {
		for more := true; more; {
			if more, err = step(ctx); err != nil {
				return err
			}
		}
	}
	return s.cutLog(ctx)
}

// Compact does all upkeep now: what was deleted is out of the files when it
// returns.
func (s *Store) Compact(ctx context.Context) error { return s.upkeep.work(ctx) }

// eraseSome erases pieces of one output whose row is gone, and reports whether
// there may be more to erase.
func (s *Store) eraseSome(ctx context.Context) (bool, error) {
	more := false
	err := s.write(ctx, "erase deleted outputs", func(tx *gorm.DB) error {
		var outputs []int64
		if err := tx.Table("trash").Limit(1).Pluck("output", &outputs).Error; err != nil || len(outputs) == 0 {
			return err
		}
		more = true
		erased := tx.Exec("DELETE FROM pieces WHERE rowid IN (SELECT rowid FROM pieces WHERE output = ? LIMIT ?)", outputs[0], erasePieces)
		if erased.Error != nil || erased.RowsAffected == erasePieces {
			return erased.Error
		}
		return tx.Exec("DELETE FROM trash WHERE output = ?", outputs[0]).Error
	})
	return more, err
}

// vacuumSome takes free pages out of the file and reports whether there are
// more. The pragma works while its rows are read, and only as far as they are:
// executing it would free a single page.
func (s *Store) vacuumSome(ctx context.Context) (bool, error) {
	var before, after int
	err := s.onWriter(ctx, "shrink the database", func(db *gorm.DB) error {
		if err := db.Raw("PRAGMA freelist_count").Scan(&before).Error; err != nil {
			return err
		}
		if err := drain(db, "PRAGMA incremental_vacuum("+vacuumPages+")"); err != nil {
			return err
		}
		return db.Raw("PRAGMA freelist_count").Scan(&after).Error
	})
	return after > 0 && after < before, err
}

// cutLog writes the log into the database and makes it empty, so that the
// bytes of what was deleted are not in it either. A reader in it is waited for.
func (s *Store) cutLog(ctx context.Context) error {
	for range cutTries {
		var busy int
		err := s.onWriter(ctx, "cut the write-ahead log", func(db *gorm.DB) error {
			if err := db.Exec("PRAGMA busy_timeout = " + cutTimeout).Error; err != nil {
				return err
			}
			defer db.WithContext(context.WithoutCancel(ctx)).Exec("PRAGMA busy_timeout = " + busyTimeout)
			return db.Raw("PRAGMA wal_checkpoint(TRUNCATE)").Row().Scan(&busy, new(int), new(int))
		})
		if err != nil || busy == 0 {
			return err
		}
		if err := pause(ctx, cutPause); err != nil {
			return err
		}
	}
	return errLogInUse
}

// onWriter runs f on the writing connection outside a transaction, for pragmas
// that do nothing inside one.
func (s *Store) onWriter(ctx context.Context, doing string, f func(db *gorm.DB) error) error {
	return describe(doing, s.writer.WithContext(ctx).Connection(f))
}

// drain runs a query for what reading its rows does.
func drain(db *gorm.DB, query string) error {
	rows, err := db.Raw(query).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows that were read to their end are closed
	for rows.Next() {
		continue
	}
	return rows.Err()
}

// pause waits, or returns ctx's error where that ends first.
func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}
