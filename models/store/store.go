package store

import (
	"context"
	"log/slog"
)

// Options sets what a Store may hold and whom it asks.
type Options struct {
	// QuotaBytes bounds what one owner may store; 0: 2 GB.
	QuotaBytes int64
	// WorkspaceBytes says how many bytes an owner's workspaces hold, which
	// count towards the quota; nil: they do not count.
	WorkspaceBytes func(ownerID string) int64
	// Log is told of upkeep that failed; nil: slog.Default().
	Log *slog.Logger
}

// Store is an open database.
type Store struct{}

// Open opens or makes the database offcut.db in dir and brings it up to date.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) { panic("not yet") }

// Close ends the upkeep and closes the database.
func (s *Store) Close() error { panic("not yet") }

// Ping reports whether the database can be reached.
func (s *Store) Ping(ctx context.Context) error { panic("not yet") }

// Compact does all upkeep now: it frees the bytes of what was deleted.
func (s *Store) Compact(ctx context.Context) error { panic("not yet") }
