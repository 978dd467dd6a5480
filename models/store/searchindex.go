package store

import (
	"context"
	"strings"
	"time"

	"offcut/models"

	"gorm.io/gorm"
)

const (
	// placeBits is how many of a place's bits count the messages of one owner;
	// the bits above are the owner's block.
	placeBits = 32
	// indexBytes is how much text one transaction indexes, about 30 ms of work,
	// and indexMessages how many messages.
	indexBytes    = 64 << 10
	indexMessages = 100
	// unindexPlaces is how many messages one transaction takes out.
	unindexPlaces = 500
	// mergePages is how much of the index one step rewrites, in pages of 4 KiB.
	mergePages = "64"
)

const (
	// indexDelay lets the messages of a turn be indexed together. Until they
	// are, a search looks through them.
	indexDelay = time.Second
	// indexEvery is after how long the indexer looks by itself, and indexRetry
	// after what failed.
	indexEvery = 10 * time.Minute
	indexRetry = 30 * time.Second
	// indexRest is the least pause between two transactions, for other writers.
	indexRest = 5 * time.Millisecond
)

// The index holds for each three characters in a row which messages have them,
// so that it finds words of languages that put no spaces between them. It holds
// neither the text nor where in it they stand: what it names is compared with
// the message itself. What is deleted leaves its file when its parts are merged.
const createIndex = `CREATE VIRTUAL TABLE search USING fts5 (
	content, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
)`

// dropIndex removes the index where no FTS5 is there to do it: its tables, and
// then the line of the schema that names it.
var dropIndex = []string{
	"DROP TABLE IF EXISTS search_data", "DROP TABLE IF EXISTS search_idx",
	"DROP TABLE IF EXISTS search_docsize", "DROP TABLE IF EXISTS search_config",
	"PRAGMA writable_schema = ON",
	"DELETE FROM sqlite_schema WHERE type = 'table' AND name = 'search'",
	"PRAGMA writable_schema = RESET",
}

