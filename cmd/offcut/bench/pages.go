package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the pass in SQL

	"offcut/agent/retain"
	"offcut/models"
	"offcut/models/store"
)

// pages compares the reading of pages at both ends of a full copy, and the
// reading of all its pages with one pass over its rows.
func (b *bench) pages(ctx context.Context) error {
	dir := filepath.Join(b.dir, "pages")
	db, err := store.Open(ctx, dir, store.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	output, err := fullCopy(ctx, db)
	if err != nil {
		return err
	}
	reader := retain.NewReader(db)
	page := func(offset int64) (models.OutputPage, error) {
		return reader.Page(ctx, output.SessionID, output.ID, offset, retain.MaxPageBytes)
	}
	at := func(offset int64) func(int) (time.Duration, error) {
		return func(int) (time.Duration, error) {
			return timed(func() error { _, err := page(offset); return err })
		}
	}
	const times = 2001
	first, err := median(times, at(0))
	if err != nil {
		return err
	}
	last, err := median(times, at(retain.MaxOutputBytes-retain.MaxPageBytes))
	if err != nil {
		return err
	}
	b.ratio("page at the end of 8 MiB : at its start", last, first, 1.2)

	const passes = 9
	paged, err := median(passes, func(int) (time.Duration, error) {
		return timed(func() error { return readAll(page) })
	})
	if err != nil {
		return err
	}
	rows, err := median(passes, func(int) (time.Duration, error) { return selectAll(ctx, dir) })
	if err != nil {
		return err
	}
	b.ratio("8 MiB by pages : one pass over its rows in SQL", paged, rows, 2)
	return nil
}

// fullCopy stores a kept output of the greatest size.
func fullCopy(ctx context.Context, db *store.Store) (models.RetainedOutput, error) {
	now := time.Now()
	user := models.User{ID: models.NewID(models.PrefixUser), Name: "bench", Role: models.RoleUser, CreatedAt: now}
	session := models.Session{ID: models.NewID(models.PrefixSession), OwnerID: user.ID, CreatedAt: now, UpdatedAt: now}
	if err := db.CreateUser(ctx, user); err != nil {
		return models.RetainedOutput{}, err
	}
	if err := db.CreateSession(ctx, session); err != nil {
		return models.RetainedOutput{}, err
	}
	turn, _, _, err := db.Enqueue(ctx, models.NewTurn{SessionID: session.ID, OwnerID: user.ID, Content: "bench", Now: now})
	if err != nil {
		return models.RetainedOutput{}, err
	}
	output := models.RetainedOutput{
		ID: models.NewID(models.PrefixOutput), SessionID: session.ID, TurnID: turn.ID, CallID: models.NewID(models.PrefixCall),
		Tool: "run_command", Complete: true, CreatedAt: now, EndedAt: &now,
	}
	if err := db.CreateOutput(ctx, output); err != nil {
		return models.RetainedOutput{}, err
	}
	text := bytes.Repeat([]byte("a line of sixty-four bytes, as logs have them, ends with a stop.\n"), retain.MaxOutputBytes/65+1)[:retain.MaxOutputBytes]
	output.TotalBytes, output.RawBytes, output.CapturedBytes = int64(len(text)), int64(len(text)), int64(len(text))
	return output, db.WriteOutput(ctx, output, models.OutputWrite{Text: text})
}

// readAll follows the pages from the first to the last.
func readAll(page func(offset int64) (models.OutputPage, error)) error {
	for offset := int64(0); ; {
		p, err := page(offset)
		if err != nil {
			return err
		}
		offset = p.NextOffset
		if !p.HasMore {
			if offset != retain.MaxOutputBytes {
				return fmt.Errorf("the pages end at byte %d", offset)
			}
			return nil
		}
	}
}

// selectAll reads the rows of all copies once, over a connection of its own.
func selectAll(ctx context.Context, dir string) (time.Duration, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "offcut.db")+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	if err := db.PingContext(ctx); err != nil {
		return 0, err
	}
	return timed(func() error {
		rows, err := db.QueryContext(ctx, "SELECT bytes FROM pieces ORDER BY output, stream, n")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		total := 0
		for rows.Next() {
			var piece []byte
			if err := rows.Scan(&piece); err != nil {
				return err
			}
			total += len(piece)
		}
		if total != retain.MaxOutputBytes {
			return fmt.Errorf("the rows hold %d bytes", total)
		}
		return rows.Err()
	})
}
