package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"time"

	"offcut/models/find"

	"github.com/mattn/go-sqlite3"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

const (
	// readerConns is how many reads go on at once: the work is short, and each
	// connection has a page cache of up to 2 MiB.
	readerConns = 4
	// searchConns is how many searches go on at once, on connections of their
	// own: one that looks through much keeps nobody from reading.
	searchConns = 2
	// readerIdle is after how long an unused connection gives its memory back.
	readerIdle = time.Minute
	// busyTimeout is how long, in milliseconds, a lock that another program
	// holds is waited for.
	busyTimeout = "5000"
	// maxWAL is what the write-ahead log is cut down to when it starts anew:
	// twice the largest single write, a kept copy of 8 MiB.
	maxWAL = "16777216"
	// checkpointPages is after how many pages of 4 KiB the log is written into
	// the database.
	checkpointPages = "1000"
)

// writerDSN is the address for the one connection that writes.
//
// auto_vacuum must be set before the first table, and secure_delete overwrites
// what is deleted. A transaction that begins "immediate" waits for the lock; one
// that begins by reading fails with "database is locked" where another wrote
// in between.
func writerDSN(path string) string {
	return dsn(path, url.Values{
		"_auto_vacuum":     {"incremental"},
		"_busy_timeout":    {busyTimeout},
		"_foreign_keys":    {"on"},
		"_journal_mode":    {"WAL"},
		"_secure_delete":   {"on"},
		"_stmt_cache_size": {"64"},
		"_synchronous":     {"NORMAL"},
		"_txlock":          {"immediate"},
	})
}

// readerDSN is the address for the connections that only read.
func readerDSN(path string) string {
	return dsn(path, url.Values{
		"_busy_timeout":    {busyTimeout},
		"_query_only":      {"on"},
		"_stmt_cache_size": {"64"},
		"mode":             {"ro"},
	})
}

func dsn(path string, params url.Values) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: params.Encode()}).String()
}

// connector makes connections with the pragmas that a DSN cannot carry.
type connector struct {
	driver *sqlite3.SQLiteDriver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// furnish bounds the log of a new connection and teaches it what it means that
// a text holds a word.
func furnish(conn *sqlite3.SQLiteConn) error {
	if err := conn.RegisterFunc("holds", find.Holds, true); err != nil {
		return err
	}
	_, err := conn.Exec("PRAGMA journal_size_limit = "+maxWAL+"; PRAGMA wal_autocheckpoint = "+checkpointPages, nil)
	return err
}

// connect opens a pool of at most conns connections.
func connect(dsn string, conns int) (*gorm.DB, error) {
	pool := sql.OpenDB(connector{&sqlite3.SQLiteDriver{ConnectHook: furnish}, dsn})
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	if conns > 1 {
		pool.SetConnMaxIdleTime(readerIdle)
	}
	db, err := gorm.Open(sqlite.New(sqlite.Config{Conn: pool}), &gorm.Config{
		SkipDefaultTransaction: true, // the exported methods open them
		Logger:                 logger.Discard,
	})
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	return db, nil
}

func disconnect(db *gorm.DB) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	return pool.Close()
}
