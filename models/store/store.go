package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"offcut/models/gate"

	"gorm.io/gorm"
)

// FileName is the name of the database in the data folder. SQLite adds -wal
// and -shm to it for the two files that stand beside it.
const FileName = "offcut.db"

// DefaultQuotaBytes is what one owner may store: 2 GB.
const DefaultQuotaBytes = 2_000_000_000

// Options sets what a Store may hold and whom it asks.
type Options struct {
	// QuotaBytes bounds what one owner may store; 0: DefaultQuotaBytes.
	QuotaBytes int64
	// WorkspaceBytes says how many bytes an owner's workspaces hold, which
	// count towards the quota; nil: they do not count. It is asked before each
	// write of an output and must be quick.
	WorkspaceBytes func(ownerID string) int64
	// Log is told of upkeep that failed; nil: slog.Default().
	Log *slog.Logger
}

// Store is an open database. Its methods may be used by many goroutines.
type Store struct {
	writer  *gorm.DB // one connection: writers wait for each other in Go, in order
	readers *gorm.DB
	seekers *gorm.DB  // for searches alone
	seeking gate.Gate // of each user: one search at a time
	path    string    // of the database's file
	opts    Options
	cache   *cache
	copies  gate.Gate // of each owner: one session at a time is built
	indexed bool      // there is a full-text index: see searchindex.go
	indexer *worker
	upkeep  *upkeep
}

// Open opens the database in dir, or makes it, and brings its tables up to
// date. The folder and the files in it are for their owner alone, whatever the
// umask. A database that a newer version has written is refused.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	return openWith(ctx, dir, opts, hasFTS5)
}

// openWith is Open; able says whether a full-text index can be kept.
func openWith(ctx context.Context, dir string, opts Options, able func(*gorm.DB) (bool, error)) (*Store, error) {
	if opts.QuotaBytes == 0 {
		opts.QuotaBytes = DefaultQuotaBytes
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	path, err := prepareFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", dir, err)
	}
	writer, err := connect(writerDSN(path), 1)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	indexed, err := setUp(ctx, writer, able)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), disconnect(writer))
	}
	readers, err := connect(readerDSN(path), readerConns)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), disconnect(writer))
	}
	seekers, err := connect(readerDSN(path), searchConns)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), disconnect(readers), disconnect(writer))
	}
	s := &Store{writer: writer, readers: readers, seekers: seekers, path: path, opts: opts, cache: newCache(), indexed: indexed}
	s.upkeep, s.indexer = startUpkeep(s), startIndexer(s)
	return s, nil
}

// setUp brings tables and index up to date, and reports whether there is one.
func setUp(ctx context.Context, writer *gorm.DB, able func(*gorm.DB) (bool, error)) (bool, error) {
	if err := migrate(ctx, writer); err != nil {
		return false, err
	}
	has, err := able(writer)
	if err != nil {
		return false, err
	}
	return prepareIndex(ctx, writer, has)
}

// Close ends the work in the background and closes the database.
func (s *Store) Close() error {
	s.indexer.stop()
	s.upkeep.stop()
	return errors.Join(disconnect(s.seekers), disconnect(s.readers), disconnect(s.writer))
}

// Ping reports whether the database can be read.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "ping the database", func(db *gorm.DB) error {
		var version int
		return db.Raw("SELECT max(version) FROM migrations").Scan(&version).Error
	})
}

// write runs f in a transaction that has the writer's lock from its start, so
// that what f reads is still true when it writes.
func (s *Store) write(ctx context.Context, doing string, f func(tx *gorm.DB) error) error {
	return describe(doing, s.writer.WithContext(ctx).Transaction(f))
}

// read runs f on the readers' pool, outside a transaction.
func (s *Store) read(ctx context.Context, doing string, f func(db *gorm.DB) error) error {
	return describe(doing, f(s.readers.WithContext(ctx)))
}

// prepareFiles makes the folder and the database's files with modes of their
// own. SQLite gives -wal and -shm the mode of the database.
func prepareFiles(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Chmod(path+suffix, 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return path, nil
}