// prepareIndex makes the index where it is missing, or removes one that this
// program's SQLite cannot keep true, and reports whether there is one.
func prepareIndex(ctx context.Context, db *gorm.DB, able bool) (bool, error) {
	err := db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var found int
		if err := tx.Raw("SELECT count(*) FROM sqlite_schema WHERE name = 'search'").Scan(&found).Error; err != nil {
			return err
		}
		if able == (found > 0) {
			return nil
		}
		steps := dropIndex
		if able {
			steps = []string{createIndex}
		}
		steps = append(steps, "UPDATE messages SET place = NULL WHERE place IS NOT NULL", "DELETE FROM search_trash")
		for _, step := range steps {
			if err := tx.Exec(step).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return able && err == nil, err
}

// hasFTS5 reports whether this program was built with FTS5.
func hasFTS5(db *gorm.DB) (bool, error) {
	var has bool
	err := db.Raw("SELECT sqlite_compileoption_used('ENABLE_FTS5')").Scan(&has).Error
	return has, err
}

// startIndexer starts what keeps the index up.
func startIndexer(s *Store) *worker {
	return startWorker(indexDelay, func(ctx context.Context) time.Duration {
		for {
			began := time.Now()
			more, err := s.indexSome(ctx)
			switch {
			case err != nil && ctx.Err() == nil:
				s.opts.Log.WarnContext(ctx, "messages could not be indexed; it will be tried again", "error", err, "wait", indexRetry)
				return indexRetry
			case err != nil || !more, pause(ctx, max(indexRest, time.Since(began))) != nil:
				return indexEvery
			}
		}
	})
}

// findable is the condition for a message that a search may find and that is
// not in the index. It is that of the index messages_unplaced.
const findable = "messages.place IS NULL AND messages.is_meta = 0 AND messages.content <> ''"

// indexSome takes some messages into the index that are to be found and will
// not change any more, and reports whether there may be others.
func (s *Store) indexSome(ctx context.Context) (bool, error) {
	if !s.indexed {
		return false, nil
	}
	more := false
	err := s.write(ctx, "index messages", func(tx *gorm.DB) error {
		rows, err := unplaced(tx)
		if err != nil || len(rows) == 0 {
			return err
		}
		more = true
		for _, row := range rows {
			place, err := nextPlace(tx, row.OwnerID)
			if err != nil {
				return err
			}
			if err := tx.Exec("UPDATE messages SET place = ? WHERE id = ?", place, row.ID).Error; err != nil {
				return err
			}
			// The tokenizer reads no further than a NUL.
			text := strings.ReplaceAll(row.Content, "\x00", " ")
			if err := tx.Exec("INSERT INTO search (rowid, content) VALUES (?, ?)", place, text).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return more && err == nil, err
}

type unplacedRow struct {
	ID      string
	OwnerID string
	Content string
}

// unplaced is the next messages to index: at least one where there is any.
func unplaced(tx *gorm.DB) ([]unplacedRow, error) {
	rows, err := tx.Raw(`SELECT messages.id, sessions.owner_id, messages.content
		FROM messages JOIN sessions ON sessions.id = messages.session_id
		WHERE `+findable+` AND messages.state IN ? LIMIT ?`,
		[]models.State{models.StateDone, models.StateStopped, models.StateInterrupted, models.StateError}, indexMessages).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // it was only read
	var some []unplacedRow
	for bytes := 0; bytes < indexBytes && rows.Next(); {
		var row unplacedRow
		if err := rows.Scan(&row.ID, &row.OwnerID, &row.Content); err != nil {
			return nil, err
		}
		bytes += len(row.Content)
		some = append(some, row)
	}
	return some, rows.Err()
}

// nextPlace is a number in the owner's block above all that are in use, those
// still to be taken out included.
func nextPlace(tx *gorm.DB, owner string) (int64, error) {
	if err := tx.Exec("INSERT OR IGNORE INTO search_blocks (owner_id) VALUES (?)", owner).Error; err != nil {
		return 0, err
	}
	first, last, err := blockOf(tx, owner)
	if err != nil {
		return 0, err
	}
	var place int64
	err = tx.Raw(`SELECT 1 + max(
		(SELECT coalesce(max(place), 0) FROM messages WHERE place BETWEEN ? AND ?),
		(SELECT coalesce(max(place), 0) FROM search_trash WHERE place BETWEEN ? AND ?),
		?)`, first, last, first, last, first).Scan(&place).Error
	return place, err
}

// blockOf is the first and last place of an owner; both are 0 where nothing of
// theirs was ever indexed.
func blockOf(db *gorm.DB, owner string) (first, last int64, err error) {
	var block int64
	err = db.Raw("SELECT coalesce(max(block), 0) FROM search_blocks WHERE owner_id = ?", owner).Scan(&block).Error
	if err != nil || block == 0 {
		return 0, 0, err
	}
	return block << placeBits, (block+1)<<placeBits - 1, nil
}

// unindexSome takes some of what is gone out of the index, and reports whether
// there is more to do.
func (s *Store) unindexSome(ctx context.Context) (bool, error) {
	if !s.indexed {
		return false, nil
	}
	more := false
	err := s.write(ctx, "take deleted messages out of the index", func(tx *gorm.DB) error {
		var places []int64
		err := tx.Table("search_trash").Where("place > 0").Order("place").Limit(unindexPlaces).Pluck("place", &places).Error
		if err != nil {
			return err
		}
		if len(places) == 0 {
			more, err = mergeSome(tx)
			return err
		}
		more = true
		if err := tx.Exec("INSERT OR IGNORE INTO search_trash (place) VALUES (0)").Error; err != nil {
			return err
		}
		for _, place := range places {
			if err := tx.Exec("DELETE FROM search WHERE rowid = ?", place).Error; err != nil {
				return err
			}
		}
		return tx.Exec("DELETE FROM search_trash WHERE place IN ?", places).Error
	})
	return more, err
}

// mergeSome rewrites a part of the index where something was taken out of it:
// only then do its bytes leave the file. It reports whether there is more.
func mergeSome(tx *gorm.DB) (bool, error) {
	var due int
	if err := tx.Raw("SELECT count(*) FROM search_trash WHERE place = 0").Scan(&due).Error; err != nil || due == 0 {
		return false, err
	}
	var before, after int64
	if err := tx.Raw("SELECT total_changes()").Scan(&before).Error; err != nil {
		return false, err
	}
	if err := tx.Exec("INSERT INTO search (search, rank) VALUES ('merge', -" + mergePages + ")").Error; err != nil {
		return false, err
	}
	if err := tx.Raw("SELECT total_changes()").Scan(&after).Error; err != nil {
		return false, err
	}
	if after-before >= 2 { // fewer: FTS5 found nothing to merge
		return true, nil
	}
	return false, tx.Exec("DELETE FROM search_trash WHERE place = 0").Error
}
